// The mixing matrices of a run that a request names, with their shares and ratios.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/mixing/mixing.h"

namespace attnscope {

/// Name of the measure of value_zeroing, next to those of mixing_names.
inline constexpr std::string_view kValueZeroing = "value-zeroing";
/// The names of all measures.
[[nodiscard]] std::vector<std::string> mixing_words();

struct MixingRequest {
  std::string by = "norms";  ///< one of mixing_words
  bool rollout = false;      ///< one matrix through all layers, by mixing_rollout
  /// Selected layers, and heads of head-norms, from 0; all if empty.
  std::vector<std::int64_t> layers = {}, heads = {};

  /// True if each head has a matrix of its own.
  [[nodiscard]] bool is_by_head() const;
};

/// The matrix of one layer and head. Layer −1: through all layers; head −1: of all heads together.
struct MixedMatrix {
  std::int64_t layer = -1, head = -1;
  MatrixD matrix;    ///< [N, M], rows are the receiving tokens
  double ratio = 0;  ///< mean of the layer's mixing_ratios; NaN for a rollout
  MixingShares shares = mixing_shares(matrix);
};

/// Computes the matrices. Errors name the arguments with `prefix`, "--" for options. Throws
/// Error(usage) for an unknown measure, for layers or heads that do not exist and for heads without
/// head-norms, and the errors of mixing_of, mixing_rollout and value_zeroing.
[[nodiscard]] std::vector<MixedMatrix> mixed_matrices(const Subject& subject,
                                                      const MixingRequest& request,
                                                      const std::string& prefix = {},
                                                      const Progress& progress = {});
/// Throws Error(usage) for heads that are selected without head-norms.
void check_mixing(const MixingRequest& request, const std::string& prefix = {});

}  // namespace attnscope
