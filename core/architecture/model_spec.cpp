#include "core/architecture/model_spec.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

#include "core/architecture/layer_validation.h"
#include "core/architecture/model_spec_json.h"
#include "core/architecture/pyramid_grid.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

void validate_stages(const ModelSpec& spec) {
  constexpr std::int64_t most = 1 << 16;
  std::int64_t layers = 0;
  for (const PyramidStage& stage : spec.stages) {
    check_range("stages width", stage.width, 1, most);
    check_range("stages layers", stage.layers, 1, 4096);
    check_range("stages heads", stage.heads, 1, most);
    check_member(stage.width % stage.heads == 0, "stages heads",
                 "a divisor of the width, " + std::to_string(stage.width),
                 std::to_string(stage.heads));
    check_range("stages mlp_width", stage.mlp_width, 1, 1 << 20);
    check_range("stages kernel", stage.kernel, 1, 1024);
    check_range("stages stride", stage.stride, 1, 1024);
    check_range("stages reduction", stage.reduction, 1, 1024);
    check_range("stages pooled", stage.pooled, 0, 1024);
    check_range("stages window", stage.window, 0, 1024);
    layers += stage.layers;
  }
  check_member(layers == spec.layers, "layers", std::to_string(layers) + ", the sum of the stages'",
               std::to_string(spec.layers));
  const PyramidStage& first = spec.stages.front();
  const PyramidStage& last = spec.stages.back();
  check_member(spec.input.patch_height == first.stride && spec.input.patch_width == first.stride,
               "patch_height", std::to_string(first.stride) + ", the first stage's stride",
               std::to_string(spec.input.patch_height));
  check_member(spec.width == last.width, "width", std::to_string(last.width) + ", the last stage's",
               std::to_string(spec.width));
  for (const auto& [name, value] : {std::pair("class_tokens", spec.input.class_tokens),
                                    std::pair("register_tokens", spec.input.register_tokens),
                                    std::pair("patch_stride", spec.input.patch_stride),
                                    std::pair("patch_padding", spec.input.patch_padding)}) {
    check_member(value == 0, name, "0: a pyramid has none", std::to_string(value));
  }
  (void)pyramid_grids(spec);
}

void validate_tail(const ModelSpec& spec) {
  const TailSpec& tail = spec.tail;
  constexpr std::int64_t most = 1 << 16;
  check_member((tail.kind == Tail::none) == (tail.blocks == 0), "tail.blocks",
               "0 if and only if there is no tail", std::to_string(tail.blocks));
  if (tail.kind == Tail::none) return;
  check_range("tail.blocks", tail.blocks, 1, (spec.layers - 1) / tail.layers_of_block());
  check_range("tail.heads", tail.heads, 0, most);
  const std::int64_t inner = spec.width_of_head() * spec.layer.attention.heads;
  check_member(tail.heads == 0 || inner % tail.heads == 0, "tail.heads",
               "a divisor of " + std::to_string(inner), std::to_string(tail.heads));
  check_range("tail.mlp_width", tail.mlp_width, 0, 1 << 20);
  check_range("tail.context", tail.context, 0, 1 << 24);
  check_range("tail.vocabulary", tail.vocabulary, 0, spec.has_decoder() ? 1 << 24 : 0);
  check_range("tail.start_token", tail.start_token, -1, spec.output_vocabulary() - 1);
  check_member(!spec.is_pyramid() && spec.stored_layers == 0 && !spec.layer.scores.causal,
               "tail.kind", "none after these layers", option_text(spec, "tail.kind"));
  check_member(tail.kind != Tail::decoder ||
                   (spec.reads_texts() && spec.readout.gives_token_logits()) ||
                   spec.readout.kind == Readout::none,
               "readout", "next_token or none with a decoder", option_text(spec, "readout"));
  check_member(tail.kind != Tail::class_attention || spec.input.class_tokens == 1, "class_tokens",
               "1 with class attention", std::to_string(spec.input.class_tokens));
}

