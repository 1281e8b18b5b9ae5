// Validates the members of a specification.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/architecture/model_spec.h"
#include "core/architecture/model_spec_json.h"
#include "core/architecture/pyramid_grid.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

/// Throws Error(damaged) naming the member unless least <= value <= most.
void check_range(std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw Error(ErrorKind::damaged, "the value is out of range")
      .about(std::string(name))
      .expected(std::to_string(least) + " to " + std::to_string(most))
      .found(std::to_string(value));
}

/// Throws Error(damaged) naming the member unless `holds`; `what` describes the valid values.
void check_member(bool holds, std::string_view name, std::string what, std::string found) {
  if (holds) return;
  throw Error(ErrorKind::damaged, "the value is out of range")
      .about(std::string(name))
      .expected(std::move(what))
      .found(std::move(found));
}

// ---- one layer ----

constexpr std::int64_t kMost = 1 << 16;
constexpr std::int64_t kMostTokens = 1 << 24;

void check_positive(std::string_view name, double value) {
  check_member(std::isfinite(value) && value > 0, name, "a number above 0", std::to_string(value));
}

void check_not_negative(std::string_view name, double value) {
  check_member(std::isfinite(value) && value >= 0, name, "0, or a number above it",
               std::to_string(value));
}

void validate_attention(const ModelSpec& spec, const AttentionSpec& attention) {
  check_range("heads", attention.heads, 1, kMost);
  check_range("head_width", attention.head_width, 0, kMost);
  check_member(attention.head_width > 0 || spec.width % attention.heads == 0, "heads",
               "a divisor of the width, " + std::to_string(spec.width),
               std::to_string(attention.heads));
  check_range("layer.attention.key_heads", attention.key_heads, 0, attention.heads);
  check_member(attention.key_heads == 0 || attention.heads % attention.key_heads == 0,
               "layer.attention.key_heads",
               "a divisor of the heads, " + std::to_string(attention.heads),
               std::to_string(attention.key_heads));
}

/// Validates members of layers with halves, gates or values of their own width.
void validate_recurrent(const ModelSpec& spec, const LayerSpec& layer) {
  const AttentionSpec& attention = layer.attention;
  check_range("layer.attention.value_width", attention.value_width, 0, kMost);
  check_range("layer.attention.query_heads", attention.query_heads, 0, attention.heads);
  check_member(attention.query_heads == 0 || attention.heads % attention.query_heads == 0,
               "layer.attention.query_heads",
               "a divisor of the heads, " + std::to_string(attention.heads),
               std::to_string(attention.query_heads));
  check_positive("layer.attention.decay_divisor", attention.decay_divisor);
  const bool plain = layer.form == LayerForm::transformer && !spec.is_pyramid() &&
                     attention.of == Attending::self &&
                     attention.head_split == HeadSplit::heads_first &&
                     layer.scores.window_form != WindowForm::tiles &&
                     spec.arithmetic == Arithmetic::multiplicative;
  const auto only_plain = [&](bool usual, std::string_view name, const char* what) {
    check_member(usual || plain, name, std::string(what) + " in layers of this kind",
                 "another value");
  };
  only_plain(attention.value_width == 0, "layer.attention.value_width", "0");
  only_plain(attention.query_heads == 0, "layer.attention.query_heads", "0");
  only_plain(!attention.halves, "layer.attention.halves", "false");
  only_plain(attention.heads_norm == HeadsNorm::over_all, "layer.attention.heads_norm", "over_all");
  const bool of_stages = spec.is_pyramid() && spec.arithmetic == Arithmetic::multiplicative;
  only_plain(attention.gate == OutputGate::none || of_stages, "layer.attention.gate", "none");
  only_plain(attention.decay == DecayGate::none, "layer.attention.decay", "none");
  check_member(!attention.halves || width_of_head(layer, spec.width) % 2 == 0, "head_width",
               "an even number, with halves", std::to_string(width_of_head(layer, spec.width)));
}

