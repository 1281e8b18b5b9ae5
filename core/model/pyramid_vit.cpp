#include "core/model/pyramid_vit.h"

#include <tbb/parallel_for.h>
#include <utility>

#include "core/model/preprocessing/preprocessing.h"

namespace attnscope {

namespace {

ConstMatrixMap seen(const Tensor& tensor) { return tensor.matrix(); }

/// [C, H, W] → [H · W, C].
Tensor channels_last(const Tensor& image) {
  const std::int64_t channels = image.extent(0), pixels = image.size() / channels;
  Tensor tokens({pixels, channels});
  tokens.matrix() = ConstMatrixMap(image.data(), channels, pixels).transpose();
  return tokens;
}

Tensor rows_in_order(const Tensor& rows, const std::vector<std::int64_t>& order) {
  Tensor ordered(rows.shape());
  for (std::size_t i = 0; i < order.size(); ++i) {
    ordered.matrix().row(static_cast<std::int64_t>(i)) = rows.matrix().row(order[i]);
  }
  return ordered;
}

TokenLayout layout_of(const GridExtents& grid) {
  return {.prefix = 0, .rows = grid.rows, .columns = grid.columns};
}

/// One window after another, as if each were an input of its own. `queries`, `keys` and `values`
/// are in the order of the windows.
struct WindowedAttention {
  const Mechanism& mechanism;
  AttentionInput whole;
  std::vector<std::int64_t> order;
  std::int64_t tokens;  ///< of one window

  [[nodiscard]] AttentionInput window(std::int64_t index, const TokenLayout& layout) const {
    const auto part = [&](const ConstMatrixMap& all) {
      return ConstMatrixMap(all.data() + index * tokens * all.cols(), tokens, all.cols());
    };
    return {.queries = part(whole.queries),
            .keys = part(whole.keys),
            .values = part(whole.values),
            .heads = whole.heads,
            .parameters = whole.parameters,
            .layout = &layout,
            .layer = whole.layer,
            .channel = whole.channel};
  }

  [[nodiscard]] std::int64_t windows() const { return whole.queries.rows() / tokens; }

  /// Of the whole map: blocks of different rows and columns add up.
  [[nodiscard]] std::int64_t rank_bound() const {
    AttentionShape one = whole.shape();
    one.queries = one.keys = tokens;
    return windows() * mechanism.structure(one).rank_bound;
  }

  /// [N, D] in the tokens' own order.
  [[nodiscard]] Tensor forward(const TokenLayout& layout) const {
    Tensor output({whole.values.rows(), whole.values.cols()});
    tbb::parallel_for(std::int64_t{0}, windows(), [&](std::int64_t index) {
      const Tensor part = mechanism.forward(window(index, layout));
      for (std::int64_t i = 0; i < tokens; ++i) {
        output.matrix().row(order[static_cast<std::size_t>(index * tokens + i)]) =
            part.matrix().row(i);
      }
    });
    return output;
  }