void validate_stem(const StemSpec& stem) {
  constexpr std::int64_t most = 1 << 12;
  const std::size_t count = stem.widths.size();
  for (const auto& [name, list, least] :
       {std::tuple("input.stem.widths", &stem.widths, std::int64_t{1}),
        std::tuple("input.stem.kernels", &stem.kernels, std::int64_t{1}),
        std::tuple("input.stem.strides", &stem.strides, std::int64_t{1}),
        std::tuple("input.stem.paddings", &stem.paddings, std::int64_t{0})}) {
    check_member(list->size() == count && count <= 64, name,
                 std::to_string(count) + " numbers, one per convolution (at most 64)",
                 std::to_string(list->size()));
    for (const std::int64_t number : *list) check_range(name, number, least, most);
  }
  check_member(stem.norm_eps > 0 && stem.norm_eps < 1, "input.stem.norm_eps", "above 0, below 1",
               std::to_string(stem.norm_eps));
}

void validate_patches(const InputSpec& input) {
  constexpr std::int64_t most = 1 << 16;
  check_range("image_height", input.image_height, input.patch_height, most);
  check_range("image_width", input.image_width, input.patch_width, most);
  check_range("patch_stride", input.patch_stride, 0, most);
  check_range("patch_padding", input.patch_padding, 0,
              std::min(input.patch_height, input.patch_width) / 2);
  const bool stem = !input.stem.widths.empty();
  check_member(!stem || (input.grid_rows() > 0 && input.grid_columns() > 0), "image_height",
               "an image that the stem does not shrink to nothing",
               std::to_string(input.image_height));
  const bool tiles = input.patch_stride == 0 && input.patch_padding == 0 && !stem;
  check_member(!tiles || input.image_height % input.patch_height == 0, "image_height",
               "a multiple of patch_height, " + std::to_string(input.patch_height),
               std::to_string(input.image_height));
  check_member(!tiles || input.image_width % input.patch_width == 0, "image_width",
               "a multiple of patch_width, " + std::to_string(input.patch_width),
               std::to_string(input.image_width));
  const std::int64_t tokens = input.prefix_tokens() + input.grid_rows() * input.grid_columns();
  check_member(tokens <= most, "image_height", "an image of at most 65536 patches",
               std::to_string(tokens) + " tokens");
}

void validate_images(const ModelSpec& spec) {
  constexpr std::int64_t most = 1 << 16;
  check_range("channels", spec.input.channels, 1, 1024);
  check_range("patch_height", spec.input.patch_height, 0, most);
  check_range("patch_width", spec.input.patch_width, 0, most);
  check_member((spec.input.patch_height == 0) == (spec.input.patch_width == 0), "patch_width",
               "0 if and only if patch_height is 0", std::to_string(spec.input.patch_width));
  check_member((spec.input.kind == InputKind::embeddings) == (spec.input.patch_height == 0),
               "input.kind", "embeddings if and only if there are no patches",
               option_text(spec, "input.kind"));
  validate_stem(spec.input.stem);
  const bool stem = !spec.input.stem.widths.empty();
  check_member(!stem || (spec.input.patch_height > 0 && !spec.is_pyramid()), "input.stem.widths",
               "none without patches", option_text(spec, "input.stem.widths"));
  if (spec.input.patch_height > 0) validate_patches(spec.input);
  check_range("class_tokens", spec.input.class_tokens, 0, 2);
  check_range("register_tokens", spec.input.register_tokens, 0, 4096);
  check_member(!spec.readout.gives_token_logits() &&
                   spec.readout.kind != Readout::additive_pooling &&
                   spec.readout.kind != Readout::end_token,
               "readout", "a read-out of images", option_text(spec, "readout"));
  const bool reads_class = spec.readout.kind == Readout::class_token ||
                           spec.readout.kind == Readout::class_and_distilled ||
                           spec.readout.kind == Readout::class_and_mean;
  check_member(!reads_class || spec.input.class_tokens >= 1, "readout",
               "mean or none without class token", option_text(spec, "readout"));
  check_member(spec.readout.kind != Readout::class_and_distilled || spec.input.class_tokens == 2,
               "readout", "two class tokens for class_and_distilled",
               std::to_string(spec.input.class_tokens));
  const auto per_channel = static_cast<std::size_t>(spec.input.channels);
  for (const auto& [name, values] :
       {std::pair("input_mean", &spec.input.mean), std::pair("input_std", &spec.input.std)}) {
    check_member(values->size() == 1 || values->size() == per_channel, name,
                 "one number, or " + std::to_string(per_channel) + " (one per channel)",
                 std::to_string(values->size()));
    const bool divides = std::string_view(name) == "input_std";
    check_member(
        std::all_of(values->begin(), values->end(),
                    [&](double value) { return std::isfinite(value) && (!divides || value > 0); }),
        name, divides ? "positive numbers" : "finite numbers", option_text(spec, name));
  }
  check_member(spec.input.crop_fraction > 0 && spec.input.crop_fraction <= 1, "crop_fraction",
               "above 0, at most 1", std::to_string(spec.input.crop_fraction));
}

