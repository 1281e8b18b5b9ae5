#include "core/training/network.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/architecture/model_spec_json.h"
#include "core/architecture/pyramid_grid.h"
#include "core/error.h"

namespace attnscope {

namespace {

/// Names as in timm, with those of the norms that scale the outputs of adder layers.
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
                                          .own = "attn.",
                                          .query = "attn.to_q",
                                          .key = "attn.to_k",
                                          .value = "attn.to_v",
                                          .query_key = "attn.to_qk",
                                          .hash = "attn.fast_attention."};
  return names;
}

/// Names as in nanoGPT, also for classifiers. Models of texts have no adder layers.
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

/// Names as in Fastformer-LM.
const TrainedBlockNames& fastformer_names() {
  static const TrainedBlockNames names = {.norm1 = {},
                                          .qkv = {},
                                          .qkv_norm = {},
                                          .heads_norm = {},
                                          .out = {},
                                          .out_norm = {},
                                          .norm2 = "boom_norm",
                                          .mlp1 = "boom",
                                          .mlp1_norm = {},
                                          .mlp2 = "unboom",
                                          .mlp2_norm = {},
                                          .fastformer = {.norm = "attention.attn_norm",
                                                         .query = "attention.Wquery",
                                                         .key = "attention.Wkeys",
                                                         .value = "attention.Wvalues",
                                                         .out = "attention.attn_proj",
                                                         .middle_norm = "attention.mid_norm",
                                                         .query_importance = "attention.query_attn",
                                                         .key_importance = "attention.key_attn"}};
  return names;
}

/// Names of the layers of a model without stages: the prefix of their numbers, and the names of
/// each layer's tensors.
struct LayerTensorNames {
  std::string prefix;
  const TrainedBlockNames& of_each;
};

LayerTensorNames layer_names(const ModelSpec& spec) {
  if (spec.layer.form == LayerForm::fastformer) {
    return {"fastformer_model.decoders.", fastformer_names()};
  }
  if (spec.reads_texts()) return {"transformer.h.", text_names()};
  return {"blocks.", image_names()};
}

/// A spec that keeps only the members in which a TrainedNetwork may differ.
ModelSpec trainable_part(const ModelSpec& spec) {
  ModelSpec part;
  part.width = spec.width;
  part.layers = spec.layers;
  part.input = spec.input;
  part.stages = spec.stages;
  part.positions.kind = spec.positions.kind;
  part.positions.resize = spec.positions.resize;
  part.layer.attention.heads = spec.layer.attention.heads;
  part.layer.attention.head_width = spec.is_pyramid() ? spec.layer.attention.head_width : 0;
  part.layer.norm.eps = spec.layer.norm.eps;
  part.layer.mlp.width = spec.layer.mlp.width;
  part.layer.mlp.activation = spec.layer.mlp.activation;
  part.layer.scores.causal = spec.layer.scores.causal;
  part.readout.kind = spec.readout.kind;
  if (spec.layer.form == LayerForm::fastformer) {
    part.layer.form = LayerForm::fastformer;
    part.readout.final_norm = false;
    part.readout.logit_scale = 0;
  }
  part.arithmetic = spec.arithmetic;
  part.mechanism = spec.mechanism;
  part.layer_mechanisms = spec.layer_mechanisms;
  part.multiplicative_layers = spec.multiplicative_layers;
  part.labels = spec.labels;
  return part;
}

[[noreturn]] void refuse_member(const std::string& member, const std::string& expected,
                                const std::string& found) {
  throw Error(ErrorKind::unsupported, "training does not support this value")
      .about(member)
      .expected(expected)
      .found(found);
}

/// Requires patches that tile the image, 2 × 2 merging, and attention to all tokens of a stage.
void check_stages(const ModelSpec& spec) {
  const auto named = [&](const char* member) { return option_text(spec, member); };
  const std::vector<GridExtents> grids = pyramid_grids(spec);
  for (std::size_t i = 0; i < spec.stages.size(); ++i) {
    const PyramidStage& stage = spec.stages[i];
    if (stage.kernel != stage.stride || (i > 0 && stage.kernel != 2) || stage.reduction != 1 ||
        stage.pooled != 0 || stage.window != 0) {
      refuse_member("stages", "patches, then merged by 2 × 2; no windows, no reduction",
                    named("stages"));
    }
    if (i > 0 && (grids[i - 1].rows % 2 != 0 || grids[i - 1].columns % 2 != 0)) {
      refuse_member(
          "stages", "an even number of patches a side before they are merged",
          std::to_string(grids[i - 1].rows) + " × " + std::to_string(grids[i - 1].columns));
    }
  }
  if (spec.positions.kind != Positions::none) {
    refuse_member("positions", "none in a pyramid", named("positions"));
  }
  if (spec.arithmetic != Arithmetic::multiplicative) {
    refuse_member("arithmetic", "multiplicative in a pyramid", named("arithmetic"));
  }
  if (spec.readout.kind != Readout::mean) {
    refuse_member("readout", "mean in a pyramid", named("readout"));
  }
}

