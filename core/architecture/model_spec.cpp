#include "core/architecture/model_spec.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/architecture/model_spec_json.h"
#include "core/architecture/pyramid_grid.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

void check_range(std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw Error(ErrorKind::damaged, "the value is out of range")
      .about(std::string(name))
      .expected(std::to_string(least) + " to " + std::to_string(most))
      .found(std::to_string(value));
}

void check(bool holds, std::string_view name, std::string what, std::string found) {
  if (holds) return;
  throw Error(ErrorKind::damaged, "the value is out of range")
      .about(std::string(name))
      .expected(std::move(what))
      .found(std::move(found));
}

void validate_stages(const ModelSpec& spec) {
  constexpr std::int64_t most = 1 << 16;
  std::int64_t layers = 0;
  for (const PyramidStage& stage : spec.stages) {
    check_range("stages width", stage.width, 1, most);
    check_range("stages layers", stage.layers, 1, 4096);
    check_range("stages heads", stage.heads, 1, most);
    check(stage.width % stage.heads == 0, "stages heads",
          "a divisor of the width, " + std::to_string(stage.width), std::to_string(stage.heads));
    check_range("stages mlp_width", stage.mlp_width, 1, 1 << 20);
    check_range("stages kernel", stage.kernel, 1, 1024);
    check_range("stages stride", stage.stride, 1, 1024);
    check_range("stages reduction", stage.reduction, 1, 1024);
    check_range("stages pooled", stage.pooled, 0, 1024);
    check_range("stages window", stage.window, 0, 1024);
    layers += stage.layers;
  }
  check(layers == spec.layers, "layers", std::to_string(layers) + ", the sum of the stages'",
        std::to_string(spec.layers));
  const PyramidStage& first = spec.stages.front();
  const PyramidStage& last = spec.stages.back();
  check(spec.input.patch_height == first.stride && spec.input.patch_width == first.stride,
        "patch_height", std::to_string(first.stride) + ", the first stage's stride",
        std::to_string(spec.input.patch_height));
  check(spec.width == last.width, "width", std::to_string(last.width) + ", the last stage's",
        std::to_string(spec.width));
  for (const auto& [name, value] : {std::pair("class_tokens", spec.input.class_tokens),
                                    std::pair("register_tokens", spec.input.register_tokens),
                                    std::pair("patch_stride", spec.input.patch_stride),
                                    std::pair("patch_padding", spec.input.patch_padding)}) {
    check(value == 0, name, "0: a pyramid has none", std::to_string(value));
  }
  (void)pyramid_grids(spec);
}

void validate_patches(const InputSpec& input) {
  constexpr std::int64_t most = 1 << 16;
  check_range("image_height", input.image_height, input.patch_height, most);
  check_range("image_width", input.image_width, input.patch_width, most);
  check_range("patch_stride", input.patch_stride, 0, most);
  check_range("patch_padding", input.patch_padding, 0,
              std::min(input.patch_height, input.patch_width) / 2);
  const bool tiles = input.patch_stride == 0 && input.patch_padding == 0;
  check(!tiles || input.image_height % input.patch_height == 0, "image_height",
        "a multiple of patch_height, " + std::to_string(input.patch_height),
        std::to_string(input.image_height));
  check(!tiles || input.image_width % input.patch_width == 0, "image_width",
        "a multiple of patch_width, " + std::to_string(input.patch_width),
        std::to_string(input.image_width));
  const std::int64_t tokens = input.prefix_tokens() + input.grid_rows() * input.grid_columns();
  check(tokens <= most, "image_height", "an image of at most 65536 patches",
        std::to_string(tokens) + " tokens");
}