void validate_sound(const ModelSpec& spec) {
  constexpr std::int64_t most = 1 << 16;
  const InputSpec& input = spec.input;
  check_range("channels", input.channels, 1, 1024);
  check_range("context", input.context, 1, most);
  for (const auto& [name, value] :
       {std::pair("patch_height", input.patch_height), std::pair("patch_width", input.patch_width),
        std::pair("class_tokens", input.class_tokens),
        std::pair("register_tokens", input.register_tokens)}) {
    check_member(value == 0, name, "0 in a model of sounds", std::to_string(value));
  }
  check_member(spec.readout.kind == Readout::none, "readout", "none in a model of sounds",
               option_text(spec, "readout"));
  check_member(spec.positions.kind == Positions::learned, "positions",
               "learned in a model of sounds", option_text(spec, "positions"));
}

void validate_text(const ModelSpec& spec) {
  check_range("vocabulary", spec.input.vocabulary, 1, 1 << 24);
  check_range("context", spec.input.context, 0, 1 << 24);
  check_range("input.token_types", spec.input.token_types, 0, 1 << 16);
  check_member(
      spec.readout.kind == Readout::pooler || spec.readout.kind == Readout::none ||
          spec.readout.kind == Readout::last_token || spec.readout.kind == Readout::class_token ||
          spec.readout.kind == Readout::mean_all || spec.readout.kind == Readout::end_token ||
          spec.readout.kind == Readout::additive_pooling || spec.readout.gives_token_logits(),
      "readout", "a read-out of texts", option_text(spec, "readout"));
  const auto labels = static_cast<std::int64_t>(spec.labels.size());
  const bool of_tokens = spec.readout.gives_token_logits();
  check_member(!of_tokens || labels == 0 || labels == spec.output_vocabulary(), "labels",
               "none, or one per token: " + std::to_string(spec.output_vocabulary()),
               std::to_string(labels));
  check_member(spec.input.tokenizer != Tokenizer::characters || (of_tokens && labels > 0),
               "tokenizer", "bytes or ids, as the file has no list of characters", "characters");
  check_member(spec.input.tokenizer != Tokenizer::bytes || spec.input.vocabulary >= 256,
               "tokenizer", "a vocabulary of at least 256 for bytes",
               std::to_string(spec.input.vocabulary));
  check_range("readout.end_token", spec.readout.end_token, -1, spec.input.vocabulary - 1);
  check_range("padding", spec.input.padding, -1, spec.input.vocabulary - 1);
  check_member(!spec.input.pads_to_context || (spec.input.padding >= 0 && spec.input.context > 0),
               "padding", "a token that pads texts to the context",
               std::to_string(spec.input.padding));
  check_member(std::isfinite(spec.input.scale), "embedding_scale", "a finite number",
               std::to_string(spec.input.scale));
  check_member(std::isfinite(spec.readout.logit_scale), "logit_scale", "a finite number",
               std::to_string(spec.readout.logit_scale));
  check_member(spec.arithmetic == Arithmetic::multiplicative, "arithmetic",
               "multiplicative in a model of texts", "adder");
}

}  // namespace

LayerPlace place_of_layer(const ModelSpec& spec, std::int64_t layer) {
  if (spec.tail.kind != Tail::none && layer >= spec.body_layers()) {
    return {.stage = 1, .block = layer - spec.body_layers()};
  }
  LayerPlace place{.stage = 0, .block = layer};
  while (place.stage < spec.stages.size() && place.block >= spec.stages[place.stage].layers) {
    place.block -= spec.stages[place.stage].layers;
    ++place.stage;
  }
  return place;
}

std::int64_t stored_layer(const ModelSpec& spec, std::int64_t layer) {
  if (spec.stored_layers == 0) return layer;
  const double runs = static_cast<double>(spec.layers) / static_cast<double>(spec.stored_layers);
  return static_cast<std::int64_t>(static_cast<double>(layer) / runs);
}

