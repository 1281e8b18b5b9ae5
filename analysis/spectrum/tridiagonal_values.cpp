#include "analysis/spectrum/tridiagonal_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

namespace attnscope {

namespace {

// Number of points of the first evaluation for all eigenvalues, geometrically spaced towards 0.
constexpr int kFirstPoints = 64;

std::vector<double> scaled(std::span<const double> values, double scale) {
  std::vector<double> products;
  products.reserve(values.size());
  for (const double value : values) products.push_back(value * scale);
  return products;
}

/// |p(a)| / |p(b)|.
double ratio(const SturmPoint& a, const SturmPoint& b) {
  const std::int64_t exponent = std::clamp<std::int64_t>(a.exponent - b.exponent, -900, 900);
  const double power = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
  return std::abs(a.value / b.value) * power;
}

/// Points that bracket an eigenvalue, and the state of its search.
struct EigenvalueBounds {
  SturmPoint low, high;
  double width = 0;  ///< distance when its shrinking was last checked
  int steps = 0;     ///< number of steps since that check
  enum class Side { none, low, high } replaced = Side::none;

  [[nodiscard]] double distance() const { return high.x - low.x; }
};

/// Search for the greatest eigenvalues of a matrix with ‖T‖ at most `bound`, from 1 to 2.
/// Eigenvalues are numbered from the greatest.
class EigenvalueSearch {
 public:
  EigenvalueSearch(const SturmSequence& sequence, std::int64_t size, std::int64_t wanted,
                   double bound)
      : sequence_(sequence),
        bounds_(static_cast<std::size_t>(wanted)),
        tolerance_(0x1p-52 * bound) {
    for (EigenvalueBounds& one : bounds_) {
      one.low.above = size;
      one.high.x = bound * (1 + 0x1p-40);
    }
    for (std::size_t j = 0; j < bounds_.size(); ++j) together_.push_back(j);
    for (int t = 0; t < kFirstPoints; ++t) {
      points_.push_back({.x = bound * std::exp2(-52 * (t + 0.5) / kFirstPoints)});
    }
  }

  std::vector<double> values() {
    for (; !together_.empty(); spread()) separate();
    while (!alone_.empty()) interpolate();
    std::vector<double> found;
    found.reserve(bounds_.size());
    for (const EigenvalueBounds& one : bounds_) found.push_back(0.5 * (one.low.x + one.high.x));
    std::sort(found.begin(), found.end(), std::greater<>());
    return found;
  }

 private:
  [[nodiscard]] bool is_found(const EigenvalueBounds& one) const {
    return !(one.distance() > 2 * tolerance_);
  }

  /// Sets equidistant points between the bounds that several eigenvalues share.
  void spread() {
    points_.clear();
    for (std::size_t first = 0; first < together_.size();) {
      const EigenvalueBounds& shared = bounds_[together_[first]];
      std::size_t end = first + 1;
      while (end < together_.size() && bounds_[together_[end]].low.x == shared.low.x) ++end;
      const double step = shared.distance() / static_cast<double>(end - first + 1);
      for (std::size_t t = first; t < end; ++t) {
        points_.push_back({.x = shared.high.x - step * static_cast<double>(t - first + 1)});
      }
      first = end;
    }
  }

  /// Tightens the bounds by the counts at the points, until each eigenvalue is alone in its
  /// bracket.
  void separate() {
    sequence_.evaluate(points_, SturmSequence::Counts::yes);
    const std::size_t count = bounds_.size();
    for (const SturmPoint& point : points_) {
      const auto above = std::min(static_cast<std::size_t>(point.above), count);
      if (above > 0) raise(bounds_[above - 1], point);
      if (above < count) lower(bounds_[above], point);
    }
    for (std::size_t j = count - 1; j > 0; --j) raise(bounds_[j - 1], bounds_[j].low);
    for (std::size_t j = 1; j < count; ++j) lower(bounds_[j], bounds_[j - 1].high);
    std::erase_if(together_, [this](std::size_t j) {
      EigenvalueBounds& one = bounds_[j];
      if (is_found(one)) return true;
      const auto greater = static_cast<std::int64_t>(j);
      const bool alone = one.low.above == greater + 1 && one.high.above == greater &&
                         one.low.value != 0 && one.high.value != 0;
      if (alone) {
        one.width = one.distance();
        alone_.push_back(j);
      }
      return alone;
    });
  }