void validate_images(const ModelSpec& spec) {
  constexpr std::int64_t most = 1 << 16;
  check_range("channels", spec.input.channels, 1, 1024);
  check_range("patch_height", spec.input.patch_height, 0, most);
  check_range("patch_width", spec.input.patch_width, 0, most);
  check((spec.input.patch_height == 0) == (spec.input.patch_width == 0), "patch_width",
        "0 exactly if patch_height is", std::to_string(spec.input.patch_width));
  check((spec.input.kind == InputKind::embeddings) == (spec.input.patch_height == 0), "input.kind",
        "embeddings exactly if there are no patches", option_text(spec, "input.kind"));
  if (spec.input.patch_height > 0) validate_patches(spec.input);
  check_range("class_tokens", spec.input.class_tokens, 0, 2);
  check_range("register_tokens", spec.input.register_tokens, 0, 4096);
  const bool reads_class = spec.readout.kind == Readout::class_token ||
                           spec.readout.kind == Readout::class_and_distilled ||
                           spec.readout.kind == Readout::class_and_mean;
  check(!reads_class || spec.input.class_tokens >= 1, "readout", "mean or none without class token",
        option_text(spec, "readout"));
  check(spec.readout.kind != Readout::class_and_distilled || spec.input.class_tokens == 2,
        "readout", "two class tokens for class_and_distilled",
        std::to_string(spec.input.class_tokens));
  const auto per_channel = static_cast<std::size_t>(spec.input.channels);
  for (const auto& [name, values] :
       {std::pair("input_mean", &spec.input.mean), std::pair("input_std", &spec.input.std)}) {
    check(values->size() == 1 || values->size() == per_channel, name,
          "one number, or " + std::to_string(per_channel) + " (one per channel)",
          std::to_string(values->size()));
    const bool divides = std::string_view(name) == "input_std";
    check(
        std::all_of(values->begin(), values->end(),
                    [&](double value) { return std::isfinite(value) && (!divides || value > 0); }),
        name, divides ? "positive numbers" : "finite numbers", option_text(spec, name));
  }
  check(spec.input.crop_fraction > 0 && spec.input.crop_fraction <= 1, "crop_fraction",
        "above 0, at most 1", std::to_string(spec.input.crop_fraction));
}

void validate_text(const ModelSpec& spec) {
  check_range("vocabulary", spec.input.vocabulary, 1, 1 << 24);
  check_range("context", spec.input.context, 0, 1 << 24);
  const auto labels = static_cast<std::int64_t>(spec.labels.size());
  const bool of_tokens = spec.is_language_model();
  check(!of_tokens || labels == 0 || labels == spec.input.vocabulary, "labels",
        "none, or one a token: " + std::to_string(spec.input.vocabulary), std::to_string(labels));
  check(spec.input.tokenizer != Tokenizer::characters || (of_tokens && labels > 0), "tokenizer",
        "bytes or ids, as the file has no list of characters", "characters");
  check(spec.input.tokenizer != Tokenizer::bytes || spec.input.vocabulary >= 256, "tokenizer",
        "a vocabulary of at least 256 for bytes", std::to_string(spec.input.vocabulary));
  check(spec.layer.form != LayerForm::fastformer_encoder ||
            spec.layer.norm.position == NormPosition::post,
        "norm_position", "post in Fastformer's encoder", option_text(spec, "norm_position"));
  check_range("padding", spec.input.padding, -1, spec.input.vocabulary - 1);
  check(std::isfinite(spec.input.scale), "embedding_scale", "a finite number",
        std::to_string(spec.input.scale));
  check(std::isfinite(spec.readout.logit_scale), "logit_scale", "a finite number",
        std::to_string(spec.readout.logit_scale));
  check(std::isfinite(spec.layer.importance_scale), "importance_scale", "a finite number",
        std::to_string(spec.layer.importance_scale));
  check(spec.arithmetic == Arithmetic::multiplicative, "arithmetic",
        "multiplicative in a model of texts", "adder");
}

}  // namespace

