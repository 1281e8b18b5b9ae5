// Singular values of one dense matrix in double precision, by orthogonal reduction, then bisection
// and interpolation. As accurate as LAPACK's, two to three times as fast.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/spectrum/condensed_form.h"
#include "analysis/spectrum/spectrum.h"
#include "core/tensor/tensor.h"

namespace attnscope {

struct SingularValues {
  std::vector<double> values;  ///< descending, min(N, M) values; empty unless converged
  bool converged = true;
};

/// All singular values of `matrix` [N, M], N and M ≥ 1; not converged if an entry is not finite.
/// The matrix is used as scratch.
[[nodiscard]] SingularValues singular_values(MatrixD& matrix, SpectrumAccuracy accuracy);

/// Like singular_values for a square matrix A and for A + I, whose products share one: (A + I)(A +
/// I)ᵀ = AAᵀ + A + Aᵀ + I.
[[nodiscard]] std::array<SingularValues, 2> singular_values_without_and_with_identity(
    MatrixD& matrix, SpectrumAccuracy accuracy);

/// AAᵀ of a square matrix in tridiagonal form: its eigenvalues are σ². Empty if squares of entries
/// could overflow or underflow.
[[nodiscard]] std::optional<TwoDiagonals> condensed_product(const MatrixD& matrix);

/// Like condensed_product for A and for A + I, whose products share one.
[[nodiscard]] std::optional<std::array<TwoDiagonals, 2>>
condensed_products_without_and_with_identity(const MatrixD& matrix);

/// Singular values of the matrices with these products, which must have equal size; faster per
/// matrix for larger batches.
[[nodiscard]] std::vector<SingularValues> values_of_products(
    std::span<const TwoDiagonals* const> products);

/// True if values found from a product are as accurate as SpectrumAccuracy::cumulative promises.
/// The product had entries up to `greatest`², if that is more than σ_1².
[[nodiscard]] bool is_exact_enough(const SingularValues& found, double greatest = 0);

/// Relative error of each f(r) if σ² are eigenvalues of HᵀH: an upper estimate from the largest
/// errors observed. `values` are descending; HᵀH had entries up to `greatest`², if that is more
/// than σ_1².
[[nodiscard]] double gram_share_error(const std::vector<double>& values, double greatest = 0);

/// Block structure of maps: a permutation of rows and columns makes maps of attention within
/// windows (Swin, Twins, SAM) block diagonal. Rows and columns of one block, in ascending order.
/// Either may be empty.
struct DiagonalBlock {
  std::vector<Eigen::Index> rows, columns;
};

/// Smallest blocks outside which every entry is 0; for most maps one block, the whole map.
[[nodiscard]] std::vector<DiagonalBlock> blocks_of(const MatrixD& map);

/// Like singular_values, block by block if there are several: the singular values of a map are
/// those of its blocks, and zeros. A window of w cells among N costs w³ instead of N³.
[[nodiscard]] SingularValues singular_values_by_blocks(MatrixD& map, SpectrumAccuracy accuracy);

}  // namespace attnscope