  static void raise(EigenvalueBounds& one, const SturmPoint& point) {
    if (point.x > one.low.x) one.low = point;
  }
  static void lower(EigenvalueBounds& one, const SturmPoint& point) {
    if (point.x < one.high.x) one.high = point;
  }

  /// Takes one step of false position (Anderson and Björck 1973) for every eigenvalue that is alone
  /// in its bracket, or of bisection if three steps did not halve the bracket.
  void interpolate() {
    points_.clear();
    for (const std::size_t j : alone_) points_.push_back({.x = next_point(bounds_[j])});
    sequence_.evaluate(points_, SturmSequence::Counts::no);
    std::size_t t = 0;
    std::erase_if(alone_, [&](std::size_t j) {
      draw_closer(bounds_[j], points_[t++], j);
      return is_found(bounds_[j]);
    });
  }

  [[nodiscard]] double next_point(EigenvalueBounds& one) const {
    const double distance = one.distance(), middle = 0.5 * (one.low.x + one.high.x);
    if (++one.steps > 3) {
      const bool shrinks = distance <= 0.5 * one.width;
      one.width = distance;
      one.steps = 0;
      if (!shrinks) return middle;
    }
    const double x = one.low.x + distance / (1 + ratio(one.high, one.low));
    // If a bound is already accurate, one step beyond it ends the search.
    const double least = one.low.x + tolerance_, most = one.high.x - tolerance_;
    return x < least ? least : x > most ? most : std::isnan(x) ? middle : x;
  }

  static void draw_closer(EigenvalueBounds& one, const SturmPoint& point, std::size_t greater) {
    if (point.value == 0) {
      one.low = one.high = point;
      return;
    }
    using Side = EigenvalueBounds::Side;
    // p changes its sign at each of the greater eigenvalues.
    const Side side = std::signbit(point.value) == (greater % 2 != 0) ? Side::high : Side::low;
    SturmPoint& near = side == Side::high ? one.high : one.low;
    SturmPoint& far = side == Side::high ? one.low : one.high;
    if (one.replaced == side) {
      const double weight = 1 - ratio(point, near);
      far.value *= weight > 0 ? weight : 0.5;
    }
    one.replaced = side;
    near = point;
  }

  const SturmSequence& sequence_;
  std::vector<EigenvalueBounds> bounds_;
  double tolerance_;
  std::vector<std::size_t> together_, alone_;  ///< indices of eigenvalues not found yet
  std::vector<SturmPoint> points_;
};

}  // namespace

double greatest_row_sum(std::span<const double> diagonal, std::span<const double> off_diagonal) {
  double bound = 0, left = 0;
  for (std::size_t i = 0; i <= off_diagonal.size(); ++i) {
    const double right = i < off_diagonal.size() ? std::abs(off_diagonal[i]) : 0;
    const double sum = (diagonal.empty() ? 0 : std::abs(diagonal[i])) + left + right;
    if (!(sum <= bound)) bound = sum;  // true for NaN also
    if (std::isnan(bound)) break;
    left = right;
  }
  return bound;
}

std::optional<std::vector<double>> greatest_eigenvalues(std::span<const double> diagonal,
                                                        std::span<const double> off_diagonal,
                                                        std::int64_t wanted) {
  const double bound = greatest_row_sum(diagonal, off_diagonal);
  if (!std::isfinite(bound)) return std::nullopt;
  if (bound == 0) return std::vector<double>(static_cast<std::size_t>(wanted), 0.0);
  const int exponent = std::max(std::ilogb(bound), -1020);
  const double down = std::ldexp(1.0, -exponent);
  const SturmSequence sequence(scaled(diagonal, down), scaled(off_diagonal, down));
  std::vector<double> values =
      EigenvalueSearch(sequence, std::ssize(off_diagonal) + 1, wanted, bound * down).values();
  for (double& value : values) value = std::ldexp(value, exponent);
  return values;
}

}  // namespace attnscope
