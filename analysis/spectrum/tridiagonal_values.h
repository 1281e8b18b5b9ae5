// Eigenvalues of symmetric tridiagonal matrices, all at once in SIMD lanes: by interpolation of the
// characteristic polynomial between bounds from Sturm's sequence.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace attnscope {

/// p(x) = det(x I − T) = value · 2^exponent, and the number of eigenvalues of T above x.
struct SturmPoint {
  double x = 0, value = 0;
  std::int64_t exponent = 0, above = 0;
};

/// Characteristic polynomial of a symmetric tridiagonal matrix at many points at once, and the
/// number of eigenvalues above each: Sturm's sequence (Givens 1954), with points in SIMD lanes.
class SturmSequence {
 public:
  /// `diagonal` [N], or empty if it is 0; `off_diagonal` [N − 1], the neighbouring diagonal. ‖T‖ is
  /// at most 2. Entries of `off_diagonal` below 2⁻⁵⁶ are raised to that, so that no sequence breaks
  /// off.
  SturmSequence(std::vector<double> diagonal, std::span<const double> off_diagonal);

  enum class Counts { yes, no };

  /// Sets value and exponent of every point at its x, |x| ≤ 4; sets `above` only with Counts::yes.
  /// Exact for a matrix that differs from T by a few roundings of each entry and of x.
  void evaluate(std::vector<SturmPoint>& points, Counts counts) const;

 private:
  std::vector<double> diagonal_;
  std::vector<double> squares_;  ///< squares of the neighbouring diagonal
};

/// Greatest sum of magnitudes in a row of the matrix of greatest_eigenvalues: a bound of all
/// |eigenvalues|. NaN if an entry is NaN.
[[nodiscard]] double greatest_row_sum(std::span<const double> diagonal,
                                      std::span<const double> off_diagonal);

/// The `wanted` greatest eigenvalues, descending, of the symmetric matrix with `diagonal` [N] (0 if
/// empty) and neighbouring diagonal `off_diagonal` [N − 1]; negative ones become 0. 1 ≤ wanted ≤ N.
/// Each is accurate to a few 2⁻⁵³ of ‖T‖ for any N; five times as fast as dsterf. Empty if an entry
/// is not finite.
[[nodiscard]] std::optional<std::vector<double>> greatest_eigenvalues(
    std::span<const double> diagonal, std::span<const double> off_diagonal, std::int64_t wanted);

}  // namespace attnscope
