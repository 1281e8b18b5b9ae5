// Members of a ModelSpec with their names: the path, which is also the place in the JSON, and the
// option name, which is shorter for members that predate the nested form.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/architecture/model_options.h"
#include "core/architecture/model_spec.h"

namespace attnscope {

/// Names of the enumerators, in the order of their declaration.
template <class Enum>
constexpr std::array<std::string_view, 0> kEnumNames{};
template <>
inline constexpr std::array<std::string_view, 5> kEnumNames<InputKind>{
    "patches", "tokens", "embeddings", "stages", "audio"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<PatchOrder>{"channels_first",
                                                                        "channels_last"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<ResizeFilter>{"bilinear", "bicubic",
                                                                          "lanczos"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<ResizeMode>{"shorter_side", "exact",
                                                                        "padded"};
template <>
inline constexpr std::array<std::string_view, 5> kEnumNames<Tokenizer>{"characters", "bytes",
                                                                       "byte_pairs", "ids", "file"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Positions>{"none", "learned",
                                                                       "sinusoidal"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<SinusoidOrder>{"alternating", "halves",
                                                                           "halves_to_end"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<HeadSplit>{
    "heads_first", "channels_first", "channels_then_heads"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<HeadsNorm>{"over_all", "each_head",
                                                                       "each_difference"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<OutputGate>{"none", "sigmoid", "silu",
                                                                        "silu_inside"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<DecayGate>{"none", "softplus",
                                                                       "log_sigmoid"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Attending>{"self", "class_token",
                                                                       "encoder"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Tail>{"none", "decoder",
                                                                  "class_attention"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<PositionResize>{
    "bicubic", "bicubic_antialiased", "bicubic_offset", "bilinear_corners"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<TableResize>{"geometric", "bilinear"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<LayerForm>{
    "transformer", "fastformer", "fastformer_rescaled", "fastformer_encoder"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Residual>{"sequential", "parallel",
                                                                      "none"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<NormPosition>{"pre", "post", "sandwich",
                                                                          "branch"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Norm>{"layer", "rms", "rms_plus_one"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Rotary>{"none", "half", "pair"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<RotaryGrid>{"sequence", "patches",
                                                                        "cells"};
template <>
inline constexpr std::array<std::string_view, 6> kEnumNames<RotaryScaling>{
    "none", "linear", "dynamic", "llama3", "yarn", "longrope"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<WindowForm>{"before", "around", "chunk",
                                                                        "tiles"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<WindowFilling>{"none", "before_shift",
                                                                           "after_shift", "cut"};
template <>
inline constexpr std::array<std::string_view, 7> kEnumNames<ScoreBias>{
    "none", "alibi", "alibi_bfloat16", "buckets", "table", "decomposed", "disentangled"};
template <>
inline constexpr std::array<std::string_view, 7> kEnumNames<Activation>{
    "gelu", "gelu_tanh", "relu", "quick_gelu", "silu", "relu2", "hard_swish"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<MlpForm>{"plain", "gated", "none"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<ExpertScore>{"softmax", "sigmoid"};
template <>
inline constexpr std::array<std::string_view, 13> kEnumNames<Readout>{"class",
                                                                      "mean",
                                                                      "class_and_distilled",
                                                                      "none",
                                                                      "mean_all",
                                                                      "class_and_mean",
                                                                      "pooler",
                                                                      "last_token",
                                                                      "additive_pooling",
                                                                      "attention_pooling",
                                                                      "next_token",
                                                                      "masked_token",
                                                                      "end_token"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<HeadActivation>{"none", "tanh", "gelu",
                                                                            "relu"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Arithmetic>{"multiplicative", "adder"};

template <class Enum>
[[nodiscard]] std::string_view enum_name(Enum value) {
  return kEnumNames<Enum>.at(static_cast<std::size_t>(value));
}

/// Enumerator with the given name; empty if there is none.
template <class Enum>
[[nodiscard]] std::optional<Enum> enum_named(std::string_view name) {
  const auto& names = kEnumNames<Enum>;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<QkvRows>{"parts_first", "heads_first"};

/// Pointer to a member of a ModelSpec.
using AnyMember =
    std::variant<std::int64_t*, double*, bool*, std::vector<double>*, std::vector<std::string>*,
                 std::vector<std::int64_t>*, std::vector<PyramidStage>*,
                 std::vector<MechanismChoice>*, std::vector<LayerDifference>*, MechanismChoice*,
                 ScoreScale*, InputKind*, PatchOrder*, ResizeFilter*, ResizeMode*, Tokenizer*,
                 Positions*, SinusoidOrder*, HeadSplit*, HeadsNorm*, OutputGate*, DecayGate*,
                 PositionResize*, TableResize*, Attending*, Tail*, LayerForm*, Residual*,
                 NormPosition*, Norm*, Rotary*, RotaryGrid*, RotaryScaling*, WindowForm*,
                 WindowFilling*, ScoreBias*, Activation*, MlpForm*, ExpertScore*, Readout*,
                 HeadActivation*, Arithmetic*>;

struct SpecMember {
  std::string_view name;  ///< option name: "heads"; for some members the path
  std::string_view path;  ///< place in the JSON: "layer.attention.heads"
  AnyMember (*of)(ModelSpec& spec);
  std::string_view explanation;
};

[[nodiscard]] const std::vector<SpecMember>& spec_members();

/// Member with that name or path; null if unknown.
[[nodiscard]] const SpecMember* find_spec_member(std::string_view name_or_path);

/// All member names, for error messages.
[[nodiscard]] std::string spec_member_names();

}  // namespace attnscope
