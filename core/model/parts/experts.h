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

/// y = Σ w_e mlp_e(x) over the k experts with the greatest weights, which are those of a softmax of
/// the router's logits over all experts, divided by their sum if `sums_to_one` (Shazeer et al.
/// 2017; Mixtral: Jiang et al. 2024, 2.1). Only the weights of chosen experts are read.
struct Experts {
  Linear router;          ///< D → E
  std::vector<Mlp> mlps;  ///< [E]
  std::int64_t active = 1;
  bool sums_to_one = true;
  std::optional<Mlp> shared = {};          ///< an MLP whose output is added for every token
  std::optional<Linear> shared_gate = {};  ///< D → 1: times σ of this (Qwen3-Next)

  /// The first of experts with equal weights is taken.
  [[nodiscard]] Routing route(ConstMatrixMap tokens) const;
  /// Maps [N, D] to [N, D]; `recorded`, if not null, receives the routing.
  [[nodiscard]] Tensor operator()(ConstMatrixMap tokens, NamedTensors* recorded) const;
};

}  // namespace attnscope
