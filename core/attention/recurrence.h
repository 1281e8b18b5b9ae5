// Attention by a state that is carried from token to token, and its exact map.
#pragma once

#include <functional>
#include <string_view>

#include "core/attention/mechanism.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// One head of
///
///   S_t = diag(α_t) S_{t−1} + k_t u_tᵀ,  o_t = S_tᵀ q_t,  u_t = β_t v_t,
///
/// or with the delta rule u_t = β_t (v_t − (diag(α_t) S_{t−1})ᵀ k_t): only what the state does not
/// yet return for the key is written.
struct Recurrence {
  MatrixD queries;            ///< [N, d], scaled
  MatrixD keys;               ///< [N, d]
  MatrixD log_decays;         ///< [N, d], ln α ≤ 0; [N, 1] if all channels decay alike
  Eigen::VectorXd strengths;  ///< [N], β
};

/// The recurrence of a head. Called from several threads at once.
using RecurrentHeads = std::function<Recurrence(std::int64_t head)>;

struct RecurrentProperties {
  std::string_view name;  ///< name of the mechanism
  /// The recurrences of an input whose shapes fit. Throws Error(usage). The input outlives the
  /// result.
  std::function<RecurrentHeads(const AttentionInput&)> heads;
  bool delta = false;  ///< the delta rule
  /// In layers that are not causal a second recurrence runs from the last token to the first, and
  /// weights on the diagonal count once. Needs the same decays for all tokens. Otherwise every
  /// layer is causal.
  bool both_ways = false;
};

/// The mechanism with these recurrences. It needs O(N·d) memory per head for its output.
[[nodiscard]] std::unique_ptr<Mechanism> make_recurrent(RecurrentProperties properties);

}  // namespace attnscope
