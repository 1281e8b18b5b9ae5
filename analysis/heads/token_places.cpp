#include "analysis/heads/token_places.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/trace/layer_layout.h"

namespace attnscope {

namespace {

/// True if the layout's prefix and grid together have `tokens` tokens.
bool fits(const TokenLayout& layout, std::int64_t tokens) {
  return layout.has_grid() && layout.prefix + layout.rows * layout.columns == tokens;
}

std::vector<std::pair<double, double>> middles(const TokenLayout& layout, double width,
                                               double height) {
  std::vector<std::pair<double, double>> places;
  for (std::int64_t row = 0; row < layout.rows; ++row) {
    for (std::int64_t column = 0; column < layout.columns; ++column) {
      places.emplace_back(
          (static_cast<double>(column) + 0.5) * width / static_cast<double>(layout.columns),
          (static_cast<double>(row) + 0.5) * height / static_cast<double>(layout.rows));
    }
  }
  return places;
}

}  // namespace

bool attends_to_itself(const Trace& trace, std::int64_t layer) {
  const LayerKind kind = trace.layers[static_cast<std::size_t>(layer)].kind;
  return trace.queries(layer) == trace.keys(layer) && kind != LayerKind::cross &&
         kind != LayerKind::class_attention;
}

bool is_sequence(const Trace& trace, std::int64_t layer) {
  const TokenLayout& layout = query_layout(trace, layer);
  return attends_to_itself(trace, layer) && !layout.has_grid() && layout.prefix == 0;
}

TokenPlaces token_places(const Trace& trace, std::int64_t layer) {
  TokenPlaces places;
  const TokenLayout& queries = query_layout(trace, layer);
  const TokenLayout& keys = key_layout(trace, layer);
  if (is_sequence(trace, layer)) {
    places.unit = "tokens";
    for (std::int64_t token = 0; token < trace.queries(layer); ++token) {
      places.queries.emplace_back(static_cast<double>(token), 0);
    }
    places.keys = places.queries;
  } else if (fits(queries, trace.queries(layer)) && fits(keys, trace.keys(layer))) {
    places.unit = trace.image ? "pixels" : "patches";
    const auto width = static_cast<double>(trace.image ? trace.image->width : queries.columns);
    const auto height = static_cast<double>(trace.image ? trace.image->height : queries.rows);
    places.query_prefix = queries.prefix;
    places.key_prefix = keys.prefix;
    places.queries = middles(queries, width, height);
    places.keys = middles(keys, width, height);
  }
  return places;
}

double mean_distance(const RowWeights& weights, const TokenPlaces& places) {
  double sum = 0;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < places.queries.size(); ++i) {
    const auto row = weights.matrix().row(places.query_prefix + static_cast<Eigen::Index>(i));
    double distance = 0, total = 0;
    for (std::size_t j = 0; j < places.keys.size(); ++j) {
      const double weight = row(places.key_prefix + static_cast<Eigen::Index>(j));
      total += weight;
      distance += weight * std::hypot(places.queries[i].first - places.keys[j].first,
                                      places.queries[i].second - places.keys[j].second);
    }
    if (!(total > 0)) continue;
    sum += distance / total;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : HeadRow::kUnknown;
}

double patches_of_mass(const Trace& trace, std::int64_t layer, const RowWeights& weights,
                       double mass) {
  const TokenLayout& keys = key_layout(trace, layer);
  if (query_layout(trace, layer).prefix == 0 || !fits(keys, weights.matrix().cols())) {
    return HeadRow::kUnknown;
  }
  const auto row = weights.matrix().row(0);
  std::vector<double> patches(row.data() + keys.prefix, row.data() + row.size());
  std::sort(patches.begin(), patches.end(), std::greater<>());
  double total = 0;
  for (const double weight : patches) total += weight;
  if (!(total > 0)) return HeadRow::kUnknown;
  double sum = 0;
  for (std::size_t count = 0; count < patches.size(); ++count) {
    sum += patches[count];
    if (sum >= mass * total) return static_cast<double>(count + 1);
  }
  return static_cast<double>(patches.size());
}

}  // namespace attnscope
