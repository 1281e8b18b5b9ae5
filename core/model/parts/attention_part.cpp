#include "core/model/parts/attention_part.h"

#include <algorithm>
#include <tbb/parallel_for.h>
#include <utility>

#include "core/error.h"
#include "core/model/parts/activation.h"
#include "core/model/parts/projected_maps.h"
#include "core/model/parts/rotary.h"
#include "core/model/parts/score_bias.h"
#include "core/model/parts/windowed_attention.h"
#include "core/parameters/typed_values.h"

namespace attnscope {

namespace {

/// Repeats each head of keys or values for the queries that share it: [M, Hk·d] → [M, H·d].
Tensor for_each_query_head(const Tensor& rows, const LayerSpec& layer) {
  const std::int64_t heads = layer.attention.heads, key_heads = layer.key_heads();
  const std::int64_t each = rows.extent(1) / key_heads;
  Tensor repeated({rows.extent(0), each * heads});
  for (std::int64_t head = 0; head < heads; ++head) {
    const std::int64_t from = head * key_heads / heads;
    repeated.matrix().middleCols(head * each, each) = rows.matrix().middleCols(from * each, each);
  }
  return repeated;
}

void check_terms(const Mechanism& mechanism, const std::string& terms) {
  const std::string& name = mechanism.choice().name;
  if (terms.empty() || find_mechanism(name).terms) return;
  throw Error(ErrorKind::usage,
              "this attention has no scores to which the model's " + terms + " could apply")
      .about(name)
      .remedy("overlay softmax or adder attention on this model");
}

/// Queries and keys of a layer as the mechanism receives them.
struct Projected {
  const Tensor& queries;
  const Tensor& keys;
};

/// The layer's score terms for `tokens` tokens, without those that differ per window. Throws
/// Error(usage) if the mechanism does not support them.
ScoreTerms terms_of(const AttentionPart& part, const LayerSpec& layer, const LayerRun& run,
                    const Projected& projected, std::int64_t tokens) {
  ScoreTerms terms = score_terms(layer, run.layout, tokens, part.position_biases, part.sinks);
  if (layer.scores.bias == ScoreBias::disentangled) {
    const ConstMatrixMap relative = seen(part.relative_positions);
    const Linear& query = part.relative_query ? *part.relative_query : part.query;
    const Linear& key = part.relative_key ? *part.relative_key : *part.key;
    const Tensor relative_queries = query(relative), relative_keys = key(relative);
    add_disentangled(layer,
                     {.queries = projected.queries,
                      .keys = projected.keys,
                      .relative_queries = relative_queries,
                      .relative_keys = relative_keys,
                      .scale = run.score_scale.value_or(1)},
                     terms);
  }
  if (part.grid_window > 0 && layer.scores.bias == ScoreBias::table) {
    check_terms(run.mechanism, "biases of relative positions");
  }
  if (layer.scores.bias == ScoreBias::decomposed) {
    check_terms(run.mechanism, "vectors of relative positions");
    if (part.grid_window == 0) {
      add_decomposed(part.relative_rows, part.relative_columns, seen(projected.queries),
                     layer.attention.heads, {run.layout.rows, run.layout.columns}, terms);
    }
  }
  if (!terms.empty()) check_terms(run.mechanism, terms.names);
  return terms;
}

/// The terms of the queries from `first` on, without later keys unless these see `both_ways`;
/// `terms` are those of a whole text of `tokens` tokens.
ScoreTerms terms_from(const ScoreTerms& terms, std::int64_t first, std::int64_t tokens,
                      bool both_ways) {
  ScoreTerms rest = terms;
  rest.seen.clear();
  for (std::int64_t query = first; query < tokens; ++query) {
    const auto [begin, end] = terms.seen.empty() ? std::pair(std::int64_t{0}, tokens)
                                                 : terms.seen[static_cast<std::size_t>(query)];
    rest.seen.emplace_back(begin, both_ways ? end : std::min(end, query + 1));
  }
  if (terms.add_bias) {
    rest.add_bias = [add = terms.add_bias, first](std::int64_t head, std::int64_t query,
                                                  std::span<float> scores) {
      add(head, first + query, scores);
    };
  }
  return rest;
}

std::vector<GridWindow> windows_of(const LayerSpec& layer, const GridExtents& grid,
                                   std::int64_t side) {
  const bool shifted =
      layer.scores.bias == ScoreBias::table && layer.scores.window_form == WindowForm::around;
  const WindowFilling filling = layer.scores.window_filling;
  return shifted ? shifted_windows(grid, side, filling) : tiled_windows(grid, side, filling);
}

/// Attention within the windows of a grid.
WindowedAttention within_windows(const AttentionPart& part, const LayerSpec& layer,
                                 const Mechanism& mechanism, const AttentionInput& input,
                                 const ScoreTerms& common, const GridExtents& grid) {
  const std::int64_t side = part.grid_window;
  FillingRows filling;
  const bool whole = grid.rows % side == 0 && grid.columns % side == 0;
  if (!whole && layer.scores.window_filling != WindowFilling::cut) {
    const Tensor zero({1, part.query.inputs()});
    filling = {part.query(seen(zero)), part.key ? (*part.key)(seen(zero)) : part.query(seen(zero)),
               part.value(seen(zero))};
    if (part.query_norm) normalise_groups(*part.query_norm, filling.query);
    if (part.key_norm) normalise_groups(*part.key_norm, filling.key);
    if (filling.key.extent(1) != input.keys.cols()) {
      filling.key = for_each_query_head(filling.key, layer);
      filling.value = for_each_query_head(filling.value, layer);
    }
  }
  WindowTerms terms;
  const ScoreBias bias = layer.scores.bias;
  if (bias == ScoreBias::decomposed || bias == ScoreBias::table || !common.empty()) {
    terms = [&, heads = layer.attention.heads, side, bias](const ConstMatrixMap& queries,
                                                           const GridExtents& window) {
      ScoreTerms of_window = common;
      if (bias == ScoreBias::table) {
        of_window.add_bias = window_bias(part.position_biases, window, side);
      }
      if (bias == ScoreBias::decomposed) {
        add_decomposed(part.relative_rows, part.relative_columns, queries, heads, window,
                       of_window);
      }
      return of_window;
    };
  }
  return {mechanism, input, windows_of(layer, grid, side), std::move(filling), std::move(terms)};
}

/// Copies the blocks of a head's map [N, N]; returns false if other entries are not zero.
bool take_blocks(const Matrix& map, std::int64_t head, MapBlocks& blocks) {
  Eigen::Index taken = 0;
  for (std::int64_t block = 0; block < blocks.count(); ++block) {
    const std::vector<std::int64_t>& tokens = blocks.tokens_of(block);
    blocks.block(head, block) = map(tokens, tokens);
    taken += (blocks.block(head, block).array() != 0).count();
  }
  return taken == (map.array() != 0).count();
}

/// Output of the heads, [N, H·dv], for `maps` [H, N, M] after the run's change, which is stored in
/// `maps`. Blocks become dense maps if the change fills entries outside of them and is recorded.
Tensor with_changed_maps(const AttentionInput& input, const LayerRun& run, ImpliedMaps& maps) {
  if (run.mechanism.structure(input.shape()).channels > 1) {
    throw Error(ErrorKind::usage,
                "the map of a head cannot be changed: each channel has a map of its own")
        .about(run.mechanism.choice().name)
        .expected("a mechanism with one map per head");
  }
  const bool recorded = run.recorded && run.request.implied_maps;
  const std::int64_t width = input.values.cols() / input.heads_of_keys();
  Tensor output({maps.extent(1), width * input.heads});
  std::vector<Matrix> beyond(static_cast<std::size_t>(input.heads));
  const auto multiply = [&](std::int64_t head, const auto& map) {
    output.matrix().middleCols(head * width, width) =
        map * input.values.middleCols(input.key_head(head) * width, width);
  };
  tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
    if (!maps.blocks()) {
      run.request.change_map(run.layer, head, maps.slice(head));
      multiply(head, std::as_const(maps).slice(head));
      return;
    }
    Matrix map = maps.head(head);
    run.request.change_map(run.layer, head, MatrixMap(map.data(), map.rows(), map.cols()));
    multiply(head, map);
    if (recorded && !take_blocks(map, head, *maps.blocks())) {
      beyond[static_cast<std::size_t>(head)] = std::move(map);
    }
  });
  if (std::ranges::all_of(beyond, [](const Matrix& map) { return map.size() == 0; })) {
    return output;
  }
  Tensor all = maps.all();
  for (std::size_t head = 0; head < beyond.size(); ++head) {
    if (beyond[head].size() > 0) all.slice(static_cast<std::int64_t>(head)) = beyond[head];
  }
  maps = std::move(all);
  return output;
}