std::int64_t width_of_layer(const ModelSpec& spec, std::int64_t layer) {
  return spec.stages.empty() ? spec.width : spec.stages[place_of_layer(spec, layer).stage].width;
}

std::int64_t width_of_head(const LayerSpec& layer, std::int64_t width) {
  const AttentionSpec& attention = layer.attention;
  return attention.head_width ? attention.head_width : width / attention.heads;
}

const MechanismChoice& mechanism_of(const ModelSpec& spec, std::int64_t layer) {
  if (!spec.layer_mechanisms.empty()) {
    return spec.layer_mechanisms.at(static_cast<std::size_t>(layer));
  }
  static const MechanismChoice softmax{"softmax", {}};
  if (spec.tail.kind == Tail::class_attention && layer >= spec.body_layers()) return softmax;
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

std::optional<double> score_scale(const ModelSpec& spec, std::int64_t index) {
  const LayerSpec layer = layer_of(spec, index);
  const ScoreSpec& scores = layer.scores;
  double scale = scores.scale.number;
  if (scores.scale.rule == ScoreScale::Rule::head_width) {
    const bool disentangled = scores.bias == ScoreBias::disentangled;
    if (!scores.scale_by_layer && !disentangled) return std::nullopt;
    // Disentangled scores sum three products instead of one (He et al. 2021, section 3.1).
    const double products = disentangled ? 3 : 1;
    scale = 1 / std::sqrt(products * static_cast<double>(width_of_head(layer, spec.width)));
  }
  if (scores.scale.rule == ScoreScale::Rule::width) {
    scale = 1 / std::sqrt(static_cast<double>(spec.width));
  }
  return scores.scale_by_layer ? scale / static_cast<double>(index + 1) : scale;
}

void validate(const ModelSpec& spec) {
  constexpr std::int64_t most = 1 << 16;
  if (spec.reads_texts()) {
    validate_text(spec);
  } else if (spec.is_audio()) {
    validate_sound(spec);
  } else {
    validate_images(spec);
  }
  check_range("width", spec.width, 1, most);
  check_range("layers", spec.layers, 1, 4096);
  check_range("stored_layers", spec.stored_layers, 0, spec.reads_texts() ? spec.layers : 0);
  check_range("input.width", spec.input.width, 0, most);
  check_range("positions.offset", spec.positions.offset, 0, most);
  const bool sinusoids = spec.positions.kind == Positions::sinusoidal;
  check_member(!sinusoids || spec.reads_texts() || spec.input.kind == InputKind::embeddings,
               "positions", "learned or none in a model of images", "sinusoidal");
  check_member(sinusoids || spec.positions.sinusoid_order == SinusoidOrder::alternating,
               "positions.sinusoid_order", "alternating unless positions are sinusoidal",
               option_text(spec, "positions.sinusoid_order"));
  check_member(spec.readout.soft_cap >= 0, "readout.soft_cap", "0, or a number above it",
               std::to_string(spec.readout.soft_cap));
  validate_layer(spec, spec.layer);
  validate_tail(spec);
  const bool alike = spec.differences.empty() && spec.tail.kind == Tail::none;
  for (std::int64_t layer = 0; !alike && layer < spec.layers; ++layer) {
    const LayerSpec differing = layer_of(spec, layer);
    validate_layer(spec, differing);
    if (layer >= spec.body_layers()) continue;
    check_member(
        differing.scores.causal == spec.layer.scores.causal && differing.form == spec.layer.form,
        "differences", "the same form, causal in all layers or in none",
        "layer " + std::to_string(layer));
  }
  check_member(spec.layer_mechanisms.empty() ||
                   static_cast<std::int64_t>(spec.layer_mechanisms.size()) == spec.layers,
               "layer_mechanisms",
               "one for each of the " + std::to_string(spec.layers) + " layers, or none",
               std::to_string(spec.layer_mechanisms.size()));
  for (const std::int64_t layer : spec.multiplicative_layers) {
    check_range("multiplicative_layers", layer, 0, spec.layers - 1);
  }
  check_member(spec.is_pyramid() == !spec.stages.empty(), "stages",
               "stages if and only if the model is a pyramid",
               std::to_string(spec.stages.size()) + " stages");
  if (!spec.stages.empty()) validate_stages(spec);
}

}  // namespace attnscope
