#include "core/architecture/layer_validation.h"

#include <cmath>

#include "core/architecture/model_spec_json.h"
#include "core/error.h"

namespace attnscope {

namespace {

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

/// Validates members that only transformer layers with a residual connection can have.
void validate_variations(const ModelSpec& spec, const LayerSpec& layer) {
  check_positive("layer.residual_scale", layer.residual_scale);
  const bool transformer = layer.form == LayerForm::transformer;
  check_member(layer.residual_scale == 1 || (transformer && layer.residual != Residual::none),
               "layer.residual_scale", "1 in layers of this kind",
               std::to_string(layer.residual_scale));
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
  check_member(!tiles || layer.rotary.form == Rotary::none, "layer.rotary.form",
               "none within tiles", "another value");
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

}  // namespace

void check_range(std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw Error(ErrorKind::damaged, "the value is out of range")
      .about(std::string(name))
      .expected(std::to_string(least) + " to " + std::to_string(most))
      .found(std::to_string(value));
}

void check_member(bool holds, std::string_view name, std::string what, std::string found) {
  if (holds) return;
  throw Error(ErrorKind::damaged, "the value is out of range")
      .about(std::string(name))
      .expected(std::move(what))
      .found(std::move(found));
}

void validate_layer(const ModelSpec& spec, const LayerSpec& layer) {
  validate_attention(spec, layer.attention);
  validate_variations(spec, layer);
  validate_rotary(spec, layer);
  validate_scores(spec, layer.scores);
  validate_grid_scores(spec, layer);
  validate_class_attention(layer);
  check_range("mlp_width", layer.mlp.width, 1, 1 << 20);
  check_member(layer.mlp.form == MlpForm::plain || spec.arithmetic == Arithmetic::multiplicative,
               "mlp_form", "plain in adder arithmetic", "another value");
  check_member(layer.norm.eps >= 0 && layer.norm.eps < 1, "norm_eps", "0 to 1",
               std::to_string(layer.norm.eps));
  check_member(layer.residual != Residual::parallel || layer.norm.position == NormPosition::pre,
               "norm_position", "pre with a parallel residual", "another value");
  check_member(std::isfinite(layer.importance_scale), "importance_scale", "a finite number",
               std::to_string(layer.importance_scale));
  check_plain(spec, layer);
}

}  // namespace attnscope
