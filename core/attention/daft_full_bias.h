// The position biases of DAFT-full: a matrix of its own, or the product of two (DAFT, Eq. 6).
#pragma once

#include <cstdint>

#include "core/attention/daft.h"

namespace attnscope {

/// w [N, M] of a layer: pe0·pe1ᵀ, or free and perhaps masked, or 0 where a layer has none of these.
class FullBias final : public DaftBias {
 public:
  /// `factors`: n, columns of pe0 and pe1; 0: w is free. Throws Error(usage) where the layer's
  /// tensors are of another form or do not fit the tokens. The input must outlive it.
  FullBias(const AttentionInput& input, std::int64_t factors);

  [[nodiscard]] std::int64_t heads() const override { return 1; }

  void fill(std::int64_t head, std::int64_t first, StridedMatrixMap block) const override;

  /// As `fill`, of the first block.cols() keys, and without looking at what is causal.
  void fill_columns(std::int64_t first, StridedMatrixMap block) const;

  /// pe1ᵀ by panels of kPanelColumns keys, [n, kPanelColumns] each, one after the other; the last
  /// is filled up with zeros. Empty without factors.
  [[nodiscard]] Matrix right_panels() const;

  /// As `fill_columns` over all keys, by what `right_panels` gave. Rows of the block must have room
  /// for whole panels: what follows the last key there is overwritten.
  void fill_rows(const Matrix& right_panels, std::int64_t first, StridedMatrixMap block) const;

 private:
  void check(const Tensor& tensor, const char* name, std::int64_t rows, std::int64_t columns,
             bool columns_are_tokens = false) const;

  bool causal_;
  bool any_length_;  ///< of texts, up to those that the biases are of
  std::int64_t queries_, keys_;
  const Tensor* left_ = nullptr;   ///< pe0
  const Tensor* right_ = nullptr;  ///< pe1
  const Tensor* free_ = nullptr;   ///< w
  const Tensor* mask_ = nullptr;
};

}  // namespace attnscope
