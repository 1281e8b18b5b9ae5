// The characteristic polynomial of a symmetric tridiagonal matrix at many points at once, and how
// many eigenvalues lie above each: Sturm's sequence (Givens 1954), points in SIMD lanes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attnscope {

/// p(x) = det(x I − T) = value · 2^exponent, and how many eigenvalues of T are above x.
struct SturmPoint {
  double x = 0, value = 0;
  std::int64_t exponent = 0, above = 0;
};

class SturmSequence {
 public:
  /// `diagonal` [N], or empty where it is 0; `beside` [N − 1]. ‖T‖ is at most 2. What is beside the
  /// diagonal and below 2⁻⁵⁶ counts as that: no sequence breaks off.
  SturmSequence(std::vector<double> diagonal, std::span<const double> beside);

  enum class Counts { yes, no };

  /// Fills in what belongs to every point's x; `above` with Counts::yes alone. |x| is at most 4.
  /// Exact for a matrix that differs from T by a few roundings of each entry and of x.
  void evaluate(std::vector<SturmPoint>& points, Counts counts) const;

 private:
  std::vector<double> diagonal_;
  std::vector<double> squares_;  ///< of what is beside the diagonal
};

}  // namespace attnscope
