#include "core/model/parts/attention_part.h"

#include <utility>

#include "core/error.h"
#include "core/model/parts/rotary.h"
#include "core/model/parts/score_bias.h"
#include "core/model/parts/windowed_attention.h"

namespace attnscope {

namespace {

ConstMatrixMap seen(const Tensor& tensor) { return tensor.matrix(); }

/// Each head of keys or values as often as queries share it: [M, Hk·d] → [M, H·d].
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

void check_terms(const Mechanism& mechanism, const ScoreTerms& terms) {
  const std::string& name = mechanism.choice().name;
  if (terms.empty() || find_mechanism(name).terms) return;
  throw Error(ErrorKind::usage,
              "this attention has no scores to which the model's " + terms.names + " could apply")
      .about(name)
      .remedy("lay softmax or adder attention over this model");
}

}  // namespace

Tensor attend(const AttentionPart& part, const LayerSpec& layer, const LayerRun& run,
              const Tensor& tokens) {
  const GridExtents grid{run.layout.rows, run.layout.columns};
  GridExtents keys_grid = grid;
  Tensor reduced;
  if (part.reduction) {
    keys_grid = part.reduction->output_grid(grid);
    reduced = (*part.reduction)(tokens, grid);
  }
  const Tensor& source = part.reduction ? reduced : tokens;
  Tensor queries = part.query(seen(tokens)), values = part.value(seen(source));
  Tensor keys = part.key ? (*part.key)(seen(source)) : queries;
  if (part.query_norm) normalise_stretches(*part.query_norm, queries);
  if (part.key_norm) normalise_stretches(*part.key_norm, keys);
  if (layer.rotary.form != Rotary::none) {
    const RotaryTurns turns(layer.rotary, queries.extent(1) / layer.attention.heads,
                            tokens.extent(0), run.layout, part.rotary_periods);
    turns.apply(queries, layer.attention.heads);
    turns.apply(keys, layer.key_heads());
  }
  ScoreTerms terms =
      score_terms(layer, run.layout, tokens.extent(0), part.position_biases, part.sinks);
  if (layer.scores.bias == ScoreBias::disentangled) {
    const ConstMatrixMap relative = seen(part.relative_positions);
    const Tensor relative_queries = part.query(relative), relative_keys = (*part.key)(relative);
    add_disentangled(layer,
                     {.queries = queries,
                      .keys = keys,
                      .relative_queries = relative_queries,
                      .relative_keys = relative_keys,
                      .scale = run.score_scale.value_or(1)},
                     terms);
  }
  check_terms(run.mechanism, terms);

  if (run.recorded) {
    run.recorded->layout = run.recorded->key_layout = run.layout;
    run.recorded->key_layout.rows = keys_grid.rows;
    run.recorded->key_layout.columns = keys_grid.columns;
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
      .keys = seen(keys),
      .values = seen(values),
      .heads = layer.attention.heads,
      .parameters = &run.parameters,
      // One layout speaks of queries and keys: none where they lie on two grids.
      .layout = keys_grid == grid ? &run.layout : nullptr,
      .causal = layer.scores.causal,
      .layer = run.layer,
      .channel = run.request.channel,
      .scale = run.score_scale,
      .key_heads = grouped ? layer.key_heads() : 0,
      .terms = terms.empty() ? nullptr : &terms};

  Tensor output;
  if (part.grid_window > 0) {
    const WindowedAttention windows(run.mechanism, input, grid, part.grid_window);
    if (run.recorded) {
      run.recorded->rank_bound = windows.rank_bound();
      if (run.request.implied_maps) run.recorded->implied_map = windows.implied_map();
    }
    output = windows.forward();
  } else {
    if (run.recorded) record_attention(run.mechanism, input, run.request, *run.recorded);
    output = run.mechanism.forward(input);
  }
  if (part.heads_norm) part.heads_norm->apply(output.matrix());
  return part.out ? (*part.out)(seen(output)) : output;
}

}  // namespace attnscope
