// List of the roles of tensors.
#include <algorithm>

#include "core/architecture/architecture.h"
#include "core/text/name_list.h"

namespace attnscope {

std::span<const TensorRole> tensor_roles() {
  static constexpr TensorRole list[] = {
      {"patch",
       true,
       "patch embedding, a convolution or linear",
       {{"D", "C", "ph", "pw"}, {"D", "C·ph·pw"}}},
      {"stem", true, "convolutions before the patches: stem.0, stem.1, …", {{"C′", "C", "k", "k"}}},
      {"stem_norm",
       true,
       "norm after each convolution of the stem: a LayerNorm, or with .running_mean and "
       ".running_var a BatchNorm",
       {{"C′"}}},
      {"patch_norm_before", true, "LayerNorm of flattened patches", {{"C·ph·pw"}}},
      {"patch_norm_after", true, "LayerNorm of embedded patches, or a BatchNorm", {{"D"}}},
      {"class_token", false, "prefix token that the head reads", {{"D"}}},
      {"distillation_token", false, "second prefix token", {{"D"}}},
      {"mask_token", false, "token that replaces others in training", {{"D"}}},
      {"sound1", true, "model of sounds: convolution of the bands", {{"D", "bands", "k"}}},
      {"sound2", true, "model of sounds: convolution that halves the frames", {{"D", "D", "k"}}},
      {"register_tokens", false, "further prefix tokens, before the patches", {{"R", "D"}}},
      {"positions", false, "learned position embeddings", {{"tokens", "D"}}},
      {"token_types", false, "model of texts: embeddings of token types", {{"types", "D"}}},
      {"input_projection",
       true,
       "projection of given embeddings, or of narrower token embeddings",
       {{"D", "E"}}},
      {"rotary_periods", false, "periods of rotary positions on patches", {{"d / 4"}}},
      {"rotary_factors", false, "divisors of the angles of rotary positions", {{"r / 2"}}},
      {"position_biases", false, "biases of relative positions of all layers", {{"buckets", "H"}}},
      {"relative_positions",
       false,
       "embeddings of relative positions (DeBERTa)",
       {{"2·buckets", "D"}}},
      {"relative_positions_norm", true, "norm of the embeddings of relative positions", {{"D"}}},
      {"convolution",
       true,
       "convolution of the first layer's input, added to its output",
       {{"D", "D", "k"}}},
      {"convolution_norm", true, "norm of the sum with the convolution", {{"D"}}},
      {"embedding_norm", true, "LayerNorm before the first block", {{"D"}}},
      {"token_embedding", true, "model of texts: token embeddings", {{"vocabulary", "D"}}},
      {"decoder_token_embedding",
       true,
       "decoder: its own token embeddings, if any",
       {{"vocabulary", "D"}}},
      {"decoder_positions", false, "decoder: learned position embeddings", {{"tokens", "D"}}},
      {"decoder_embedding_norm", true, "decoder: norm before its first block", {{"D"}}},
      {"decoder_position_biases",
       false,
       "decoder: biases of relative positions",
       {{"buckets", "H"}}},
      {"decoder_final_norm", true, "decoder: norm after its last block", {{"D"}}},
      {"stage.patch", true, "pyramid: embedding of each stage", {{"D", "C", "k", "k"}}},
      {"stage.merge",
       true,
       "pyramid: merging of four patches of the previous stage",
       {{"D", "4·C"}}},
      {"stage.merge_norm", true, "pyramid: LayerNorm before the merging", {{"4·C"}}},
      {"stage.patch_norm", true, "pyramid: LayerNorm after a stage's embedding", {{"D"}}},
      {"stage.positions",
       true,
       "pyramid: depthwise 3×3 added after the first block",
       {{"D", "1", "3", "3"}}},
      {"stage.norm", true, "pyramid: LayerNorm after a stage's last block", {{"D"}}},
      {"layer.norm1", true, "LayerNorm of the attention part", {{"D"}}},
      {"layer.norm1_after", true, "sandwich: norm of the attention's output", {{"D"}}},
      {"layer.qkv", true, "queries, keys and values in one weight", {{"(H + 2·Hk)·d", "D"}}},
      {"layer.query", true, "queries", {{"H·d", "D"}}},
      {"layer.key", true, "keys", {{"Hk·d", "D"}}},
      {"layer.value", true, "values", {{"Hk·d", "D"}}},
      {"layer.relative_query",
       true,
       "queries of relative positions, if not those of tokens",
       {{"H·d", "D"}}},
      {"layer.relative_key",
       true,
       "keys of relative positions, if not those of tokens",
       {{"H·d", "D"}}},
      {"layer.query_norm",
       true,
       "norm of each head's queries, or of all together",
       {{"d"}, {"H·d"}}},
      {"layer.key_norm", true, "norm of each head's keys, or of all together", {{"d"}, {"Hk·d"}}},
      {"layer.position_biases", false, "biases of relative positions", {{"buckets", "H"}}},
      {"layer.relative_rows",
       false,
       "vectors of the offsets between rows of the grid",
       {{"2·side − 1", "d"}}},
      {"layer.relative_columns",
       false,
       "vectors of the offsets between columns of the grid",
       {{"2·side − 1", "d"}}},
      {"layer.key_bias_mask", false, "keys have no bias if it is stored (DINOv3)", {{"3·H·d"}}},
      {"layer.sinks", false, "sink logits of the softmax", {{"H"}}},
      {"layer.windowed_qkv", true,
       "pyramid: queries, keys and values of a block that attends within windows"},
      {"layer.key_value", true, "pyramid: keys and values in one weight", {{"2·H·d", "D"}}},
      {"layer.query_key", true, "pyramid: queries that are also the keys", {{"H·d", "D"}}},
      {"layer.reduction",
       true,
       "pyramid: strided convolution before keys and values",
       {{"D", "D", "r", "r"}}},
      {"layer.reduction_norm", true, "pyramid: LayerNorm after that convolution", {{"D"}}},
      {"layer.qkv_norm",
       true,
       "adder arithmetic: LayerNorms of queries, keys, values",
       {{"3·H·d"}}},
      {"layer.attention_norm", true, "adder arithmetic: LayerNorm of the heads' output", {{"H·d"}}},
      {"layer.heads_norm", true, "norm of the heads' output", {{"H·d"}}},
      {"layer.mechanism", false, "a learned tensor of the mechanism itself: layer.mechanism.ksh.A"},
      {"layer.mask", false, "language model: stored mask, which is not needed"},
      {"layer.query_importance", true, "text classifier: logits of its queries", {{"H", "H·d"}}},
      {"layer.key_importance", true, "text classifier: logits of mean query ⊙ key", {{"H", "H·d"}}},
      {"layer.transform",
       true,
       "text classifier: projection of mean key ⊙ value",
       {{"H·d", "H·d"}}},
      {"layer.middle_norm", true, "Fastformer-LM: LayerNorm between its two attentions", {{"D"}}},
      {"layer.out", true, "projection of the heads' output", {{"D", "H·d"}}},
      {"layer.out_norm", true, "adder arithmetic: LayerNorm after the projection", {{"D"}}},
      {"layer.scale1", false, "layer scale of the attention part", {{"D"}}},
      {"layer.norm2", true, "LayerNorm of the MLP", {{"D"}}},
      {"layer.norm2_after", true, "sandwich: norm of the MLP's output", {{"D"}}},
      {"layer.mlp1", true, "first layer of the MLP", {{"mlp_width", "D"}}},
      {"layer.mlp_gate",
       true,
       "gated MLP: its activation is multiplied with mlp1",
       {{"mlp_width", "D"}}},
      {"layer.mlp_gate_and_mlp1", true, "gated MLP: both in one weight", {{"2·mlp_width", "D"}}},
      {"layer.mlp_convolution",
       true,
       "pyramid: depthwise 3×3 after mlp1",
       {{"mlp_width", "1", "3", "3"}}},
      {"layer.mlp_norm", true, "norm of mlp2's input", {{"mlp_width"}}},
      {"layer.mlp1_norm", true, "adder arithmetic: LayerNorm after mlp1", {{"mlp_width"}}},
      {"layer.mlp2", true, "second layer of the MLP", {{"D", "mlp_width"}}},
      {"layer.mlp2_norm", true, "adder arithmetic: LayerNorm after mlp2", {{"D"}}},
      {"layer.scale2", false, "layer scale of the MLP", {{"D"}}},
      {"final_norm", true, "LayerNorm after the last block", {{"D"}}},
      {"head_norm", true, "LayerNorm of the head's input", {{"D"}}},
      {"pooling1", true, "text classifier: hidden layer of its attention pooling", {{"P", "D"}}},
      {"pooling2",
       true,
       "text classifier: each token's logit in the attention pooling",
       {{"1", "P"}}},
      {"pooling.probe", false, "attention pooling: query to all tokens", {{"D"}}},
      {"pooling.qkv", true, "attention pooling: its projections in one weight", {{"3·D", "D"}}},
      {"pooling.query", true, "attention pooling: query projection of the probe", {{"D", "D"}}},
      {"pooling.key", true, "attention pooling: keys", {{"D", "D"}}},
      {"pooling.value", true, "attention pooling: values", {{"D", "D"}}},
      {"pooling.key_value",
       true,
       "attention pooling: keys and values in one weight",
       {{"2·D", "D"}}},
      {"pooling.out", true, "attention pooling: output projection", {{"D", "D"}}},
      {"pooling.norm", true, "attention pooling: norm of its MLP", {{"D"}}},
      {"pooling.mlp1", true, "attention pooling: first layer of its MLP", {{"hidden", "D"}}},
      {"pooling.mlp2", true, "attention pooling: second layer of its MLP", {{"D", "hidden"}}},
      {"pooler", true, "layer before the head, followed by tanh", {{"D", "D"}}},
      {"head_transform", true, "masked tokens: hidden layer of the head", {{"D", "D"}}},
      {"head_transform_norm", true, "masked tokens: norm after the hidden layer", {{"D"}}},
      {"output_projection",
       true,
       "language model: projection to the width of narrower embeddings",
       {{"E", "D"}}},
      {"head", true, "classifier; head.0, head.1, … if it has several layers", {{"classes", "D"}}},
      {"distillation_head", true, "classifier of the second token", {{"classes", "D"}}},
  };
  return list;
}

std::vector<std::string_view> RoleShape::names() const {
  return {std::begin(axes), std::ranges::find(axes, std::string_view())};
}

const TensorRole* find_tensor_role(std::string_view module) {
  const auto roles = tensor_roles();
  const auto found = std::ranges::find(roles, module, &TensorRole::name);
  return found == roles.end() ? nullptr : &*found;
}

RoleParts parts_of_role(std::string_view role) {
  for (const std::string_view part : {".weight", ".bias", ".running_mean", ".running_var"}) {
    if (role.starts_with("layer.mechanism.") || !role.ends_with(part)) continue;
    return {std::string(role.substr(0, role.size() - part.size())), std::string(part)};
  }
  return {std::string(role), ""};
}

std::string explanation_of(std::string_view role) {
  const TensorRole* const known = find_tensor_role(parts_of_role(role).module);
  if (known == nullptr) return {};
  std::string text(known->explanation), between = " ";
  for (const RoleShape& shape : known->shapes) {
    if (shape.names().empty()) break;
    text += between + "[" + name_list(shape.names()) + "]";
    between = " or ";
  }
  return text;
}

}  // namespace attnscope