/// Validates layers whose keys and values are computed from latents.
void validate_latents(const ModelSpec& spec, const LayerSpec& layer) {
  const AttentionSpec& attention = layer.attention;
  check_range("layer.attention.latent_width", attention.latent_width, 0, kMost);
  check_range("layer.attention.query_latent_width", attention.query_latent_width, 0, kMost);
  if (attention.latent_width == 0) {
    check_range("layer.attention.query_latent_width", attention.query_latent_width, 0, 0);
    return;
  }
  const bool plain = spec.reads_texts() && layer.form == LayerForm::transformer &&
                     attention.of == Attending::self && !attention.halves && !attention.cosine &&
                     attention.head_split == HeadSplit::heads_first && attention.query_heads == 0 &&
                     attention.gate == OutputGate::none && attention.decay == DecayGate::none &&
                     layer.scores.bias != ScoreBias::disentangled;
  check_member(plain, "layer.attention.latent_width", "0 in layers of this kind",
               std::to_string(attention.latent_width));
  check_member(layer.key_heads() == attention.heads, "layer.attention.key_heads",
               "as many as heads, with a latent", std::to_string(layer.key_heads()));
  check_member(layer.rotary.form != Rotary::none, "layer.rotary.form",
               "half or pair, with a latent", "none");
  check_range("layer.rotary.width", layer.rotary.width, 2, width_of_head(layer, spec.width) - 1);
}

/// Validates members that only transformer layers with a residual connection can have.
void validate_variations(const ModelSpec& spec, const LayerSpec& layer) {
  check_positive("layer.residual_scale", layer.residual_scale);
  check_positive("layer.branch_scale", layer.branch_scale);
  const bool transformer = layer.form == LayerForm::transformer;
  for (const auto& [name, scale] : {std::pair("layer.residual_scale", layer.residual_scale),
                                    std::pair("layer.branch_scale", layer.branch_scale)}) {
    check_member(scale == 1 || (transformer && layer.residual != Residual::none), name,
                 "1 in layers of this kind", std::to_string(scale));
  }
  const bool plain = transformer && layer.scores.bias != ScoreBias::disentangled;
  check_member(!layer.attention.cosine || plain, "layer.attention.cosine",
               "false in layers of this kind", "true");
  const bool split = layer.attention.head_split != HeadSplit::heads_first;
  check_member(!split || (plain && spec.arithmetic == Arithmetic::multiplicative),
               "layer.attention.head_split", "heads_first in layers of this kind", "another value");
}

void validate_rotary(const ModelSpec& spec, const LayerSpec& layer) {
  const RotarySpec& rotary = layer.rotary;
  if (rotary.form == Rotary::none) return;
  check_positive("layer.rotary.theta", rotary.theta);
  check_range("layer.rotary.width", rotary.width, 0, width_of_head(layer, spec.width));
  check_member(rotary.grid == RotaryGrid::sequence || spec.input.kind == InputKind::patches,
               "layer.rotary.grid", "sequence in a model without patches", "patches");
  check_range("layer.rotary.trained_side", rotary.trained_side, 0, kMost);
  check_not_negative("layer.rotary.attention_factor", rotary.attention_factor);
  const std::vector<std::int64_t>& sections = rotary.sections;
  for (const std::int64_t pairs : sections) check_range("layer.rotary.sections", pairs, 0, kMost);
  const std::int64_t turned = rotary.width ? rotary.width : width_of_head(layer, spec.width);
  const std::int64_t pairs = std::accumulate(sections.begin(), sections.end(), std::int64_t{0});
  check_member(
      sections.empty() || (sections.size() == 3 && 2 * pairs == turned && spec.reads_texts()),
      "layer.rotary.sections",
      "none, or three numbers in a model of texts whose sum is " + std::to_string(turned / 2),
      std::to_string(pairs));
  if (rotary.scaling == RotaryScaling::none) return;
  check_member(rotary.grid == RotaryGrid::sequence, "layer.rotary.scaling",
               "none for rotary positions on patches", "another value");
  check_positive("layer.rotary.factor", rotary.factor);
  if (rotary.scaling == RotaryScaling::linear) return;
  check_range("layer.rotary.trained_context", rotary.trained_context, 2, kMostTokens);
  if (rotary.scaling == RotaryScaling::llama3) {
    check_positive("layer.rotary.low_frequency", rotary.low_frequency);
    check_member(rotary.high_frequency > rotary.low_frequency, "layer.rotary.high_frequency",
                 "more than low_frequency", std::to_string(rotary.high_frequency));
  }
  if (rotary.scaling == RotaryScaling::yarn) {
    check_positive("layer.rotary.beta_slow", rotary.beta_slow);
    check_positive("layer.rotary.beta_fast", rotary.beta_fast);
    check_member(rotary.theta > 1, "layer.rotary.theta", "more than 1 with yarn",
                 std::to_string(rotary.theta));
  }
  for (const double factor : rotary.short_factors) check_positive("short_factors", factor);
  for (const double factor : rotary.long_factors) check_positive("long_factors", factor);
}