void check_fastformer(const ModelSpec& spec) {
  const auto named = [&](const char* member) { return option_text(spec, member); };
  if (!spec.is_language_model()) {
    refuse_member("layer_form", "transformer, unless the model predicts the next token",
                  named("layer_form"));
  }
  if (spec.arithmetic != Arithmetic::multiplicative) {
    refuse_member("arithmetic", "multiplicative in Fastformer's layers", named("arithmetic"));
  }
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    const std::string& name = mechanism_of(spec, layer).name;
    if (name != "additive") refuse_member("mechanism", "additive in Fastformer's layers", name);
  }
}

void check_trainable(const ModelSpec& spec) {
  const std::string difference = first_difference(trainable_part(spec), spec);
  if (!difference.empty()) refuse_member(difference, "the default", "another value");
  const auto named = [&](const char* member) { return option_text(spec, member); };
  const InputSpec& input = spec.input;
  const bool images = input.kind == InputKind::patches || spec.is_pyramid();
  if (!images && !spec.reads_texts())
    refuse_member("input.kind", "patches or tokens", named("input.kind"));
  if (input.width != 0 && (images || input.width != spec.width)) {
    refuse_member("input.width", "that of the model", named("input.width"));
  }
  const Readout kind = spec.readout.kind;
  if (images ? kind != Readout::class_token && kind != Readout::mean
             : kind != Readout::next_token && kind != Readout::mean_all) {
    refuse_member("readout", images ? "class or mean" : "next_token or mean_all", named("readout"));
  }
  if (input.register_tokens > 0 || input.class_tokens > 1) {
    refuse_member("class_tokens", "at most one, and no registers", named("class_tokens"));
  }
  if (input.patch_stride != 0 || input.patch_padding != 0) {
    refuse_member("patch_stride", "patches that tile the image", named("patch_stride"));
  }
  const Activation activation = spec.layer.mlp.activation;
  if (activation != Activation::gelu && activation != Activation::gelu_tanh) {
    refuse_member("activation", "gelu or gelu_tanh", named("activation"));
  }
  if (spec.positions.kind != Positions::learned &&
      (!images || spec.positions.kind != Positions::none)) {
    refuse_member("positions", images ? "learned or none" : "learned", named("positions"));
  }
  if (spec.is_pyramid()) check_stages(spec);
  if (spec.layer.form == LayerForm::fastformer) check_fastformer(spec);
}

}  // namespace

TrainedNetwork::TrainedNetwork(ModelSpec spec, const GradientForms& forms,
                               const Regularisation& regularisation)
    : spec_(std::move(spec)), regularisation_(regularisation) {
  validate(spec_);
  check_trainable(spec_);
  embedding_ = std::make_unique<TrainedEmbedding>(table_, spec_);
  for (std::size_t i = 0; i < spec_.stages.size(); ++i) add_stage(i, forms);
  if (!spec_.is_pyramid()) {
    Stage& all = stages_.emplace_back();
    for (std::int64_t layer = 0; layer < spec_.layers; ++layer) {
      add_block(all, layer, layer_names(spec_).prefix + std::to_string(layer) + ".", forms);
    }
  }
  readout_ = std::make_unique<TrainedReadout>(table_, spec_, embedding_->table());
}

void TrainedNetwork::add_block(Stage& stage, std::int64_t layer, const std::string& prefix,
                               const GradientForms& forms) {
  stage.blocks.emplace_back(table_, spec_, layer, prefix, layer_names(spec_).of_each, forms);
}

