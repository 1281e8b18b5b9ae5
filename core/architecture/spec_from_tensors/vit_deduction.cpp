#include "core/architecture/spec_from_tensors/vit_deduction.h"

#include <algorithm>

#include "core/architecture/configuration/neighbour_config.h"
#include "core/architecture/spec_from_tensors/family_deduction.h"

namespace attnscope {

ViTDeduction::ViTDeduction(const DeductionInput& input) : FamilyDeduction(input) {
  read_own_metadata();
  if (options_.description.empty()) take_config(true);
  as_stored_ = spec_;
  stated_in_file_ = stated_;
  apply_overrides(input.options);
}

Architecture ViTDeduction::deduce() {
  deduce_blocks();
  deduce_prefix_tokens();
  deduce_patches();
  deduce_positions();
  if (spec_.layer.scores.bias == ScoreBias::table) take_relative_grid();
  if (spec_.layer.scores.bias == ScoreBias::decomposed) deduce_windows();
  if (spec_.input.patch_height > 0) {
    check_position_biases(result_, checkpoint_, layers_, spec_.tokens(),
                          "they cannot be interpolated: set image_height and image_width to the "
                          "size it was trained with");
  }
  deduce_head();
  deduce_colours();
  list_assumptions();
  validate(spec_);
  return finish();
}

Shape ViTDeduction::shape_of(const std::string& role, std::size_t rank) const {
  const auto source = result_.sources.find(role);
  if (source == result_.sources.end()) return {};
  Shape shape = used_shape(checkpoint_, source->second);
  while (shape.size() > rank && shape.front() == 1) shape.erase(shape.begin());
  while (shape.size() > rank && shape.back() == 1) shape.pop_back();
  if (shape.size() != rank) {
    throw Error(ErrorKind::unsupported, "the tensor has an unexpected number of axes")
        .about(source->second.tensor)
        .expected(std::to_string(rank) + " axes for the role " + role)
        .found(to_string(checkpoint_.at(source->second.tensor).shape));
  }
  return shape;
}

const std::string& ViTDeduction::tensor_of(const std::string& role) const {
  return result_.sources.find(role)->second.tensor;
}

void ViTDeduction::read_own_metadata() {
  const auto& metadata = checkpoint_.metadata();
  const auto architecture = metadata.find("architecture");
  if (description_.family != kOwnModel || architecture == metadata.end()) return;
  spec_ = model_spec_from_json(architecture->second, {}, false);
  for (const ModelOption& option : model_options()) stated_.emplace(option.name);
  // These members follow from the tensors, unless the file states them.
  const std::vector<std::string> written = members_in_json(architecture->second);
  for (const char* member : {"final_norm", "positions", "head_width"}) {
    if (std::find(written.begin(), written.end(), member) == written.end()) {
      stated_.erase(member);
    }
  }
  read_own_labels();
}

void ViTDeduction::deduce_blocks() {
  const Shape out = shape_of("layer.0.out.weight", 2);
  if (!out.empty()) {
    fact("width", spec_.width, out[0], tensor_of("layer.0.out.weight"));
  } else {
    const std::string role =
        has("layer.0.qkv.weight") ? "layer.0.qkv.weight" : "layer.0.query.weight";
    fact("width", spec_.width, shape_of(role, 2)[1], tensor_of(role));
  }
  fact("layers", spec_.layers, layers_, "the blocks");
  if (spec_.layer.mlp.form != MlpForm::none) {
    const bool both = has("layer.0.mlp_gate_and_mlp1.weight");
    const std::string mlp = both ? "layer.0.mlp_gate_and_mlp1.weight" : "layer.0.mlp1.weight";
    fact("mlp_width", spec_.layer.mlp.width, shape_of(mlp, 2)[0] / (both ? 2 : 1), tensor_of(mlp));
  }
  deduce_heads();
  deduce_agents();
  deduce_tail();
  const bool norm = has("final_norm.weight");
  if (stated("final_norm") && spec_.readout.final_norm && !norm) {
    throw Error(ErrorKind::damaged, "the LayerNorm after the last block is missing")
        .in_file(checkpoint_.path())
        .about("final_norm");
  }
  if (!stated("final_norm")) spec_.readout.final_norm = norm;
}

void ViTDeduction::deduce_heads() {
  const bool fused = has("layer.0.qkv.weight");
  const std::string role = fused ? "layer.0.qkv.weight" : "layer.0.query.weight";
  if (!has(role)) {
    throw Error(ErrorKind::unsupported, "the model has no queries")
        .in_file(checkpoint_.path())
        .about("layer.0.qkv.weight, layer.0.query.weight");
  }
  const std::int64_t rows = shape_of(role, 2)[0];
  const std::int64_t inner = fused ? rows / 3 : rows;
  if (inner <= 0 || (fused && rows % 3 != 0)) {
    throw Error(ErrorKind::unsupported, "the weight does not hold queries, keys and values")
        .about(tensor_of(role))
        .expected("a multiple of 3 rows")
        .found(std::to_string(rows));
  }
  const std::int64_t stored = stored_parts(checkpoint_, result_.sources.find(role)->second);
  if (stored > 0) fact("heads", spec_.layer.attention.heads, stored, tensor_of(role));
  const std::string mixing = "layer.0.mechanism.proj_l", offsets = "layer.0.relative_rows",
                    agents = "layer.0.mechanism.an_bias";
  if (has(mixing)) {
    fact("heads", spec_.layer.attention.heads, shape_of(mixing, 2)[0], tensor_of(mixing));
  }
  if (has(agents)) {
    fact("heads", spec_.layer.attention.heads, shape_of(agents, 4)[0], tensor_of(agents));
  }
  if (has(offsets)) {
    fact("head_width", spec_.layer.attention.head_width, shape_of(offsets, 2)[1],
         tensor_of(offsets));
  }
  const bool heads = stated("heads"),
             head_width = stated("head_width") && spec_.layer.attention.head_width > 0;
  if (!heads && !head_width) {
    if (const std::int64_t usual = usual_heads(inner); usual > 0) {
      spec_.layer.attention.heads = usual;
    } else if (const std::int64_t width = description_.spec.layer.attention.head_width; width > 0) {
      if (inner % width != 0) ask_for_heads(inner);
      spec_.layer.attention.heads = inner / width;
    } else {
      spec_.layer.attention.heads = usual_number_of_heads(inner);
    }
  } else if (!heads) {
    spec_.layer.attention.heads = inner / spec_.layer.attention.head_width;
  }
  if (spec_.layer.attention.heads < 1 || inner % spec_.layer.attention.heads != 0 ||
      (head_width && spec_.layer.attention.heads * spec_.layer.attention.head_width != inner)) {
    throw Error(overridden_.contains("heads") || overridden_.contains("head_width")
                    ? ErrorKind::usage
                    : ErrorKind::damaged,
                "the heads do not fit the weights")
        .in_file(checkpoint_.path())
        .about("heads")
        .expected("a divisor of " + std::to_string(inner) + ", the rows of " + tensor_of(role) +
                  (fused ? " / 3" : ""))
        .found(std::to_string(spec_.layer.attention.heads) +
               (head_width ? " heads of " + std::to_string(spec_.layer.attention.head_width) : ""));
  }
  const std::int64_t each = inner / spec_.layer.attention.heads;
  if (!heads && !head_width) {
    const std::string usual = "the file does not say; " + std::to_string(each) + " channels a head";
    assume("heads", usual);
    if (usual_heads(inner) > 0) {
      result_.assumptions.back().reason = "16 heads, as published ViTs of this width have";
    }
  }
  spec_.layer.attention.head_width = each;
  stated_.insert("head_width");
}

void ViTDeduction::deduce_agents() {
  if (!has("layer.0.mechanism.an_bias") || overridden_.contains("mechanism")) return;
  std::vector<MechanismChoice> list;
  for (std::int64_t layer = 0; layer < layers_; ++layer) {
    list.push_back(spec_.mechanism);
    const std::string role = "layer." + std::to_string(layer) + ".mechanism.an_bias";
    list.back().parameters["agents"] = shape_of(role, 4)[1];
  }
  spec_.mechanism = list.front();
  const bool differ = std::ranges::any_of(
      list, [&](const MechanismChoice& choice) { return choice != list.front(); });
  if (differ && !stated("layer_mechanisms")) spec_.layer_mechanisms = std::move(list);
}

std::int64_t ViTDeduction::usual_heads(std::int64_t inner) const {
  constexpr std::int64_t widths[] = {1152, 1280, 1408, 1664};
  const bool convolutional = description_.spec.input.patch_order == PatchOrder::channels_first;
  const bool known = std::find(std::begin(widths), std::end(widths), inner) != std::end(widths);
  return known && convolutional && inner == spec_.width &&
                 description_.spec.layer.attention.head_width == 64
             ? 16
             : 0;
}

void ViTDeduction::deduce_prefix_tokens() {
  const std::int64_t tokens = (has("class_token") ? 1 : 0) + (has("distillation_token") ? 1 : 0);
  if (has("distillation_token") && !has("class_token")) {
    throw Error(ErrorKind::unsupported, "a distillation token without a class token")
        .in_file(checkpoint_.path());
  }
  fact("class_tokens", spec_.input.class_tokens, tokens, "the class tokens");
  fact("register_tokens", spec_.input.register_tokens,
       has("register_tokens") ? shape_of("register_tokens", 2)[0] : 0, "the register tokens");
}

void ViTDeduction::deduce_head() {
  std::string last;
  for (const auto& [role, source] : result_.sources) {
    if (role.starts_with("head.") && role.ends_with(".weight")) last = role;
  }
  const bool pooled = spec_.readout.kind == Readout::attention_pooling && has("pooling.probe");
  if (spec_.readout.kind == Readout::attention_pooling && !pooled &&
      !description_.stated.contains("readout")) {
    throw Error(fault_of("readout"), "the file has no attention pooling to read out")
        .in_file(checkpoint_.path())
        .about("readout")
        .found("attention_pooling");
  }
  if (pooled && spec_.input.prefix_tokens() > 0) {
    throw Error(ErrorKind::unsupported,
                "the file does not say whether attention pooling reads the prefix tokens")
        .in_file(checkpoint_.path())
        .about(tensor_of("pooling.probe"));
  }
  if (last.empty()) {
    if (!overridden_.contains("readout") && !pooled) spec_.readout.kind = Readout::none;
    return;
  }
  const Shape shape = shape_of(last, 2);
  if (shape[0] < 1) {
    throw Error(ErrorKind::damaged, "the head has no classes")
        .in_file(checkpoint_.path())
        .about(tensor_of(last));
  }
  check_labels(shape[0]);
  if (stated("readout") || pooled) return;
  if (has("distillation_head.weight")) {
    spec_.readout.kind = Readout::class_and_distilled;
  } else if (spec_.input.class_tokens == 0) {
    spec_.readout.kind = Readout::mean;
  } else {
    const bool described = spec_.readout.kind == Readout::class_and_mean ||
                           spec_.readout.kind == Readout::mean_all ||
                           spec_.readout.kind == Readout::mean;
    if (!described) spec_.readout.kind = Readout::class_token;
    assume("readout",
           described ? "the family's usual one" : "the class token, as the family does by default");
  }
}

void ViTDeduction::deduce_colours() {
  const auto fits = [&](const std::vector<double>& values) {
    return values.size() == 1 || static_cast<std::int64_t>(values.size()) == spec_.input.channels;
  };
  if (!stated("input_mean") && !fits(spec_.input.mean)) spec_.input.mean = {0.5};
  if (!stated("input_std") && !fits(spec_.input.std)) spec_.input.std = {0.5};
}

void ViTDeduction::list_assumptions() {
  assume("activation", "the family's usual one");
  if (result_.position_rows > 0 && (result_.position_rows != spec_.input.grid_rows() ||
                                    result_.position_columns != spec_.input.grid_columns())) {
    assume("position_resize", "the family's usual one");
  }
  if (spec_.layer.rotary.form != Rotary::none) {
    if (!has("rotary_periods")) assume("layer.rotary.theta", "the family's usual one");
    if (spec_.layer.rotary.grid == RotaryGrid::cells) {
      assume("layer.rotary.trained_side", "the family's usual one");
    }
  }
  // Models that a configuration names always have the family's position of norms.
  if (config_.kind.empty()) assume("norm_position", "the family's usual one");
  assume("norm_eps", "the family's usual one");
  assume("mechanism", "weights do not tell what they were trained with; softmax is usual");
  const bool deep = has("head.1.weight") && has("head.0.weight");
  if (deep) assume("head_activation", "the family's usual one");
  if (spec_.input.patch_height == 0) return;
  assume("input_mean", "the file does not say how pixels were normalised");
  assume("input_std", "the file does not say how pixels were normalised");
  if (spec_.input.keeps_sizes()) {
    assume("most_pixels", "the default of the family's processor");
    assume("least_pixels", "the default of the family's processor");
    assume("size_step", "the default of the family's processor");
  }
  assume("resize_mode", "the family's usual preprocessing");
  assume("resize_filter", "the family's usual preprocessing");
  assume("crop_fraction", "the family's usual preprocessing");
}

}  // namespace attnscope
