#include "app/panels/row/map_values.h"

#include <QObject>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace attnscope {

namespace {

QString three_digits(double value) { return QString::number(value, 'g', 3); }

}  // namespace

QString values_in_words(const MapValues& values) {
  if (values.finite == 0) return QObject::tr("no value");
  QString text =
      QObject::tr("%1 to %2, mean %3 ± %4; rows sum to %5")
          .arg(three_digits(values.least), three_digits(values.greatest), three_digits(values.mean),
               three_digits(values.deviation), three_digits(values.least_row_sum));
  if (three_digits(values.greatest_row_sum) != three_digits(values.least_row_sum)) {
    text += QObject::tr(" to %1").arg(three_digits(values.greatest_row_sum));
  }
  if (values.zeros > 0) {
    text += QObject::tr("; %1 % zeros")
                .arg(three_digits(100.0 * static_cast<double>(values.zeros) /
                                  static_cast<double>(values.finite)));
  }
  if (values.not_finite > 0) text += QObject::tr("; ⚠ %1 not finite").arg(values.not_finite);
  return text;
}

MapValues map_values(const ShownMaps& maps, std::int64_t layer, std::int64_t column) {
  const MapExtent extent = maps.extent(layer, column);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  MapValues found{kInfinity, -kInfinity, 0, 0, kInfinity, -kInfinity};
  double squares = 0;
  std::vector<float> row(static_cast<std::size_t>(extent.keys));
  for (std::int64_t query = 0; query < extent.queries; ++query) {
    maps.row(layer, column, query, 0, row);
    double sum = 0;
    for (const float one : row) {
      const auto value = static_cast<double>(one);
      if (!std::isfinite(value)) {
        ++found.not_finite;
        continue;
      }
      ++found.finite;
      if (value == 0) ++found.zeros;
      found.least = std::min(found.least, value);
      found.greatest = std::max(found.greatest, value);
      sum += value;
      squares += value * value;
    }
    found.mean += sum;
    found.least_row_sum = std::min(found.least_row_sum, sum);
    found.greatest_row_sum = std::max(found.greatest_row_sum, sum);
  }
  if (found.finite == 0) {
    const std::int64_t not_finite = found.not_finite;
    found = {};
    found.not_finite = not_finite;
    return found;
  }
  const auto count = static_cast<double>(found.finite);
  found.mean /= count;
  found.deviation = std::sqrt(std::max(0.0, squares / count - found.mean * found.mean));
  return found;
}

std::vector<double> means_over_distance(const ShownMaps& maps, std::int64_t layer,
                                        std::int64_t column) {
  const MapExtent extent = maps.extent(layer, column);
  if (extent.queries != extent.keys || extent.keys == 0) return {};
  std::vector<double> sums(static_cast<std::size_t>(extent.keys));
  std::vector<std::int64_t> counts(sums.size());
  std::vector<float> row(sums.size());
  for (std::int64_t query = 0; query < extent.queries; ++query) {
    maps.row(layer, column, query, 0, row);
    for (std::int64_t key = 0; key < extent.keys; ++key) {
      const float value = row[static_cast<std::size_t>(key)];
      if (!std::isfinite(value)) continue;
      const auto at = static_cast<std::size_t>(std::abs(query - key));
      sums[at] += static_cast<double>(value);
      ++counts[at];
    }
  }
  for (std::size_t at = 0; at < sums.size(); ++at) {
    sums[at] = counts[at] > 0 ? sums[at] / static_cast<double>(counts[at])
                              : std::numeric_limits<double>::quiet_NaN();
  }
  return sums;
}

}  // namespace attnscope
