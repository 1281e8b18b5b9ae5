#include "core/training/network.h"

#include <string>
#include <utility>

#include "core/architecture/model_spec_json.h"
#include "core/error.h"
#include "core/training/spec_difference.h"

namespace attnscope {

namespace {

/// timm's names, with the norms that scale the outputs of adder layers.
const TrainedBlockNames& image_names() {
  static const TrainedBlockNames names = {.norm1 = "norm1",
                                          .qkv = "attn.qkv",
                                          .qkv_norm = "attn.qkv_norm",
                                          .heads_norm = "attn.norm",
                                          .out = "attn.proj",
                                          .out_norm = "attn.proj_norm",
                                          .norm2 = "norm2",
                                          .mlp1 = "mlp.fc1",
                                          .mlp1_norm = "mlp.fc1_norm",
                                          .mlp2 = "mlp.fc2",
                                          .mlp2_norm = "mlp.fc2_norm",
                                          .own = "attn."};
  return names;
}

/// nanoGPT's names; models of texts have no adder layers.
const TrainedBlockNames& text_names() {
  static const TrainedBlockNames names = {.norm1 = "ln_1",
                                          .qkv = "attn.c_attn",
                                          .qkv_norm = {},
                                          .heads_norm = {},
                                          .out = "attn.c_proj",
                                          .out_norm = {},
                                          .norm2 = "ln_2",
                                          .mlp1 = "mlp.c_fc",
                                          .mlp1_norm = {},
                                          .mlp2 = "mlp.c_proj",
                                          .mlp2_norm = {},
                                          .own = "attn."};
  return names;
}

/// The model with all that a TrainedNetwork can differ in, and nothing else.
ModelSpec trainable_part(const ModelSpec& spec) {
  ModelSpec part;
  part.width = spec.width;
  part.layers = spec.layers;
  part.input = spec.input;
  part.positions.kind = spec.positions.kind;
  part.positions.resize = spec.positions.resize;
  part.layer.attention.heads = spec.layer.attention.heads;
  part.layer.norm.eps = spec.layer.norm.eps;
  part.layer.mlp.width = spec.layer.mlp.width;
  part.layer.mlp.activation = spec.layer.mlp.activation;
  part.layer.scores.causal = spec.layer.scores.causal;
  part.readout.kind = spec.readout.kind;
  part.arithmetic = spec.arithmetic;
  part.mechanism = spec.mechanism;
  part.layer_mechanisms = spec.layer_mechanisms;
  part.multiplicative_layers = spec.multiplicative_layers;
  part.labels = spec.labels;
  return part;
}

[[noreturn]] void refuse(const std::string& member, const std::string& expected,
                         const std::string& found) {
  throw Error(ErrorKind::unsupported, "a model with this cannot be trained here")
      .about(member)
      .expected(expected)
      .found(found);
}

void check_trainable(const ModelSpec& spec) {
  const std::string difference = first_difference(trainable_part(spec), spec);
  if (!difference.empty()) refuse(difference, "what it is by default", "another");
  const auto named = [&](const char* member) { return option_text(spec, member); };
  const InputSpec& input = spec.input;
  const bool images = input.kind == InputKind::patches;
  if (!images && !spec.reads_texts())
    refuse("input.kind", "patches or tokens", named("input.kind"));
  if (input.width != 0 && (images || input.width != spec.width)) {
    refuse("input.width", "that of the model", named("input.width"));
  }
  const Readout kind = spec.readout.kind;
  if (images ? kind != Readout::class_token && kind != Readout::mean
             : kind != Readout::next_token) {
    refuse("readout", images ? "class or mean" : "next_token", named("readout"));
  }
  if (input.register_tokens > 0 || input.class_tokens > 1) {
    refuse("class_tokens", "at most one, and no registers", named("class_tokens"));
  }
  if (input.patch_stride != 0 || input.patch_padding != 0) {
    refuse("patch_stride", "patches that tile the image", named("patch_stride"));
  }
  const Activation activation = spec.layer.mlp.activation;
  if (activation != Activation::gelu && activation != Activation::gelu_tanh) {
    refuse("activation", "gelu or gelu_tanh", named("activation"));
  }
  if (spec.positions.kind != Positions::learned &&
      (!images || spec.positions.kind != Positions::none)) {
    refuse("positions", images ? "learned or none" : "learned", named("positions"));
  }
}

}  // namespace

TrainedNetwork::TrainedNetwork(ModelSpec spec, const GradientForms& forms)
    : spec_(std::move(spec)) {
  validate(spec_);
  check_trainable(spec_);
  embedding_ = std::make_unique<TrainedEmbedding>(table_, spec_);
  const bool images = !spec_.reads_texts();
  for (std::int64_t layer = 0; layer < spec_.layers; ++layer) {
    const std::string prefix = (images ? "blocks." : "transformer.h.") + std::to_string(layer);
    blocks_.emplace_back(table_, spec_, layer, prefix + ".", images ? image_names() : text_names(),
                         forms);
  }
  readout_ = std::make_unique<TrainedReadout>(table_, spec_, embedding_->table());
}

LossSum TrainedNetwork::run(const float* values, float* gradients, float weight,
                            const Examples& examples, Room& room) const {
  const std::int64_t tokens = embedding_->tokens_of(examples);
  room.blocks.resize(blocks_.size());
  embedding_->forward(values, examples, room.x, room.embedding);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    blocks_[i].forward(values, tokens, room.x, room.blocks[i]);
  }
  readout_->forward(values, tokens, room.x, room.readout);
  const LossSum sum =
      cross_entropy(room.readout.logits, examples.targets, gradients ? weight : 0.0F);
  if (gradients == nullptr) return sum;
  readout_->backward(values, gradients, tokens, room.dx, room.readout);
  for (std::size_t i = blocks_.size(); i-- > 0;) {
    blocks_[i].backward(values, gradients, tokens, room.dx, room.blocks[i], room.block);
  }
  embedding_->backward(values, gradients, examples, room.dx, room.embedding);
  return sum;
}

}  // namespace attnscope
