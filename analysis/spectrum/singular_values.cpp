#include "analysis/spectrum/singular_values.h"

#include <algorithm>
#include <cblas.h>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "analysis/spectrum/condensed_form.h"
#include "analysis/spectrum/eigenvalue_batch.h"
#include "analysis/spectrum/tridiagonal_values.h"
#include "core/tensor/blas.h"
#include "core/tensor/decompose.h"

namespace attnscope {

namespace {

// Half of the accuracy promised for f(r), because its numerator and denominator both err.
constexpr double kAllowedShareError = 5e-6;

/// Lower triangle of the smaller of HᵀH and HHᵀ.
PaddedMatrix product_of(const MatrixD& matrix) {
  const auto rows = static_cast<int>(matrix.rows());
  const auto columns = static_cast<int>(matrix.cols());
  const int size = std::min(rows, columns);
  PaddedMatrix gram(size);
  cblas_dsyrk(CblasRowMajor, CblasLower, rows <= columns ? CblasNoTrans : CblasTrans, size,
              std::max(rows, columns), 1.0, matrix.data(), columns, 0.0, gram.data(),
              static_cast<int>(gram.stride()));
  return gram;
}

/// Lower triangle of gram + A + Aᵀ + I.
PaddedMatrix product_with_identity(PaddedMatrix& gram, const MatrixD& matrix) {
  constexpr Eigen::Index kTile = 16;  // columns of a tile stay in the cache
  const Eigen::Index size = gram.size();
  PaddedMatrix sum(size);
  auto with = sum.matrix();
  const auto without = gram.matrix();
  for (Eigen::Index i = 0; i < size; i += kTile) {
    for (Eigen::Index j = 0; j <= i; j += kTile) {
      const Eigen::Index rows = std::min(kTile, size - i), columns = std::min(kTile, size - j);
      with.block(i, j, rows, columns) = without.block(i, j, rows, columns) +
                                        matrix.block(i, j, rows, columns) +
                                        matrix.block(j, i, columns, rows).transpose();
    }
  }
  with.diagonal().array() += 1;
  return sum;
}

SingularValues roots_of(std::optional<std::vector<double>> eigenvalues) {
  if (!eigenvalues) return {{}, false};
  for (double& value : *eigenvalues) value = std::sqrt(value);
  return {std::move(*eigenvalues)};
}

/// Singular values from the eigenvalues of HᵀH: half the work of a bidiagonalisation, a third of it
/// in matrix products.
SingularValues from_product(const TwoDiagonals& form) {
  return roots_of(
      greatest_eigenvalues(form.diagonal, form.off_diagonal, std::ssize(form.diagonal)));
}

/// Singular values of a bidiagonal matrix B, the eigenvalues of [0 B; Bᵀ 0], which a permutation
/// makes tridiagonal with a zero diagonal (Golub & Kahan 1965). Nothing is squared.
SingularValues from_bidiagonal(const MatrixD& matrix) {
  const Eigen::Index size = matrix.rows();
  PaddedMatrix copy(size);
  copy.matrix() = matrix;
  const TwoDiagonals form = bidiagonal_form(copy);
  std::vector<double> off_diagonal = {form.diagonal.front()};
  for (std::size_t k = 0; k < form.off_diagonal.size(); ++k) {
    off_diagonal.push_back(form.off_diagonal[k]);
    off_diagonal.push_back(form.diagonal[k + 1]);
  }
  std::optional<std::vector<double>> values = greatest_eigenvalues({}, off_diagonal, size);
  if (!values) return {{}, false};
  return {std::move(*values)};
}

SingularValues from_lapack(const MatrixD& matrix) {
  const Eigen::VectorXd values = singular_values_of(matrix);
  if (!values.allFinite()) return {{}, false};
  return {{values.begin(), values.end()}};
}

/// 1, or the power of two that scales the largest entry to about 1 if squares of entries could
/// overflow or underflow.
double scale_for(const MatrixD& matrix) {
  const double largest = matrix.cwiseAbs().maxCoeff();
  if (largest == 0 || (largest > 1e-100 && largest < 1e100)) return 1;
  return std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1020, 1020));
}

/// Union-find over rows and columns, rows first, that nonzero entries join.
class Joined {
 public:
  explicit Joined(Eigen::Index count) : parents_(static_cast<std::size_t>(count)), groups_(count) {
    std::iota(parents_.begin(), parents_.end(), Eigen::Index{0});
  }

  void join(Eigen::Index a, Eigen::Index b) {
    a = group_of(a);
    b = group_of(b);
    if (a == b) return;
    parent(std::max(a, b)) = std::min(a, b);
    --groups_;
  }
  [[nodiscard]] Eigen::Index group_of(Eigen::Index one) {
    while (parent(one) != one) one = parent(one) = parent(parent(one));
    return one;
  }
  [[nodiscard]] bool all_one() const { return groups_ == 1; }

 private:
  Eigen::Index& parent(Eigen::Index one) { return parents_[static_cast<std::size_t>(one)]; }

  std::vector<Eigen::Index> parents_;
  Eigen::Index groups_;
};

}  // namespace

std::optional<TwoDiagonals> condensed_product(const MatrixD& matrix) {
  use_one_blas_thread();
  if (scale_for(matrix) != 1) return std::nullopt;
  PaddedMatrix gram = product_of(matrix);
  return tridiagonal_form(gram);
}