  /// [H, N, N] in the tokens' own order, zero outside the windows.
  [[nodiscard]] Tensor implied_map(const TokenLayout& layout) const {
    const std::int64_t all = whole.queries.rows();
    Tensor map({whole.heads, all, all});
    tbb::parallel_for(std::int64_t{0}, windows(), [&](std::int64_t index) {
      const Tensor part = mechanism.implied_map(window(index, layout));
      const std::int64_t* const places = order.data() + index * tokens;
      for (std::int64_t head = 0; head < whole.heads; ++head) {
        for (std::int64_t i = 0; i < tokens; ++i) {
          float* const row = map.data() + (head * all + places[i]) * all;
          for (std::int64_t j = 0; j < tokens; ++j) row[places[j]] = part.slice(head)(i, j);
        }
      }
    });
    return map;
  }
};

}  // namespace

std::vector<std::int64_t> window_order(const GridExtents& grid, std::int64_t side) {
  std::vector<std::int64_t> order;
  order.reserve(static_cast<std::size_t>(grid.tokens()));
  for (std::int64_t top = 0; top < grid.rows; top += side) {
    for (std::int64_t left = 0; left < grid.columns; left += side) {
      for (std::int64_t cell = 0; cell < side * side; ++cell) {
        order.push_back((top + cell / side) * grid.columns + left + cell % side);
      }
    }
  }
  return order;
}

PyramidVit::PyramidVit(std::filesystem::path file, std::string name, Architecture architecture,
                       PyramidWeights weights)
    : file_(std::move(file)),
      name_(std::move(name)),
      architecture_(std::move(architecture)),
      weights_(std::move(weights)) {}

WeightExtents PyramidVit::extents() const {
  WeightExtents extents;
  if (weights_.head) {
    extents.head = {weights_.head->outputs()};
    extents.head_biases = weights_.head->has_bias();
  }
  const PyramidBlockWeights& block = weights_.stages.front().blocks.front();
  extents.query_key_value_biases = block.query.has_bias();
  extents.linear_biases = block.mlp1.has_bias();
  return extents;
}

Tensor PyramidVit::attend(const PyramidBlockWeights& block, const BlockRun& run,
                          const Tensor& tokens) const {
  const bool linear = run.stage.pooled > 0;
  Tensor reduced;
  GridExtents keys_grid = run.grid;
  if (block.reduction && !run.windowed) {
    keys_grid = key_grid(run.stage, run.grid);
    reduced =
        linear ? (*block.reduction)(pool_adaptively(tokens, run.grid, run.stage.pooled), keys_grid)
               : (*block.reduction)(tokens, run.grid);
    if (block.reduction_norm) block.reduction_norm->apply(reduced.matrix());
    if (linear) apply_activation(Activation::gelu, reduced.values());
  }
  const Tensor& source = reduced.empty() ? tokens : reduced;
  const Tensor queries = block.query(seen(tokens)), values = block.value(seen(source));
  const Tensor separate = block.key ? (*block.key)(seen(source)) : Tensor();
  const Tensor& keys = block.key ? separate : queries;

  const TokenLayout layout = layout_of(run.grid), key_layout = layout_of(keys_grid);
  const AttentionInput input{
      .queries = seen(queries),
      .keys = seen(keys),
      .values = seen(values),
      .heads = run.stage.heads,
      .parameters = &run.parameters,
      // One layout speaks of queries and keys: none where they lie on two grids.
      .layout = keys_grid == run.grid ? &layout : nullptr,
      .channel = run.request.channel};
  LayerTrace* const recorded = run.recorded;
  if (recorded) {
    recorded->layout = layout;
    recorded->key_layout = key_layout;
  }
  Tensor output;
  if (run.windowed) {
    const std::vector<std::int64_t> order = window_order(run.grid, run.stage.window);
    const Tensor window_queries = rows_in_order(queries, order),
                 window_keys = rows_in_order(keys, order),
                 window_values = rows_in_order(values, order);
    if (recorded) {
      TraceRequest vectors = run.request;
      vectors.implied_maps = vectors.factors = vectors.quantities = false;
      record_attention(run.mechanism, input, vectors, *recorded);
    }
    const WindowedAttention attention{run.mechanism,
                                      {.queries = seen(window_queries),
                                       .keys = seen(window_keys),
                                       .values = seen(window_values),
                                       .heads = run.stage.heads,
                                       .parameters = &run.parameters,
                                       .channel = run.request.channel},
                                      order,
                                      run.stage.window * run.stage.window};
    const TokenLayout one{.prefix = 0, .rows = run.stage.window, .columns = run.stage.window};
    if (recorded) recorded->rank_bound = attention.rank_bound();
    if (recorded && run.request.implied_maps) recorded->implied_map = attention.implied_map(one);
    output = attention.forward(one);
  } else {
    if (recorded) record_attention(run.mechanism, input, run.request, *recorded);
    output = run.mechanism.forward(input);
  }
  if (block.attention_norm) block.attention_norm->apply(output.matrix());
  return block.out(seen(output));
}

void PyramidVit::run_block(const PyramidBlockWeights& block, const BlockRun& run,
                           Tensor& tokens) const {
  Tensor normed = tokens;
  if (block.norm1) block.norm1->apply(normed.matrix());
  tokens.matrix() += attend(block, run, normed).matrix();
  normed = tokens;
  if (block.norm2) block.norm2->apply(normed.matrix());
  Tensor hidden = block.mlp1(seen(normed));
  if (run.stage.pooled > 0) apply_activation(Activation::relu, hidden.values());  // PVTv2-Li
  if (block.mlp_convolution) hidden = (*block.mlp_convolution)(hidden, run.grid);
  apply_activation(spec().layer.mlp.activation, hidden.values());
  tokens.matrix() += block.mlp2(seen(hidden)).matrix();
}

Trace PyramidVit::begin(const Mechanism& mechanism, const Input& input, const TraceRequest& request,
                        const std::vector<GridExtents>& grids) const {
  std::vector<AttentionShape> shapes;
  for (std::size_t i = 0; i < grids.size(); ++i) {
    const PyramidStage& stage = spec().stages[i];
    for (std::int64_t block = 0; block < stage.layers; ++block) {
      const bool reduces = weights_.stages[i].blocks[static_cast<std::size_t>(block)].reduction &&
                           !is_windowed(stage, block);
      shapes.push_back({.queries = grids[i].tokens(),
                        .keys = (reduces ? key_grid(stage, grids[i]) : grids[i]).tokens(),
                        .heads = stage.heads,
                        .head_width = stage.width / stage.heads,
                        .value_width = stage.width / stage.heads});
    }
  }
  check_map_memory(request, shapes);
  Trace trace = begin_trace(*this, input, mechanism, spec().mechanism);
  trace.layout = layout_of(grids.front());
  trace.labels = spec().labels;
  trace.map_channels = mechanism.structure(shapes.front()).channels;
  trace.map_channel = request.channel;
  trace.layers.resize(shapes.size());
  return trace;
}

Trace PyramidVit::run(const Input& input, const MechanismChoice& mechanism,
                      const TraceRequest& request, const Progress& progress) const {
  check_requested_layers(request, spec());
  const std::vector<std::shared_ptr<const Mechanism>> mechanisms =
      layer_mechanisms(spec(), mechanism);
  const std::vector<GridExtents> grids = pyramid_grids(spec());
  Trace trace = begin(*make_mechanism(mechanism), input, request, grids);
  PreparedInput prepared = prepare_input(input, spec());
  trace.image = std::move(prepared.image);

  Tensor tokens = channels_last(prepared.values);
  GridExtents grid{spec().input.image_height, spec().input.image_width};
  std::size_t layer = 0;
  for (std::size_t i = 0; i < grids.size(); ++i) {
    const PyramidStageWeights& stage = weights_.stages[i];
    tokens = stage.embedding(tokens, grid);
    grid = grids[i];
    if (stage.embedding_norm) stage.embedding_norm->apply(tokens.matrix());
    if (i == 0 && request.tokens) trace.embedded = tokens;
    for (std::size_t block = 0; block < stage.blocks.size(); ++block, ++layer) {
      progress.step(static_cast<double>(layer) / static_cast<double>(mechanisms.size()),
                    "running the model");
      const auto index = static_cast<std::int64_t>(layer);
      LayerTrace* const recorded = wants_layer(request, index) ? &trace.layers[layer] : nullptr;
      if (recorded) record_mechanism(*mechanisms[layer], trace, *recorded);
      const PyramidBlockWeights& weights = stage.blocks[block];
      run_block(weights,
                {.stage = spec().stages[i],
                 .grid = grid,
                 .windowed = is_windowed(spec().stages[i], static_cast<std::int64_t>(block)),
                 .mechanism = *mechanisms[layer],
                 .request = request,
                 .parameters = layer_parameters(weights.mechanism, request, index),
                 .recorded = recorded},
                tokens);
      if (block == 0 && stage.positions) {
        tokens.matrix() += (*stage.positions)(tokens, grid).matrix();
      }
      if (recorded && request.tokens) recorded->tokens = tokens;
    }
    if (stage.norm) stage.norm->apply(tokens.matrix());
  }
  if (weights_.final_norm) weights_.final_norm->apply(tokens.matrix());
  if (spec().readout.kind != Readout::none) {
    Tensor read({1, spec().width});
    read.matrix() = tokens.matrix().cast<double>().colwise().mean().cast<float>();
    if (weights_.head) {
      trace.logits = (*weights_.head)(seen(read)).reshaped({weights_.head->outputs()});
    }
    trace.features = std::move(read).reshaped({spec().width});
  }
  progress.step(1, "running the model");
  return trace;
}

}  // namespace attnscope