const MechanismChoice& mechanism_of(const ModelSpec& spec, std::int64_t layer) {
  if (!spec.layer_mechanisms.empty()) {
    return spec.layer_mechanisms.at(static_cast<std::size_t>(layer));
  }
  static const MechanismChoice softmax{"softmax", {}};
  const bool multiplicative_block = spec.arithmetic == Arithmetic::adder &&
                                    arithmetic_of(spec, layer) == Arithmetic::multiplicative;
  return multiplicative_block && spec.mechanism.name == "adder" ? softmax : spec.mechanism;
}

Arithmetic arithmetic_of(const ModelSpec& spec, std::int64_t layer) {
  const auto& multiplicative = spec.multiplicative_layers;
  const bool stays =
      std::find(multiplicative.begin(), multiplicative.end(), layer) != multiplicative.end();
  return stays ? Arithmetic::multiplicative : spec.arithmetic;
}

std::optional<double> score_scale(const ModelSpec& spec, std::int64_t layer) {
  double scale = spec.layer.scores.scale.number;
  if (spec.layer.scores.scale.rule == ScoreScale::Rule::head_width) {
    if (!spec.layer.scores.scale_by_layer) return std::nullopt;
    scale = 1 / std::sqrt(static_cast<double>(spec.width_of_head()));
  }
  if (spec.layer.scores.scale.rule == ScoreScale::Rule::width) {
    scale = 1 / std::sqrt(static_cast<double>(spec.width));
  }
  return spec.layer.scores.scale_by_layer ? scale / static_cast<double>(layer + 1) : scale;
}

void validate(const ModelSpec& spec) {
  constexpr std::int64_t most = 1 << 16;
  if (spec.reads_texts()) {
    validate_text(spec);
  } else {
    validate_images(spec);
  }
  check_range("width", spec.width, 1, most);
  check_range("layers", spec.layers, 1, 4096);
  check_range("heads", spec.layer.attention.heads, 1, most);
  check_range("head_width", spec.layer.attention.head_width, 0, most);
  check(spec.layer.attention.head_width > 0 || spec.width % spec.layer.attention.heads == 0,
        "heads", "a divisor of the width, " + std::to_string(spec.width),
        std::to_string(spec.layer.attention.heads));
  check_range("mlp_width", spec.layer.mlp.width, 1, 1 << 20);
  check(std::isfinite(spec.layer.scores.scale.number) && spec.layer.scores.scale.number > 0,
        "scale", "a number above 0", std::to_string(spec.layer.scores.scale.number));
  const bool plain_scores = spec.is_pyramid() || spec.layer.form == LayerForm::fastformer_encoder;
  const bool usual = spec.layer.scores.scale == ScoreScale{} && !spec.layer.scores.scale_by_layer;
  check(usual || !plain_scores, "scale", "head_width^-1/2 in a model of this kind",
        option_text(spec, "scale"));
  const MlpForm mlp = spec.layer.mlp.form;
  check(mlp == MlpForm::plain || !plain_scores, "mlp_form", "plain in a model of this kind",
        option_text(spec, "mlp_form"));
  check(mlp == MlpForm::plain || spec.arithmetic == Arithmetic::multiplicative, "mlp_form",
        "plain in adder arithmetic", option_text(spec, "mlp_form"));
  check(spec.layer.norm.eps >= 0 && spec.layer.norm.eps < 1, "norm_eps", "0 to 1",
        std::to_string(spec.layer.norm.eps));
  check(spec.layer_mechanisms.empty() ||
            static_cast<std::int64_t>(spec.layer_mechanisms.size()) == spec.layers,
        "layer_mechanisms",
        "one for each of the " + std::to_string(spec.layers) + " layers, or none",
        std::to_string(spec.layer_mechanisms.size()));
  for (const std::int64_t layer : spec.multiplicative_layers) {
    check_range("multiplicative_layers", layer, 0, spec.layers - 1);
  }
  check(spec.is_pyramid() == !spec.stages.empty(), "stages", "stages exactly in a pyramid",
        std::to_string(spec.stages.size()) + " stages");
  if (!spec.stages.empty()) validate_stages(spec);
}

}  // namespace attnscope