void validate_scores(const ModelSpec& spec, const ScoreSpec& scores) {
  check_positive("scale", scores.scale.number);
  check_not_negative("layer.scores.soft_cap", scores.soft_cap);
  check_range("layer.scores.window", scores.window, 0, kMostTokens);
  check_positive("layer.scores.alibi_maximum", scores.alibi_maximum);
  check_range("layer.scores.buckets", scores.buckets, 4, kMost);
  const bool own_buckets = scores.bias == ScoreBias::disentangled && scores.bucket_distance == 0;
  check_range("layer.scores.bucket_distance", scores.bucket_distance,
              own_buckets ? 0 : scores.buckets, kMostTokens);
  check_member(
      scores.bias != ScoreBias::disentangled ||
          (spec.reads_texts() && !scores.causal &&
           spec.layer.key_heads() == spec.layer.attention.heads),
      "layer.scores.bias",
      "another value, unless a bidirectional model of texts has as many key heads as heads",
      "disentangled");
  check_member(
      scores.bias != ScoreBias::table || spec.input.kind == InputKind::patches || spec.is_pyramid(),
      "layer.scores.bias", "no table in a model without patches", "table");
}

/// Validates tiles and decomposed biases, which need an input of patches without other tokens.
void validate_grid_scores(const ModelSpec& spec, const LayerSpec& layer) {
  const ScoreSpec& scores = layer.scores;
  const bool tiles = scores.window > 0 && scores.window_form == WindowForm::tiles;
  const bool decomposed = scores.bias == ScoreBias::decomposed;
  if (!tiles && !decomposed) return;
  check_member(spec.input.kind == InputKind::patches && spec.input.prefix_tokens() == 0,
               decomposed ? "layer.scores.bias" : "layer.scores.window_form",
               "another value, unless all tokens are patches", decomposed ? "decomposed" : "tiles");
  check_member(!scores.causal, "causal", "false with scores on a grid", "true");
  check_member(!tiles || decomposed || scores.bias == ScoreBias::none, "layer.scores.bias",
               "none or decomposed within tiles", "another value");
  const bool cut = scores.window_filling == WindowFilling::cut;
  check_member(!tiles || layer.rotary.form == Rotary::none ||
                   (cut && layer.rotary.grid != RotaryGrid::sequence),
               "layer.rotary.form", "none within padded tiles", "another value");
}

/// Validates class attention: the class token is not on the grid and has no position.
void validate_class_attention(const LayerSpec& layer) {
  if (layer.attention.of != Attending::class_token) return;
  check_member(layer.scores.bias == ScoreBias::none, "layer.scores.bias",
               "none with class attention", "another value");
  check_range("layer.scores.window", layer.scores.window, 0, 0);
  check_member(layer.rotary.form == Rotary::none, "layer.rotary.form", "none with class attention",
               "another value");
  check_member(layer.residual == Residual::sequential, "layer.residual",
               "sequential with class attention", "another value");
}

/// Validates pyramids and Fastformer layers, which allow only one form.
void check_plain(const ModelSpec& spec, const LayerSpec& layer) {
  const bool rescaled = layer.form == LayerForm::fastformer_encoder || spec.is_pyramid();
  if (!rescaled && layer.form == LayerForm::transformer) return;
  const ScoreSpec& scores = layer.scores;
  const auto check = [](bool holds, std::string_view name, const char* what) {
    check_member(holds, name, std::string(what) + " in a model of this kind", "another value");
  };
  check(!rescaled || (scores.scale == ScoreScale{} && !scores.scale_by_layer), "scale",
        "head_width^-1/2");
  check(!rescaled || layer.mlp.form == MlpForm::plain, "mlp_form", "plain");
  check(layer.residual == Residual::sequential, "layer.residual", "sequential");
  check(layer.key_heads() == layer.attention.heads, "layer.attention.key_heads", "0");
  check(layer.rotary.form == Rotary::none, "layer.rotary.form", "none");
  check(scores.soft_cap == 0, "layer.scores.soft_cap", "0");
  check(scores.window == 0, "layer.scores.window", "0");
  const bool windows = spec.shifts_windows();
  check(scores.bias == ScoreBias::none || windows, "layer.scores.bias", "none");
  const NormPosition position =
      layer.form == LayerForm::fastformer_encoder ? NormPosition::post : NormPosition::pre;
  check(layer.norm.position == position, "norm_position",
        position == NormPosition::pre ? "pre" : "post");
}

