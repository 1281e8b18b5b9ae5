#include "analysis/comparison/map_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace attnscope {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct RowMass {
  double magnitude = 0, negative = 0;

  explicit RowMass(std::span<const double> row) {
    for (const double weight : row) {
      magnitude += std::abs(weight);
      if (weight < 0) negative -= weight;
    }
  }
  [[nodiscard]] bool has_negative() const { return negative > 1e-6 * magnitude; }
};

double surprise(double p) { return p > 0 ? -p * std::log2(p) : 0; }

std::span<const double> row_of(const MatrixD& map, Eigen::Index row) {
  return {map.data() + row * map.cols(), static_cast<std::size_t>(map.cols())};
}

MatrixD centred(const ConstMatrixMap& tokens) {
  MatrixD matrix = tokens.cast<double>();
  matrix.rowwise() -= matrix.colwise().mean().eval();
  return matrix;
}

}  // namespace

std::string_view describe(MapPairState state) {
  switch (state) {
    case MapPairState::compared:
      return "compared";
    case MapPairState::no_counterpart:
      return "the reference has no such map";
    case MapPairState::different_size:
      return "maps of different size";
    case MapPairState::not_finite:
      return "NaN or Inf in a map";
    case MapPairState::other_channels:
      return "columns are channels of other weights";
  }
  return {};
}

RowDivergence row_divergence(std::span<const double> row, std::span<const double> other) {
  const RowMass p_mass(row), q_mass(other);
  RowDivergence result;
  result.has_negative = p_mass.has_negative() || q_mass.has_negative();
  if (p_mass.magnitude == 0 || q_mass.magnitude == 0) {
    result.bits = kNone;
    return result;
  }
  // H((p + q) / 2) − (H(p) + H(q)) / 2, summed cell by cell so that equal rows give exactly 0.
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double p = std::abs(row[i]) / p_mass.magnitude;
    const double q = std::abs(other[i]) / q_mass.magnitude;
    if (p != q) result.bits += surprise((p + q) / 2) - (surprise(p) + surprise(q)) / 2;
  }
  result.bits = std::clamp(result.bits, 0.0, 1.0);
  return result;
}

double mean_row_divergence(const MatrixD& map, const MatrixD& reference) {
  double sum = 0;
  std::int64_t rows = 0;
  for (Eigen::Index row = 0; row < map.rows(); ++row) {
    const double bits = row_divergence(row_of(map, row), row_of(reference, row)).bits;
    if (std::isnan(bits)) continue;
    sum += bits;
    ++rows;
  }
  return rows > 0 ? sum / static_cast<double>(rows) : kNone;
}

MapDistance map_distance(const MatrixD& map, const MatrixD& reference) {
  if (map.rows() != reference.rows() || map.cols() != reference.cols()) {
    const auto extent = [](const MatrixD& m) {
      return std::to_string(m.rows()) + " × " + std::to_string(m.cols());
    };
    throw Error(ErrorKind::usage, "maps of different size cannot be compared cell by cell")
        .expected(extent(reference) + " as the reference")
        .found(extent(map))
        .remedy("compare their spectra, which go by relative rank");
  }
  MapDistance result;
  result.row_divergence.reserve(static_cast<std::size_t>(map.rows()));
  result.largest_divergence = kNone;
  double sum = 0;
  std::int64_t rows = 0;
  for (Eigen::Index row = 0; row < map.rows(); ++row) {
    const RowDivergence one = row_divergence(row_of(map, row), row_of(reference, row));
    result.row_divergence.push_back(one.bits);
    result.rows_with_negatives += one.has_negative ? 1 : 0;
    if (std::isnan(one.bits)) {
      ++result.rows_left_out;
      continue;
    }
    sum += one.bits;
    ++rows;
    if (!(one.bits <= result.largest_divergence)) {
      result.largest_divergence = one.bits;
      result.largest_row = row;
    }
  }
  result.mean_divergence = rows > 0 ? sum / static_cast<double>(rows) : kNone;
  const double norm = map.norm(), reference_norm = reference.norm();
  const double cosine = (map.array() * reference.array()).sum() / (norm * reference_norm);
  result.cosine_distance =
      norm > 0 && reference_norm > 0 ? 1 - std::clamp(cosine, -1.0, 1.0) : kNone;
  result.frobenius_distance = (map - reference).norm();
  result.relative_frobenius =
      reference_norm > 0 ? result.frobenius_distance / reference_norm : kNone;
  return result;
}

double spectrum_distance(std::span<const double> share, std::span<const double> reference_share) {
  if (share.empty() || reference_share.empty()) return kNone;
  // Both curves are linear between the ranks of either. Between neighbouring ranks their difference
  // is linear too, and its area that of a trapezium or of two triangles.
  const auto count_a = static_cast<double>(share.size());
  const auto count_b = static_cast<double>(reference_share.size());
  const auto at = [](std::span<const double> curve, std::size_t reached, double x) {
    const auto count = static_cast<double>(curve.size());
    const double before = reached == 0 ? 0 : curve[reached - 1];
    if (reached >= curve.size()) return before;
    const double way = x * count - static_cast<double>(reached);
    return before + way * (curve[reached] - before);
  };
  double area = 0, x = 0, difference = 0;
  std::size_t a = 0, b = 0;  // numbers of ranks passed at x
  while (a < share.size() || b < reference_share.size()) {
    const double next_a = static_cast<double>(a + 1) / count_a;
    const double next_b = static_cast<double>(b + 1) / count_b;
    const double next = std::min(next_a, next_b);
    const double after = at(share, a, next) - at(reference_share, b, next);
    const double width = next - x;
    if (difference * after >= 0) {
      area += width * (std::abs(difference) + std::abs(after)) / 2;
    } else {
      area += width * (difference * difference + after * after) /
              (2 * (std::abs(difference) + std::abs(after)));
    }
    if (next_a <= next) ++a;
    if (next_b <= next) ++b;
    x = next;
    difference = after;
  }
  return area;
}

double singular_value_distance(std::span<const double> values,
                               std::span<const double> reference_values) {
  if (values.empty() || values.size() != reference_values.size()) return kNone;
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += (values[i] - reference_values[i]) * (values[i] - reference_values[i]);
  }
  return std::sqrt(sum);
}

double linear_cka(const ConstMatrixMap& tokens, const ConstMatrixMap& reference) {
  if (tokens.rows() != reference.rows()) {
    throw Error(ErrorKind::usage, "representations of different tokens cannot be compared")
        .expected(std::to_string(reference.rows()) + " tokens as the reference")
        .found(std::to_string(tokens.rows()));
  }
  const MatrixD x = centred(tokens), y = centred(reference);
  double cross = 0, own = 0, other = 0;
  if (x.rows() < x.cols() || x.rows() < y.cols()) {
    // ‖YᵀX‖² = ⟨XXᵀ, YYᵀ⟩: the smaller matrices if there are fewer tokens than features.
    const MatrixD k = x * x.transpose(), l = y * y.transpose();
    cross = (k.array() * l.array()).sum();
    own = k.norm();
    other = l.norm();
  } else {
    cross = (y.transpose() * x).squaredNorm();
    own = (x.transpose() * x).norm();
    other = (y.transpose() * y).norm();
  }
  // The negated comparison also catches NaN.
  if (!(own > 0 && other > 0) || !std::isfinite(own) || !std::isfinite(other)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return cross / (own * other);
}

}  // namespace attnscope
