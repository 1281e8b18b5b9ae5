// Position biases of DAFT-full: a free matrix or the product of two factors (DAFT, Eq. 6).
#pragma once

#include <cstdint>

#include "core/attention/daft.h"

namespace attnscope {

/// w [N, M] of a layer: pe0·pe1ᵀ, or a free matrix with an optional mask, or 0 if the layer has
/// neither.
class FullBias final : public DaftBias {
 public:
  /// `factors`: n, the number of columns of pe0 and pe1; 0 for a free w. Throws Error(usage) if the
  /// layer's tensors have another form or do not fit the tokens. The input must outlive the object.
  FullBias(const AttentionInput& input, std::int64_t factors);

  [[nodiscard]] std::int64_t heads() const override { return 1; }

  void fill(std::int64_t head, std::int64_t first, StridedMatrixMap block) const override;

  /// Like `fill`, but for the first block.cols() keys and without the causal mask.
  void fill_columns(std::int64_t first, StridedMatrixMap block) const;

  /// pe1ᵀ in consecutive panels of kPanelColumns keys, [n, kPanelColumns] each; the last one is
  /// padded with zeros. Empty without factors.
  [[nodiscard]] Matrix right_panels() const;

  /// Like `fill_columns` over all keys, but takes the result of `right_panels`. Rows of the block
  /// must be padded to whole panels: the padding after the last key is overwritten.
  void fill_rows(const Matrix& right_panels, std::int64_t first, StridedMatrixMap block) const;

 private:
  void check(const Tensor& tensor, const char* name, std::int64_t rows, std::int64_t columns,
             bool columns_are_tokens = false) const;

  bool causal_;
  bool any_length_;  ///< the layer may be shorter than its biases (texts, causal layers)
  std::int64_t queries_, keys_;
  const Tensor* left_ = nullptr;   ///< pe0
  const Tensor* right_ = nullptr;  ///< pe1
  const Tensor* free_ = nullptr;   ///< w
  const Tensor* mask_ = nullptr;
};

}  // namespace attnscope