/// Projections for computed maps that store the layer's tokens. Empty if the maps must store
/// queries and keys, because these come from other tokens, cannot be projected per head, or take no
/// more memory.
std::optional<HeadProjections> kept_projections(const AttentionPart& part, const LayerSpec& layer,
                                                std::optional<RotaryTurns> turns,
                                                std::int64_t tokens) {
  if (layer.attention.of != Attending::self || part.reduction) return std::nullopt;
  if (part.convolves() || layer.attention.halves || !part.value_skip.empty()) return std::nullopt;
  if (part.latent) return std::nullopt;
  HeadProjections projections{.query = part.query,
                              .key = part.key,
                              .query_norm = part.query_norm,
                              .key_norm = part.key_norm,
                              .turns = std::move(turns),
                              .heads = layer.attention.heads,
                              .key_heads = layer.key_heads()};
  const bool smaller = projections.bytes_of_sources(tokens) < projections.bytes_of_vectors(tokens);
  if (!smaller || !projections.are_apart()) return std::nullopt;
  return projections;
}

/// Output of the heads, [N, H·d], computed for a quarter of them at a time. Queries, keys and
/// values of all heads would dominate the memory use of a layer with thousands of tokens.
Tensor attend_by_groups(const Linear& value, const HeadProjections& from, const LayerRun& run,
                        bool causal, const Tensor& tokens) {
  Tensor output;
  const std::int64_t share = from.heads / from.key_heads;  // number of query heads per key head
  const std::int64_t width = value.outputs() / from.key_heads;
  const std::int64_t most = (from.key_heads + 3) / 4;
  for (std::int64_t first = 0; first < from.key_heads; first += most) {
    const std::int64_t count = std::min(most, from.key_heads - first);
    const Tensor queries = from.queries_of(tokens, first * share, count * share);
    const Tensor keys = from.keys_of(tokens, first, count);
    const Tensor values = value.part(first * width, count * width)(seen(tokens));
    const Tensor group = attend(run, {.queries = seen(queries),
                                      .keys = seen(keys),
                                      .values = seen(values),
                                      .heads = count * share,
                                      .parameters = &run.parameters,
                                      .layout = &run.layout,
                                      .causal = causal,
                                      .layer = run.layer,
                                      .channel = run.request.channel,
                                      .scale = run.score_scale,
                                      .key_heads = share > 1 ? count : 0});
    if (output.empty()) output = Tensor::unfilled({tokens.extent(0), from.heads * width});
    output.matrix().middleCols(first * share * width, group.extent(1)) = group.matrix();
  }
  return output;
}

