// Position biases as in DAFT (Fig. 1, 3, 8 to 10): exp(w) − 1 per layer and head, the bias of one
// query over the image, and measures of sparsity, symmetry and locality.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

/// Bias w of one head of one layer.
struct PositionBias {
  std::int64_t layer = 0, head = 0;
  std::int64_t heads = 1;    ///< number of the layer's bias heads; may differ from the maps' heads
  bool windowed = false;     ///< true if w is a window around each query, else one value per pair
  bool local = false;        ///< true if keys outside the window are not seen (DAFT-local)
  bool causal = false;       ///< true if later keys are not seen
  MatrixD w;                 ///< [N, M], or the window's [rows, columns], one row for a sequence
  std::int64_t queries = 0;  ///< number N of queries
  TokenLayout layout;        ///< layout of queries and keys
};

/// True if the trace recorded position biases.
[[nodiscard]] bool has_position_biases(const Trace& trace);

/// Biases of `layers` (all layers with biases if empty), in order of layer and head. Throws
/// Error(usage) if none was recorded.
[[nodiscard]] std::vector<PositionBias> position_biases(const Trace& trace,
                                                        std::vector<std::int64_t> layers = {});

/// exp(w) − 1: 0 for a neutral position, −1 for one that is not seen.
[[nodiscard]] MatrixD shown_bias(const PositionBias& bias);

/// Bias w of one query to every key, [M]; 0 outside a window, −∞ for keys that are not seen. Throws
/// Error(usage) if the query does not exist.
[[nodiscard]] std::vector<double> query_bias(const PositionBias& bias, std::int64_t query);

struct BiasNumbers {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  std::int64_t layer = 0, head = 0;
  double entropy_nats = 0;  ///< entropy of softmax(w) over all entries; low if sparse (Eq. 10)
  double largest_entropy_nats = 0;  ///< ln(number of entries of w), the value for equal biases
  /// ‖B − Bᵀ‖_F / ‖B‖_F with B = exp(w) − 1, 0 to 2; 0 if B = 0; NaN if w is not square. A window
  /// is compared to its point reflection instead of Bᵀ.
  double symmetry_error = kUnknown;
  /// Σ_j softmax_j(w_ij) · distance(i, j), mean over queries, in tokens of the grid or sequence:
  /// the distance that a query attends to if all keys are equal. Prefix tokens have no position and
  /// do not count; NaN if there are no other tokens.
  double mean_distance_tokens = kUnknown;
  double even_distance_tokens = kUnknown;  ///< mean_distance_tokens for w = 0
  double largest = 0;                      ///< maximum of exp(w) − 1
};

[[nodiscard]] BiasNumbers bias_numbers(const PositionBias& bias);

/// Means over each layer's heads, with `head` −1; each over the heads that have the value.
/// `largest` is the maximum over the heads.
[[nodiscard]] std::vector<BiasNumbers> layer_means(const std::vector<BiasNumbers>& numbers);

}  // namespace attnscope
