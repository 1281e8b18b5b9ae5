#include "core/model/weights/block_weights.h"

#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/model/parts/fastformer.h"
#include "core/model/weights/attention_weights.h"

namespace attnscope {

namespace {

/// The norm at its position in the layer, and the second norm of a sandwich.
BranchNorms read_norms(const WeightReader& reader, NormPosition position, const std::string& role,
                       std::int64_t width) {
  BranchNorms norms;
  std::optional<LayerNorm> norm = reader.read_norm(role, width);
  switch (position) {
    case NormPosition::sandwich:
      norms.inside = reader.read_norm(role + "_after", width);
      [[fallthrough]];
    case NormPosition::pre:
      norms.before = std::move(norm);
      break;
    case NormPosition::post:
      norms.after = std::move(norm);
      break;
    case NormPosition::branch:
      norms.inside = std::move(norm);
      break;
  }
  return norms;
}

/// Reads gate and hidden layer from one weight, the gate first.
void read_fused_gate(const WeightReader& reader, const std::string& role, std::int64_t width,
                     std::int64_t inputs, Mlp& mlp) {
  const WeightMatrix weight = reader.read_matrix(role + ".weight", 2 * width, inputs);
  const std::vector<float> bias = reader.read_vector(role + ".bias", 2 * width, false);
  mlp.gate = Linear(weight.with_rows(counted_rows(0, width)), part_of(bias, 0, width));
  mlp.mlp1 = Linear(weight.with_rows(counted_rows(width, width)), part_of(bias, width, width));
}

std::optional<Mlp> read_mlp(const WeightReader& reader, const LayerSpec& layer,
                            const std::string& prefix, std::int64_t width, Arithmetic arithmetic) {
  if (layer.mlp.form == MlpForm::none) return std::nullopt;
  Mlp mlp;
  mlp.activation = layer.mlp.activation;
  const std::int64_t hidden = layer.mlp.width;
  if (reader.has(prefix + "mlp_gate_and_mlp1.weight")) {
    read_fused_gate(reader, prefix + "mlp_gate_and_mlp1", hidden, width, mlp);
  } else {
    mlp.mlp1 = reader.read_linear(prefix + "mlp1", hidden, width, arithmetic);
    if (layer.mlp.form == MlpForm::gated) {
      mlp.gate = reader.read_linear(prefix + "mlp_gate", hidden, width, arithmetic);
    }
  }
  mlp.convolution = reader.read_depthwise(prefix + "mlp_convolution", hidden);
  mlp.norm = reader.read_norm(prefix + "mlp_norm", hidden);
  mlp.mlp2 = reader.read_linear(prefix + "mlp2", width, hidden, arithmetic);
  return mlp;
}

/// w [H·d] or [H, d] as [H, d], scaled so that w·x / √d is the logit of the layer's form.
Tensor importance_vectors(const Tensor& stored, const LayerSpec& layer, std::int64_t head_width,
                          const std::string& name) {
  const Shape wanted = {layer.attention.heads, head_width};
  if (stored.size() != element_count(wanted)) {
    throw Error(ErrorKind::damaged, "the importance vectors do not fit the heads")
        .about(name)
        .expected(to_string(wanted))
        .found(to_string(stored.shape()));
  }
  Tensor vectors = stored.reshaped(wanted);
  if (layer.form == LayerForm::fastformer_rescaled) {
    MatrixMap rows = vectors.matrix();
    rescale_heads(rows, 1);
    // Logits of this form are w·x · scale / d, with w and x normalised.
    rows *= static_cast<float>(layer.importance_scale / std::sqrt(static_cast<double>(head_width)));
  }
  return vectors;
}

/// Reads the weights of Fastformer's forms other than the projections.
void read_fastformer(const WeightReader& reader, const LayerSpec& layer, const std::string& prefix,
                     std::int64_t width, std::int64_t head_width, Block& block) {
  NamedTensors& own = block.attention.mechanism;
  const std::int64_t heads = layer.attention.heads, inner = heads * head_width;
  block.middle_norm = reader.read_norm(prefix + "middle_norm", width);
  if (layer.form == LayerForm::fastformer_encoder) {
    for (const std::string name : {"query_importance", "key_importance"}) {
      own[name] = reader.read(prefix + name + ".weight", {heads, inner});
      if (!reader.has(prefix + name + ".bias")) continue;
      own[name + "_bias"] = reader.read(prefix + name + ".bias", {heads});
    }
    block.transform =
        reader.read_linear(prefix + "transform", inner, inner, Arithmetic::multiplicative);
    return;
  }
  for (const char* name : {"query_importance", "key_importance"}) {
    const auto vectors = own.find(name);
    if (vectors == own.end()) {
      throw Error(ErrorKind::damaged, "the layer has no importance vectors").about(name);
    }
    vectors->second = importance_vectors(vectors->second, layer, head_width, name);
  }
  if (layer.form == LayerForm::fastformer && !block.middle_norm) {
    throw Error(ErrorKind::damaged, "the layer has no LayerNorm between its two attentions")
        .about("layer_form");
  }
}

}  // namespace

Block read_block(const WeightReader& reader, const Architecture& architecture, std::int64_t index) {
  const ModelSpec& spec = architecture.spec;
  const std::string prefix = "layer." + std::to_string(index) + ".";
  const std::int64_t width = width_of_layer(spec, index);
  const Arithmetic arithmetic = arithmetic_of(spec, index);
  Block block;
  block.spec = layer_of(spec, index);
  block.score_scale = score_scale(spec, index);
  block.attention_norms = read_norms(reader, block.spec.norm.position, prefix + "norm1", width);
  block.mlp_norms = read_norms(reader, block.spec.norm.position, prefix + "norm2", width);
  block.attention = read_attention(reader, architecture, block.spec, index);
  block.scale1 = reader.read_vector(prefix + "scale1", width, false);
  block.scale2 = reader.read_vector(prefix + "scale2", width, false);
  block.mlp = read_mlp(reader, block.spec, prefix, width, arithmetic);
  if (!spec.stages.empty()) {
    block.mlp->relu_first = spec.stages[place_of_layer(spec, index).stage].pooled > 0;
  }
  if (block.spec.form != LayerForm::transformer) {
    read_fastformer(reader, block.spec, prefix, width, width_of_head(block.spec, width), block);
  }
  return block;
}

}  // namespace attnscope