/// Adds each head's own values [N, H·dv], times its factor.
void add_skip(const std::vector<float>& factors, const Tensor& values, Tensor& output) {
  const std::int64_t width = values.extent(1) / std::ssize(factors);
  for (std::int64_t head = 0; head < std::ssize(factors); ++head) {
    output.matrix().middleCols(head * width, width) +=
        factors[static_cast<std::size_t>(head)] * seen(values).middleCols(head * width, width);
  }
}

/// Adds the bias of the values' convolution, "dwc_bias", to the patches of the heads' output
/// [N, H·dv] if the mechanism adds that convolution. It has one number per channel, or per channel
/// of a head for all heads, and is no part of the map.
void add_term_bias(const LayerRun& run, Tensor& output) {
  const auto bias = run.parameters.find(std::string_view("dwc_bias"));
  if (bias == run.parameters.end()) return;
  const ParameterValues parameters = run.mechanism.choice().parameters;
  const TypedValues values(parameters);
  if (!values.has("term") || !values.flag("term")) return;
  const std::int64_t channels = output.extent(1), count = bias->second.size();
  if (count == 0 || channels % count != 0) {
    throw Error(ErrorKind::usage, "the bias of the values' convolution does not fit the heads")
        .about("dwc_bias")
        .expected("[" + std::to_string(channels) + "], or a head's share for all heads")
        .found(to_string(bias->second.shape()));
  }
  const Eigen::Map<const Eigen::RowVectorXf> added(bias->second.data(), count);
  MatrixMap patches(output.data() + run.layout.prefix * channels,
                    output.extent(0) - run.layout.prefix, channels);
  for (std::int64_t first = 0; first < channels; first += count) {
    patches.middleCols(first, count).rowwise() += added;
  }
}

/// Projects the heads' output, [N, H·dv] → [N, D]. `gate` is that of the layer's input, or empty.
Tensor projected_back(const AttentionPart& part, OutputGate form, Tensor gate, Tensor output) {
  const bool inside = form == OutputGate::silu_inside;
  if (!gate.empty() && inside) apply_gate(form, std::move(gate), output);
  if (part.heads_norm) normalise_groups(*part.heads_norm, output);
  if (!gate.empty() && !inside) apply_gate(form, std::move(gate), output);
  return part.out ? (*part.out)(seen(output)) : output;
}

}  // namespace

