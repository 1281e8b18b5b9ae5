// Mixtures of experts: MLPs of which a router chooses some for each token.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/attention/mechanism.h"
#include "core/model/parts/linear.h"
#include "core/model/parts/mlp.h"

namespace attnscope {

/// The k experts of each of N tokens, by falling weight.
struct Routing {
  Tensor experts;  ///< [N, k], their numbers
  Tensor weights;  ///< [N, k]
};

/// Names of the quantities of a layer in which a trace keeps its Routing, and the number of tokens
/// of each expert [E].
inline constexpr const char* kExpertNumbers = "experts";
inline constexpr const char* kExpertWeights = "expert_weights";
inline constexpr const char* kExpertLoads = "expert_loads";

/// y = Σ w_e mlp_e(x) + shared(x) over k experts. Scores are a softmax of the router's logits over
/// all experts, or sigmoids; the k experts have the greatest scores + corrections within the chosen
/// groups, and their weights are `scale` times their scores, which are first divided by their sum
/// if `sums_to_one` (Shazeer et al. 2017; Mixtral: Jiang et al. 2024, 2.1; DeepSeek-V3: 2.1.2).
/// Only the weights of chosen experts are read.
struct Experts {
  Linear router;          ///< D → E
  std::vector<Mlp> mlps;  ///< [E]
  std::int64_t active = 1;
  bool sums_to_one = true;
  ExpertScore score = ExpertScore::softmax;
  float scale = 1;
  /// MlpSpec::expert_groups, MlpSpec::active_groups, MlpSpec::group_best
  std::int64_t groups = 1, active_groups = 1, group_best = 1;
  std::vector<float> corrections = {};               ///< [E], only for the choice; empty: none
  std::optional<Mlp> shared = std::nullopt;          ///< for all tokens
  std::optional<Linear> shared_gate = std::nullopt;  ///< D → 1: times σ of this (Qwen3-Next)

  /// The first of experts with equal scores is taken.
  [[nodiscard]] Routing route(ConstMatrixMap tokens) const;
  /// Maps [N, D] to [N, D]; `recorded`, if not null, receives the routing.
  [[nodiscard]] Tensor operator()(ConstMatrixMap tokens, NamedTensors* recorded) const;
};

}  // namespace attnscope