void validate_mlp(const ModelSpec& spec, const LayerSpec& layer) {
  const MlpSpec& mlp = layer.mlp;
  check_range("mlp_width", mlp.width, 1, 1 << 20);
  check_member(mlp.form == MlpForm::plain || spec.arithmetic == Arithmetic::multiplicative,
               "mlp_form", "plain in adder arithmetic", "another value");
  check_not_negative("layer.mlp.clip", mlp.clip);
  check_member(mlp.clip == 0 || mlp.form == MlpForm::gated, "layer.mlp.clip", "0 without gates",
               std::to_string(mlp.clip));
  check_range("layer.mlp.experts", mlp.experts, 0, kMost);
  if (mlp.experts == 0) return;
  check_range("layer.mlp.active_experts", mlp.active_experts, 1, mlp.experts);
  check_positive("layer.mlp.expert_scale", mlp.expert_scale);
  check_range("layer.mlp.shared_width", mlp.shared_width, 0, 1 << 20);
  check_range("layer.mlp.expert_groups", mlp.expert_groups, 1, mlp.experts);
  check_member(mlp.experts % mlp.expert_groups == 0, "layer.mlp.expert_groups",
               "a divisor of the experts, " + std::to_string(mlp.experts),
               std::to_string(mlp.expert_groups));
  const std::int64_t each = mlp.experts / mlp.expert_groups;
  check_range("layer.mlp.group_best", mlp.group_best, 1, mlp.expert_groups > 1 ? each : kMost);
  check_range("layer.mlp.active_groups", mlp.active_groups, 1, mlp.expert_groups);
  check_member(mlp.expert_groups == 1 || mlp.active_experts <= mlp.active_groups * each,
               "layer.mlp.active_experts",
               "at most the " + std::to_string(mlp.active_groups * each) + " of the active groups",
               std::to_string(mlp.active_experts));
  check_member(spec.reads_texts() && spec.arithmetic == Arithmetic::multiplicative &&
                   mlp.form != MlpForm::none,
               "layer.mlp.experts", "0 unless the layers of a model of texts have MLPs",
               std::to_string(mlp.experts));
}

void validate_layer(const ModelSpec& spec, const LayerSpec& layer) {
  validate_attention(spec, layer.attention);
  validate_variations(spec, layer);
  validate_recurrent(spec, layer);
  validate_latents(spec, layer);
  validate_rotary(spec, layer);
  validate_scores(spec, layer.scores);
  validate_grid_scores(spec, layer);
  validate_class_attention(layer);
  validate_mlp(spec, layer);
  check_member(layer.norm.eps >= 0 && layer.norm.eps < 1, "norm_eps", "0 to 1",
               std::to_string(layer.norm.eps));
  check_member(layer.residual != Residual::parallel || layer.norm.position == NormPosition::pre,
               "norm_position", "pre with a parallel residual", "another value");
  check_member(std::isfinite(layer.importance_scale), "importance_scale", "a finite number",
               std::to_string(layer.importance_scale));
  check_plain(spec, layer);
}

// ---- the whole model ----

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

/// Validates members of images that keep their sizes.
void validate_sizes(const InputSpec& input) {
  check_range("frames", input.frames, 1, 64);
  check_range("most_pixels", input.most_pixels, 0, std::int64_t{1} << 28);
  if (!input.keeps_sizes()) return;
  check_range("least_pixels", input.least_pixels, 0, input.most_pixels);
  const std::int64_t step = input.size_step;
  check_range("size_step", step, 1, 1 << 12);
  const bool whole = step % input.patch_height == 0 && step % input.patch_width == 0;
  check_member(whole && input.patch_stride == 0 && input.patch_padding == 0 &&
                   input.stem.widths.empty() && input.prefix_tokens() == 0,
               "size_step", "a multiple of the sides of the patches, which tile the image alone",
               std::to_string(step));
  check_member(step * step <= input.most_pixels, "most_pixels",
               "at least " + std::to_string(step * step), std::to_string(input.most_pixels));
}

void validate_patches(const InputSpec& input) {
  constexpr std::int64_t most = 1 << 16;
  validate_sizes(input);
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
  check_range("input.dropped_token", spec.input.dropped_token, -1, spec.input.vocabulary - 1);
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