GridExtents KeyReduction::output_grid(const GridExtents& grid) const {
  return pooled > 0 ? GridExtents{pooled, pooled} : convolution.output_grid(grid);
}

Tensor KeyReduction::operator()(const Tensor& tokens, const GridExtents& grid) const {
  Tensor reduced = pooled > 0
                       ? convolution(pool_adaptively(tokens, grid, pooled), output_grid(grid))
                       : convolution(tokens, grid);
  if (norm) norm->apply(reduced.matrix());
  if (pooled > 0) apply_activation(Activation::gelu, reduced.values());
  return reduced;
}

Tensor InnerTokens::operator()(const Tensor& tokens, const GridExtents& grid) const {
  Tensor inner = convolution(projection(seen(tokens)), grid);
  apply_activation(Activation::silu, inner.values());
  return inner;
}

namespace {

/// attend() for the tokens that queries, keys and values are computed from, and the gate [N, H·dv]
/// of the heads' output, or empty.
Tensor attend_with_gate(const AttentionPart& part, const LayerSpec& layer, const LayerRun& run,
                        const Tensor& tokens, Tensor* own, Tensor gate) {
  const std::int64_t count = tokens.extent(0), before = run.cache ? run.cache->tokens() : 0;
  const std::int64_t pieces =
      layer.attention.halves ? 2 : 1;  // parts of a head that are turned separately
  std::optional<RotaryTurns> turns;
  if (layer.rotary.form != Rotary::none) {
    turns.emplace(layer.rotary, part.query.outputs() / layer.attention.heads / pieces,
                  before + count, run.layout, part.rotary_periods, before);
  }
  const OutputGate form = layer.attention.gate;
  NamedTensors with_gates;
  if (!part.gates.empty()) {
    with_gates = run.parameters;
    part.gates.add(seen(tokens), layer.attention.heads, with_gates);
  }
  const bool both_ways = sees_both_ways(layer.scores, run.layout);
  const bool computes = run.recorded && run.request.implied_maps &&
                        run.request.large_maps == TraceRequest::LargeMaps::computed;
  std::optional<HeadProjections> projections;
  if (computes) projections = kept_projections(part, layer, turns, count);
  const auto taken = [&]() -> Tensor {
    if (own && !own->empty()) return std::move(*own);
    return tokens;
  };
  if (projections && part.value.is_multiplicative() && !run.request.queries_keys_values) {
    run.recorded->layout = run.recorded->key_layout = run.layout;
    Tensor output = attend_by_groups(part.value, *projections, run, layer.scores.causal, tokens);
    run.recorded->implied_map =
        projected_maps(*std::move(projections), run, layer.scores.causal, taken());
    return projected_back(part, form, std::move(gate), std::move(output));
  }
  const GridExtents grid{run.layout.rows, run.layout.columns};
  GridExtents keys_grid = grid;
  Tensor reduced;
  if (part.reduction) {
    keys_grid = part.reduction->output_grid(grid);
    reduced = (*part.reduction)(tokens, grid);
  }
  const bool crosses = layer.attention.of == Attending::encoder;
  LatentPart::Vectors asked, given;
  if (part.query_latent) asked = (*part.query_latent)(tokens);
  if (part.latent) given = (*part.latent)(tokens);
  const Tensor& query_source = part.query_latent ? asked.latents : tokens;
  const Tensor& source = part.latent      ? given.latents
                         : part.reduction ? reduced
                         : crosses        ? *run.memory
                                          : tokens;
  const bool asks_alone = layer.attention.of == Attending::class_token;
  const std::int64_t asking = asks_alone ? 1 : count;
  Tensor queries = part.query(ConstMatrixMap(query_source.data(), asking, query_source.extent(1)));
  Tensor values = part.value(seen(source));
  Tensor keys = part.key ? (*part.key)(seen(source)) : queries;
  if (part.latent) keys = with_shared_channels(given.shared, keys, layer.attention.heads);
  Tensor kept;
  if (projections) kept = taken();
  if (own) *own = {};
  if (part.query_convolution) part.query_convolution->apply(queries);
  if (part.key_convolution) part.key_convolution->apply(keys);
  if (part.value_convolution) part.value_convolution->apply(values);
  if (part.query_norm) normalise_groups(*part.query_norm, queries);
  if (part.key_norm) normalise_groups(*part.key_norm, keys);
  if (turns) {
    turns->apply(queries, pieces * layer.attention.heads);
    turns->apply(keys, pieces * layer.key_heads());
  }
  offer(run, LayerRows::queries, queries);
  offer(run, LayerRows::keys, keys);
  offer(run, LayerRows::values, values);
  ScoreTerms terms = terms_of(part, layer, run, {queries, keys}, before + count);
  if (run.cache) {
    run.cache->append(keys, values);
    terms = terms_from(terms, before, before + count, both_ways);
  }

  if (run.recorded) {
    run.recorded->layout = run.recorded->key_layout = run.layout;
    run.recorded->key_layout.rows = keys_grid.rows;
    run.recorded->key_layout.columns = keys_grid.columns;
    if (crosses) run.recorded->key_layout = *run.memory_layout;
    if (asks_alone) run.recorded->layout = {.prefix = 1};
    record_vectors(queries, keys, values, layer.attention.heads, layer.key_heads(), run.request,
                   *run.recorded);
  }
  bool grouped = layer.key_heads() != layer.attention.heads;
  if (grouped && !find_mechanism(run.mechanism.choice().name).terms) {
    keys = for_each_query_head(keys, layer);
    values = for_each_query_head(values, layer);
    grouped = false;
  }
  const AttentionInput input{
      .queries = seen(queries),
      .keys = run.cache ? run.cache->keys() : seen(keys),
      .values = run.cache ? run.cache->values() : seen(values),
      .heads = layer.attention.heads,
      .parameters = part.gates.empty() ? &run.parameters : &with_gates,
      // One layout describes both queries and keys: null if they are different tokens.
      .layout = keys_grid == grid && layer.attention.of == Attending::self ? &run.layout : nullptr,
      .causal = layer.scores.causal && !run.cache && !both_ways,  // the terms hide later keys
      .layer = run.layer,
      .channel = run.request.channel,
      .scale = run.score_scale,
      .key_heads = grouped ? layer.key_heads() : 0,
      .terms = terms.empty() ? nullptr : &terms};

  Tensor output;
  if (part.grid_window > 0) {
    const WindowedAttention windows =
        within_windows(part, layer, run.mechanism, input, terms, grid);
    if (run.request.change_map && windows.is_filled()) {
      throw Error(
          ErrorKind::usage,
          "maps of padded windows cannot be changed: the output also depends on the padding")
          .about("change_map");
    }
    if (run.recorded) {
      record_scores(run.mechanism, input, *run.recorded);
      run.recorded->seen = within_blocks(windows.tokens_by_window());
    }
    const bool recorded = run.recorded && run.request.implied_maps;
    if (recorded || run.request.change_map) {
      auto [attended, blocks] = windows.forward_with_map();
      ImpliedMaps maps(std::move(blocks));
      output = run.request.change_map ? with_changed_maps(input, run, maps) : std::move(attended);
      if (recorded) run.recorded->implied_map = std::move(maps);
    } else {
      output = windows.forward();
    }
    if (run.recorded) run.recorded->rank_bound = windows.rank_bound();
  } else if (run.request.change_map) {
    if (run.recorded) (void)attend(run, input);
    const bool recorded = run.recorded && run.request.implied_maps;
    ImpliedMaps own;
    if (!recorded) own = run.mechanism.implied_map(input);
    output = with_changed_maps(input, run, recorded ? run.recorded->implied_map : own);
  } else {
    output = attend(run, input);
    if (computes) {
      run.recorded->implied_map =
          projections
              ? projected_maps(*std::move(projections), run, layer.scores.causal, std::move(kept))
              : computed_maps(run.mechanism, input, std::move(queries), std::move(keys));
    }
  }
  if (!part.value_skip.empty()) add_skip(part.value_skip, values, output);
  add_term_bias(run, output);
  offer(run, LayerRows::heads, output);
  // Frees the memory of these vectors before the output projection allocates its result.
  queries = keys = values = {};
  return projected_back(part, form, std::move(gate), std::move(output));
}

}  // namespace

Tensor attend(const AttentionPart& part, const LayerSpec& layer, const LayerRun& run,
              const Tensor& tokens, Tensor* own) {
  Tensor gate = part.gate ? (*part.gate)(seen(tokens)) : Tensor();
  if (!part.inner) return attend_with_gate(part, layer, run, tokens, own, std::move(gate));
  Tensor inner = (*part.inner)(tokens, {run.layout.rows, run.layout.columns});
  if (own) *own = {};
  return attend_with_gate(part, layer, run, inner, &inner, std::move(gate));
}

}  // namespace attnscope
