// Block structure of maps: a permutation of rows and columns makes maps of attention within windows
// (Swin, Twins, SAM) block diagonal.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/spectrum/singular_values.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Rows and columns of one block, in ascending order. Either may be empty.
struct DiagonalBlock {
  std::vector<Eigen::Index> rows, columns;
};

/// Smallest blocks outside which every entry is 0; for most maps one block, the whole map.
[[nodiscard]] std::vector<DiagonalBlock> blocks_of(const MatrixD& map);

/// Like singular_values, block by block if there are several: the singular values of a map are
/// those of its blocks, and zeros. A window of w cells among N costs w³ instead of N³.
[[nodiscard]] SingularValues singular_values_by_blocks(MatrixD& map, SpectrumAccuracy accuracy);

}  // namespace attnscope
