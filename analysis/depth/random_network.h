// Transformers with random weights, as they are at initialisation: what depth does to the rank of
// attention maps and to the tokens before anything is learned (Dong, Cordonnier & Loukas 2021; Noci
// et al. 2022; Nait Saada, Naderi & Tanner 2024).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/spectrum/rank.h"
#include "core/parameters/enum_names.h"
#include "core/parameters/parameters.h"
#include "core/progress.h"

namespace attnscope {

/// The place of the norms (x − mean) / √(variance + 1e-6), which have no parameters.
enum class NetworkNorm {
  none,  ///< x ← αx + f(x)
  pre,   ///< x ← αx + f(norm x)
  post   ///< x ← norm(αx + f(x))
};
inline constexpr EnumName<NetworkNorm> network_norm_names[] = {
    {NetworkNorm::none, "none"}, {NetworkNorm::pre, "pre"}, {NetworkNorm::post, "post"}};

/// A network of `depth` layers. Each applies f = attention, then f = MLP(4 · width, GELU), to its
/// tokens. Tokens at the start are N(0, 1); matrices have entries of N(0, 1 / inputs), no biases.
struct RandomNetwork {
  MechanismChoice mechanism = {};
  std::int64_t depth = 12, width = 64, heads = 4, tokens = 64;
  double skip = 1;  ///< α, the factor of the residual stream; 0: none
  bool mlp = true;
  NetworkNorm norm = NetworkNorm::pre;
  bool causal = false;
};

/// Numbers at one depth: of the maps of a layer, means over its heads, and of the tokens after it.
/// NaN where there are none, or not defined.
struct NetworkDepth {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  double rank = kUnknown;        ///< equivalent rank of a map
  double gap = kUnknown;         ///< σ_2 / σ_1 of a map
  double entropy = kUnknown;     ///< mean row entropy of a map over ln n (entropy_share)
  double token_rank = kUnknown;  ///< equivalent rank of the tokens X [N, width]
  double cosine = kUnknown;      ///< mean cosine of two tokens (mean_row_cosine)
  double residual = kUnknown;    ///< ‖X − 1x̄ᵀ‖_F / ‖X‖_F
};

struct NetworkMeasure {
  std::string_view name, title;
  double NetworkDepth::*value;
  bool of_maps = false;       ///< maps begin with layer 1, tokens with depth 0
  bool by_threshold = false;  ///< true for equivalent ranks
};
[[nodiscard]] std::span<const NetworkMeasure> network_measures();

/// The numbers of depths 0 (tokens before the first layer, no maps) to `depth`, one list per seed 0
/// … seeds − 1, on all cores. Random numbers are equal on every machine; networks that differ in
/// nothing but depth share their first layers. Throws Error(usage) if the heads do not divide the
/// width, the mechanism cannot be causal, or it needs learned tensors; Cancelled.
[[nodiscard]] std::vector<std::vector<NetworkDepth>> random_networks(
    const RandomNetwork& network, std::int64_t seeds, const RankThreshold& threshold = {},
    const Progress& progress = {});

/// A number over the seeds for which it is known; NaN without one.
struct OverSeeds {
  double mean = NetworkDepth::kUnknown, least = NetworkDepth::kUnknown,
         greatest = NetworkDepth::kUnknown;
};
[[nodiscard]] OverSeeds over_seeds(const std::vector<std::vector<NetworkDepth>>& networks,
                                   std::size_t depth, const NetworkMeasure& measure);

}  // namespace attnscope