std::optional<std::array<TwoDiagonals, 2>> condensed_products_without_and_with_identity(
    const MatrixD& matrix) {
  use_one_blas_thread();
  if (scale_for(matrix) != 1) return std::nullopt;
  PaddedMatrix gram = product_of(matrix), gram_with = product_with_identity(gram, matrix);
  return std::array{tridiagonal_form(gram), tridiagonal_form(gram_with)};
}

std::vector<SingularValues> values_of_products(std::span<const TwoDiagonals* const> products) {
  std::vector<SingularValues> found;
  for (auto& eigenvalues : all_eigenvalues(products)) {
    found.push_back(roots_of(std::move(eigenvalues)));
  }
  return found;
}

bool is_exact_enough(const SingularValues& found, double greatest) {
  return found.converged && gram_share_error(found.values, greatest) <= kAllowedShareError;
}

double gram_share_error(const std::vector<double>& values, double greatest) {
  if (values.empty()) return 0;
  greatest = std::max(greatest, values.front());
  if (greatest <= 0) return 0;
  // The error of an eigenvalue of HᵀH is at most δ = c · ε · σ_1². Forming and reducing HᵀH stay
  // well below c = 6 √N for maps of every rank (singular_values_test.cpp).
  const double size = static_cast<double>(values.size());
  const double delta = 6 * std::sqrt(size) * 0x1p-53 * greatest * greatest;
  const double root = std::sqrt(delta);
  double error = 0, sum = 0;
  for (const double value : values) {
    error += value > root ? delta / (2 * value) : root;
    sum += value;
  }
  return error / sum;
}

SingularValues singular_values(MatrixD& matrix, SpectrumAccuracy accuracy) {
  use_one_blas_thread();
  const double scale = scale_for(matrix);
  if (scale != 1) matrix *= scale;
  SingularValues result;
  bool found = false;
  if (accuracy == SpectrumAccuracy::cumulative) {
    PaddedMatrix gram = product_of(matrix);
    result = from_product(tridiagonal_form(gram));
    found = is_exact_enough(result);
  }
  if (!found) {
    result = matrix.rows() == matrix.cols() ? from_bidiagonal(matrix) : from_lapack(matrix);
  }
  if (scale != 1) {
    for (double& value : result.values) value /= scale;
  }
  return result;
}

std::array<SingularValues, 2> singular_values_without_and_with_identity(MatrixD& matrix,
                                                                        SpectrumAccuracy accuracy) {
  use_one_blas_thread();
  std::array<SingularValues, 2> both;
  auto& [without, with] = both;
  std::optional<std::array<TwoDiagonals, 2>> products;
  if (accuracy == SpectrumAccuracy::cumulative) {
    products = condensed_products_without_and_with_identity(matrix);
  }
  if (products) {
    without = from_product(products->front());
    with = from_product(products->back());
  }
  // Sums of the products are at most (σ_1 + 1)².
  const bool found = products && is_exact_enough(without);
  if (!found || !is_exact_enough(with, without.values.front() + 1)) {
    MatrixD sum = matrix;
    sum.diagonal().array() += 1;
    with = singular_values(sum, accuracy);
  }
  if (!found) without = singular_values(matrix, accuracy);
  return both;
}

std::vector<DiagonalBlock> blocks_of(const MatrixD& map) {
  Joined joined(map.rows() + map.cols());
  const auto join = [&](Eigen::Index row, Eigen::Index column) {
    if (map(row, column) != 0) joined.join(row, map.rows() + column);
  };
  // The first row and column are sufficient for a dense map.
  for (Eigen::Index column = 0; column < map.cols(); ++column) join(0, column);
  for (Eigen::Index row = 1; row < map.rows() && map.cols() > 0; ++row) join(row, 0);
  for (Eigen::Index row = 1; row < map.rows() && !joined.all_one(); ++row) {
    for (Eigen::Index column = 1; column < map.cols(); ++column) join(row, column);
  }
  std::map<Eigen::Index, DiagonalBlock> blocks;
  for (Eigen::Index row = 0; row < map.rows(); ++row) {
    blocks[joined.group_of(row)].rows.push_back(row);
  }
  for (Eigen::Index column = 0; column < map.cols(); ++column) {
    blocks[joined.group_of(map.rows() + column)].columns.push_back(column);
  }
  std::vector<DiagonalBlock> list;
  list.reserve(blocks.size());
  for (auto& [first, block] : blocks) list.push_back(std::move(block));
  return list;
}

SingularValues singular_values_by_blocks(MatrixD& map, SpectrumAccuracy accuracy) {
  const std::vector<DiagonalBlock> blocks = blocks_of(map);
  if (blocks.size() == 1) return singular_values(map, accuracy);
  SingularValues all;
  for (const DiagonalBlock& block : blocks) {
    if (block.rows.empty() || block.columns.empty()) continue;
    MatrixD part = map(block.rows, block.columns);
    SingularValues values = singular_values(part, accuracy);
    if (!values.converged) return values;
    all.values.insert(all.values.end(), values.values.begin(), values.values.end());
  }
  all.values.resize(static_cast<std::size_t>(std::min(map.rows(), map.cols())), 0.0);
  std::sort(all.values.begin(), all.values.end(), std::greater<>());
  return all;
}

}  // namespace attnscope
