// Position biases as DAFT shows them: exp(w) − 1 of every layer and head, what one query's look
// like over the image, and how sparse, symmetric and local they are (DAFT, Fig. 1, 3, 8 to 10).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

/// w of one head at one layer.
struct PositionBias {
  std::int64_t layer = 0, head = 0;
  std::int64_t heads = 1;    ///< of that layer's biases, which need not be the maps'
  bool windowed = false;     ///< w is given for a window around each query, else for every pair
  bool local = false;        ///< what lies outside the window is not seen at all (DAFT-local)
  bool causal = false;       ///< nor is what comes later
  MatrixD w;                 ///< [N, M], or the window's [rows, columns]; one row: a sequence's
  std::int64_t queries = 0;  ///< N
  TokenLayout layout;        ///< of queries and keys
};

/// Whether a trace recorded position biases.
[[nodiscard]] bool has_position_biases(const Trace& trace);

/// Those of `layers` (all that recorded any if empty), in order of layer and head. Throws
/// Error(usage) if none was recorded.
[[nodiscard]] std::vector<PositionBias> position_biases(const Trace& trace,
                                                        std::vector<std::int64_t> layers = {});

/// exp(w) − 1: 0 where a position is neither favoured nor avoided; −1 where it is not seen.
[[nodiscard]] MatrixD shown_bias(const PositionBias& bias);

/// w of one query to every key, [M]; 0 outside a window, −∞ for what is not seen. Throws
/// Error(usage) for a query that is not there.
[[nodiscard]] std::vector<double> query_bias(const PositionBias& bias, std::int64_t query);

struct BiasNumbers {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  std::int64_t layer = 0, head = 0;
  double entropy_nats = 0;          ///< of softmax(w) over all of w: the sparser, the less (Eq. 10)
  double largest_entropy_nats = 0;  ///< ln of the entries of w: of equal biases
  /// ‖B − Bᵀ‖_F / ‖B‖_F of B = exp(w) − 1, 0 to 2; of B = 0, which is symmetric, 0; NaN if w is not
  /// square. Of a window: towards a token and away from it.
  double symmetry_error = kUnknown;
  /// Σ_j softmax_j(w_ij) · distance(i, j), mean over queries, in tokens of the grid (or sequence):
  /// how far a query looks where all keys are equal. Prefix tokens lie nowhere and do not count;
  /// NaN where there are no others.
  double mean_distance_tokens = kUnknown;
  double even_distance_tokens = kUnknown;  ///< the same where w is 0
  double largest = 0;                      ///< of exp(w) − 1
};

[[nodiscard]] BiasNumbers bias_numbers(const PositionBias& bias);

/// The mean over a layer's heads, each number over those that have it; `head` is −1.
[[nodiscard]] std::vector<BiasNumbers> layer_means(const std::vector<BiasNumbers>& numbers);

}  // namespace attnscope
