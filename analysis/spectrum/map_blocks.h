// Maps that fall apart: after an exchange of rows and columns nothing but blocks along the
// diagonal, as those of attention within windows (Swin, Twins, SAM).
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/spectrum/singular_values.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// One block: which rows and columns of the map it has, in order. Either may be empty.
struct DiagonalBlock {
  std::vector<Eigen::Index> rows, columns;
};

/// The smallest blocks such that every other entry is 0; of most maps one, the whole.
[[nodiscard]] std::vector<DiagonalBlock> blocks_of(const MatrixD& map);

/// As singular_values, block by block where there are several: those of a map are those of its
/// blocks together (and zeros). A window of w cells in N costs w³ instead of N³.
[[nodiscard]] SingularValues singular_values_by_blocks(MatrixD& map, SpectrumAccuracy accuracy);

}  // namespace attnscope
