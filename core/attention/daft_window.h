// DAFT with position biases in a window around each token: DAFT-conv and its variants (DAFT, Eq. 7
// to 9, Algorithm 2, appendix C).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/attention/daft.h"

namespace attnscope {

/// Treatment of the biases inside the window and of the tokens outside it.
enum class DaftWindowKind {
  conv,    ///< w = r inside the window, 0 outside
  local,   ///< w = −∞ outside: the ablation without global connectivity (section 5.1)
  one_hot  ///< only the largest r per head is kept (appendix C, hard max of Gumbel softmax)
};

struct DaftWindowOptions {
  DaftWindowKind kind = DaftWindowKind::conv;
  std::int64_t kernel = 11;      ///< side of the window in tokens, odd
  std::int64_t conv_heads = 16;  ///< h, the number of position bias heads
  /// Dimensions of the window: 1 (a sequence) or 2 (a grid). If absent, 2 for tokens on a grid,
  /// else 1.
  std::optional<std::int64_t> dimensions = std::nullopt;
  bool reparameterised = true;  ///< false: w = r, without γ and β of Eq. 9 (Table 7)
  bool gated = true;            ///< DaftChannels::gated
};

/// The options with the values of an entry's parameters.
[[nodiscard]] DaftWindowOptions daft_window_options(DaftWindowKind kind, const TypedValues& values);

/// The parameter "dimensions", absent where it is "auto".
[[nodiscard]] std::optional<std::int64_t> daft_dimensions(const TypedValues& values);

/// Window biases of one layer at the positions of its tokens.
class DaftWindow final : public DaftBias {
 public:
  /// Throws Error(usage) if a required grid is missing or r has the wrong shape.
  DaftWindow(const AttentionInput& input, const DaftWindowOptions& options);

  [[nodiscard]] std::int64_t heads() const override { return taps_.rows(); }
  void fill(std::int64_t head, std::int64_t first_query, StridedMatrixMap block) const override;

  /// r [h, taps] per head, row-major over the window.
  [[nodiscard]] const Matrix& taps() const { return taps_; }
  [[nodiscard]] bool local() const { return local_; }
  [[nodiscard]] std::int64_t prefix() const { return prefix_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t columns() const { return columns_; }
  [[nodiscard]] std::int64_t half_rows() const { return half_rows_; }
  [[nodiscard]] std::int64_t half_columns() const { return half_columns_; }

 private:
  Matrix taps_;
  bool local_, causal_;
  std::int64_t prefix_ = 0, rows_ = 1, columns_ = 0;
  std::int64_t half_rows_ = 0, half_columns_ = 0;  ///< s, half the window's side without the centre
};

/// Output of DAFT-conv (DAFT, Eq. 8), σ(Q) ⊙ Σ exp(K + w) V / Σ exp(K + w), [N, D], in time
/// N·(taps + rows) per channel. Eq. 8 adds (exp(r) − 1) over the window to the sum over all tokens.
/// Here the tokens outside the window are summed separately: without a subtraction, biases of −80
/// cause no cancellation.
[[nodiscard]] Tensor daft_convolution(const AttentionInput& input, const DaftChannels& channels,
                                      const DaftWindow& window);

}  // namespace attnscope