void TrainedNetwork::add_stage(std::size_t index, const GradientForms& forms) {
  const std::vector<GridExtents> grids = pyramid_grids(spec_);
  const PyramidStage& of = spec_.stages[index];
  const std::string name = "stages." + std::to_string(index) + ".";
  Stage& stage = stages_.emplace_back();
  stage.tokens = grids[index].tokens();
  if (index > 0) {
    stage.merging.emplace(table_, name + "merge", grids[index - 1], spec_.stages[index - 1].width,
                          of.width, spec_.input.norm_eps);
  }
  std::int64_t layer = 0;
  for (std::size_t i = 0; i < index; ++i) layer += spec_.stages[i].layers;
  for (std::int64_t block = 0; block < of.layers; ++block) {
    add_block(stage, layer + block, name + "blocks." + std::to_string(block) + ".", forms);
  }
  stage.neighbours.emplace(table_, name + "positions", grids[index], of.width);
}

Omission TrainedNetwork::omission_of(const Examples& examples, std::int64_t layer) const {
  if (layer < 0) return {.examples = examples.numbers, .dropout = regularisation_.dropout};
  Omission omission = {
      .examples = examples.numbers,
      .dropout = regularisation_.dropout,
      .attention_dropout = regularisation_.attention_dropout,
      .drop_path = drop_path_of_layer(regularisation_.drop_path, layer, spec_.layers),
      .place = static_cast<std::uint64_t>(2 * layer + 1)};
  if (regularisation_.gumbel_noise && examples.batch_numbers) {
    omission.bias_noise =
        examples.batch_numbers->of("gumbel").of(static_cast<std::uint64_t>(layer));
  }
  return omission;
}

LossSum TrainedNetwork::run(const float* values, float* gradients, float weight,
                            const Examples& examples, Room& room) const {
  // lengths[stage][example] is the number of tokens.
  std::vector<std::vector<std::int64_t>> lengths{embedding_->lengths_of(examples)};
  room.blocks.resize(static_cast<std::size_t>(spec_.layers));
  room.mergings.resize(stages_.size());
  room.before_neighbours.resize(stages_.size());
  const auto memory_of = [&](std::int64_t layer) -> TrainedBlock::Memory& {
    return room.blocks[static_cast<std::size_t>(layer)];
  };
  embedding_->forward(values, examples, room.x, room.embedding);
  omit(omission_of(examples, -1), 0, lengths.front(), room.x);
  std::int64_t layer = 0;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = stages_[i];
    if (stage.merging) {
      stage.merging->forward(values, room.x, room.mergings[i]);
      lengths.emplace_back(examples.images.size(), stage.tokens);
    }
    for (std::size_t place = 0; place < stage.blocks.size(); ++place) {
      stage.blocks[place].forward(values, lengths[i], room.x, memory_of(layer),
                                  omission_of(examples, layer));
      ++layer;
      if (place > 0 || !stage.neighbours) continue;
      stage.neighbours->forward(values, room.x, room.before_neighbours[i]);
    }
  }
  readout_->forward(values, lengths.back(), room.x, room.readout);
  const LossTargets targets = {
      .first = examples.targets,
      .second = examples.mixed_targets,
      .share = examples.share,
      .smoothing = examples.numbers.empty() ? 0 : regularisation_.label_smoothing};
  const LossSum sum = cross_entropy(room.readout.logits, targets, gradients ? weight : 0.0F);
  if (gradients == nullptr) return sum;
  readout_->backward(values, gradients, lengths.back(), room.dx, room.readout);
  for (std::size_t i = stages_.size(); i-- > 0;) {
    const Stage& stage = stages_[i];
    for (std::size_t place = stage.blocks.size(); place-- > 0;) {
      if (place == 0 && stage.neighbours) {
        stage.neighbours->backward(values, gradients, room.before_neighbours[i], room.dx,
                                   room.neighbours);
      }
      --layer;
      stage.blocks[place].backward(values, gradients, lengths[i], room.dx, memory_of(layer),
                                   room.block, omission_of(examples, layer));
    }
    if (stage.merging) stage.merging->backward(values, gradients, room.dx, room.mergings[i]);
  }
  omit(omission_of(examples, -1), 0, lengths.front(), room.dx);
  embedding_->backward(values, gradients, examples, room.dx, room.embedding);
  return sum;
}

std::string first_difference(const ModelSpec& wanted, const ModelSpec& found) {
  const nlohmann::json changes = nlohmann::json::diff(nlohmann::json::parse(to_json(wanted)),
                                                      nlohmann::json::parse(to_json(found)));
  if (changes.empty()) return {};
  std::string path = changes.front().at("path").get<std::string>().substr(1);
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

}  // namespace attnscope
