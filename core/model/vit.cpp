#include "core/model/vit.h"

#include <utility>

#include "core/model/preprocessing/preprocessing.h"

namespace attnscope {

namespace {

ConstMatrixMap seen(const Tensor& tensor) { return tensor.matrix(); }

/// tokens += scale ⊙ part, with the layer scale if there is any.
void add_residual(Tensor& tokens, const Tensor& part, const std::vector<float>& scale) {
  if (scale.empty()) {
    tokens.matrix() += part.matrix();
    return;
  }
  const Eigen::Map<const Eigen::RowVectorXf> factors(scale.data(),
                                                     static_cast<Eigen::Index>(scale.size()));
  tokens.matrix().array() += part.matrix().array().rowwise() * factors.array();
}

/// Each head's share of every row by itself.
void normalise_heads(const LayerNorm& norm, Tensor& rows) {
  const auto width = static_cast<std::int64_t>(norm.weight.size());
  norm.apply({rows.data(), rows.size() / width, width});
}

}  // namespace

Vit::Vit(std::filesystem::path file, std::string name, Architecture architecture,
         VitWeights weights)
    : file_(std::move(file)),
      name_(std::move(name)),
      architecture_(std::move(architecture)),
      weights_(std::move(weights)) {}

WeightExtents Vit::extents() const {
  WeightExtents extents;
  for (const Linear& layer : weights_.head) extents.head.push_back(layer.outputs());
  extents.head_biases = weights_.head.empty() || weights_.head.back().has_bias();
  const BlockWeights& block = weights_.blocks.front();
  extents.query_key_value_biases = block.query.has_bias();
  extents.linear_biases = block.mlp1.has_bias();
  return extents;
}

Tensor Vit::embed(const Tensor& image) const {
  Tensor patches = to_patches(image, spec());
  if (weights_.patch_norm_before) weights_.patch_norm_before->apply(patches.matrix());
  Tensor embedded = weights_.patch(seen(patches));
  if (weights_.patch_norm_after) weights_.patch_norm_after->apply(embedded.matrix());
  if (!weights_.positions.empty()) embedded.matrix() += weights_.positions.matrix();
  Tensor tokens({spec().tokens(), spec().width});
  const std::int64_t prefix = spec().input.prefix_tokens();
  if (prefix > 0) tokens.matrix().topRows(prefix) = weights_.prefix_tokens.matrix();
  tokens.matrix().bottomRows(embedded.extent(0)) = embedded.matrix();
  if (weights_.embedding_norm) weights_.embedding_norm->apply(tokens.matrix());
  return tokens;
}

Tensor Vit::attend(const BlockWeights& block, const LayerRun& run, ConstMatrixMap tokens) const {
  Tensor queries = block.query(tokens), keys = block.key(tokens);
  const Tensor values = block.value(tokens);
  if (block.query_norm) normalise_heads(*block.query_norm, queries);
  if (block.key_norm) normalise_heads(*block.key_norm, keys);
  const AttentionInput input{.queries = seen(queries),
                             .keys = seen(keys),
                             .values = seen(values),
                             .heads = spec().layer.attention.heads,
                             .parameters = &run.parameters,
                             .layout = &run.layout,
                             .layer = run.layer,
                             .channel = run.request.channel,
                             .scale = score_scale(spec(), run.layer)};
  if (LayerTrace* const recorded = run.recorded) {
    recorded->layout = recorded->key_layout = run.layout;
    record_attention(run.mechanism, input, run.request, *recorded);
  }
  Tensor output = run.mechanism.forward(input);
  if (block.attention_norm) block.attention_norm->apply(output.matrix());
  return block.out ? (*block.out)(seen(output)) : output;
}

void Vit::run_block(const BlockWeights& block, const LayerRun& run, Tensor& tokens) const {
  const auto mlp = [&](ConstMatrixMap x) { return block.mlp(spec().layer.mlp.activation, x); };
  if (spec().layer.norm.position == NormPosition::post) {
    add_residual(tokens, attend(block, run, seen(tokens)), block.scale1);
    if (block.norm1) block.norm1->apply(tokens.matrix());
    add_residual(tokens, mlp(seen(tokens)), block.scale2);
    if (block.norm2) block.norm2->apply(tokens.matrix());
    return;
  }
  Tensor normed = tokens;
  if (block.norm1) block.norm1->apply(normed.matrix());
  add_residual(tokens, attend(block, run, seen(normed)), block.scale1);
  normed = tokens;
  if (block.norm2) block.norm2->apply(normed.matrix());
  add_residual(tokens, mlp(seen(normed)), block.scale2);
}

Tensor Vit::read_out(const Tensor& tokens) const {
  const Readout readout = spec().readout.kind;
  if (readout == Readout::none) return {};
  // timm's average leaves the prefix tokens out, vit-pytorch's does not.
  const std::int64_t left_out = readout == Readout::mean_all ? 0 : spec().input.prefix_tokens();
  const auto mean = [&] {
    const std::int64_t averaged = tokens.extent(0) - left_out;
    return tokens.matrix().bottomRows(averaged).cast<double>().colwise().mean().cast<float>();
  };
  const bool both = readout == Readout::class_and_mean;
  Tensor read({1, both ? 2 * spec().width : spec().width});
  if (readout == Readout::mean || readout == Readout::mean_all) {
    read.matrix() = mean();
  } else {
    read.matrix().leftCols(spec().width) = tokens.matrix().row(0);
    if (both) read.matrix().rightCols(spec().width) = mean();
  }
  if (weights_.head_norm) weights_.head_norm->apply(read.matrix());
  return read;
}

Tensor Vit::classify(const Tensor& features, const Tensor& tokens) const {
  if (weights_.head.empty() || features.empty()) return {};
  Tensor read = features;
  for (std::size_t i = 0; i < weights_.head.size(); ++i) {
    if (i > 0) apply_activation(spec().readout.head_activation, read.values());
    read = weights_.head[i](seen(read));
  }
  if (weights_.distillation_head) {
    Tensor second({1, spec().width});
    second.matrix() = tokens.matrix().row(1);
    const Tensor other = (*weights_.distillation_head)(seen(second));
    read.matrix() = (read.matrix() + other.matrix()) / 2;
  }
  const std::int64_t classes = read.extent(1);
  return std::move(read).reshaped({classes});
}

Trace Vit::run(const Input& input, const MechanismChoice& mechanism, const TraceRequest& request,
               const Progress& progress) const {
  check_requested_layers(request, spec());
  const std::unique_ptr<const Mechanism> attention = make_mechanism(mechanism);
  const std::vector<std::shared_ptr<const Mechanism>> mechanisms =
      layer_mechanisms(spec(), mechanism);
  PreparedInput prepared = prepare_input(input, spec());
  const bool embeds = weights_.patch.outputs() > 0;
  Tensor tokens = embeds ? embed(prepared.values) : std::move(prepared.values);

  Trace trace = begin_trace(*this, input, *attention, spec().mechanism);
  trace.layout = {spec().input.prefix_tokens(), spec().input.grid_rows(),
                  spec().input.grid_columns()};
  trace.image = std::move(prepared.image);
  trace.labels = spec().labels;
  const AttentionShape shape{.queries = tokens.extent(0),
                             .keys = tokens.extent(0),
                             .heads = spec().layer.attention.heads,
                             .head_width = spec().width_of_head(),
                             .value_width = spec().width_of_head()};
  check_map_memory(request, std::vector<AttentionShape>(weights_.blocks.size(), shape));
  trace.map_channels = attention->structure(shape).channels;
  if (trace.map_channels > 1) trace.map_channel = request.channel;
  if (request.tokens) trace.embedded = tokens;
  trace.layers.resize(weights_.blocks.size());
  for (std::size_t layer = 0; layer < weights_.blocks.size(); ++layer) {
    progress.step(static_cast<double>(layer) / static_cast<double>(weights_.blocks.size()),
                  "running the model");
    const auto index = static_cast<std::int64_t>(layer);
    const BlockWeights& block = weights_.blocks[layer];
    LayerTrace* const recorded = wants_layer(request, index) ? &trace.layers[layer] : nullptr;
    if (recorded) record_mechanism(*mechanisms[layer], trace, *recorded);
    run_block(block,
              {.mechanism = *mechanisms[layer],
               .request = request,
               .layout = trace.layout,
               .parameters = layer_parameters(block.mechanism, request, index),
               .layer = index,
               .recorded = recorded},
              tokens);
    if (recorded && request.tokens) recorded->tokens = tokens;
  }
  if (weights_.final_norm) weights_.final_norm->apply(tokens.matrix());
  Tensor features = read_out(tokens);
  trace.logits = classify(features, tokens);
  if (!features.empty()) {
    const std::int64_t width = features.size();
    trace.features = std::move(features).reshaped({width});
  }
  progress.step(1, "running the model");
  return trace;
}

}  // namespace attnscope
