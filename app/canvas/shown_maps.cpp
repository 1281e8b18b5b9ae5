#include "app/canvas/shown_maps.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "app/canvas/parallel.h"

namespace attnscope {

namespace {

using RowMap = Eigen::Map<const Eigen::ArrayXf>;

bool recorded(const LayerTrace& layer) { return layer.implied_map.rank() == 3; }

/// sign(a) · exp((ln|a| − log_peak) / T) · factor; 0 stays 0, NaN stays NaN.
void temper(std::span<float> values, float inverse_temperature, float log_peak, float factor) {
  Eigen::Map<Eigen::ArrayXf> row(values.data(), static_cast<Eigen::Index>(values.size()));
  // log of a plain zero is −inf in some vector paths and a large negative number in others: both
  // vanish under exp only if the peak is finite, so zeros are set apart.
  const Eigen::ArrayXf magnitude = row.abs();
  const Eigen::ArrayXf power =
      ((magnitude.max(std::numeric_limits<float>::min()).log() - log_peak) * inverse_temperature)
          .exp() *
      factor;
  for (Eigen::Index i = 0; i < row.size(); ++i) {
    if (std::isnan(row[i])) continue;
    row[i] = magnitude[i] == 0 ? 0.0F : std::copysign(power[i], row[i]);
  }
}

}  // namespace

ValueSettings::ValueSettings(const ViewSettings& view)
    : temperature(std::clamp(view.temperature, 0.1, 10.0)),
      identity(view.identity),
      head_fusion(view.head_fusion),
      hide_prefix_tokens(view.hide_prefix_tokens) {}

ShownMaps::ShownMaps(std::shared_ptr<const Trace> trace, const ValueSettings& settings)
    : trace_(std::move(trace)), settings_(settings) {
  grid_.layers = static_cast<std::int64_t>(trace_->layers.size());
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  for (const LayerTrace& layer : trace_->layers) {
    if (!recorded(layer)) continue;
    grid_.columns = std::max(grid_.columns, layer.implied_map.extent(0));
    smallest = std::min({smallest, layer.implied_map.extent(1), layer.implied_map.extent(2)});
  }
  if (settings_.head_fusion != HeadFusion::none)
    grid_.columns = std::min<std::int64_t>(1, grid_.columns);
  if (grid_.columns == 0) grid_.layers = 0;
  if (settings_.hide_prefix_tokens && grid_.columns > 0 && trace_->layout.prefix < smallest) {
    first_token_ = trace_->layout.prefix;
  }
  identity_shown_ = shows_identity(*trace_, settings_.identity);
  if (settings_.temperature != 1.0) {
    row_scales_.resize(trace_->layers.size());
    for_each_index(grid_.layers, [this](std::int64_t layer) { temper_layer(layer); });
  }
}

void ShownMaps::temper_layer(std::int64_t layer_index) {
  const LayerTrace& layer = trace_->layers[static_cast<std::size_t>(layer_index)];
  if (!recorded(layer)) return;
  const std::int64_t heads = layer.implied_map.extent(0);
  const std::int64_t queries = layer.implied_map.extent(1), keys = layer.implied_map.extent(2);
  const auto inverse = static_cast<float>(1.0 / settings_.temperature);
  auto& scales = row_scales_[static_cast<std::size_t>(layer_index)];
  scales.resize(static_cast<std::size_t>(heads * queries));
  std::vector<float> row(static_cast<std::size_t>(keys));
  for (std::int64_t r = 0; r < heads * queries; ++r) {
    const float* source = layer.implied_map.data() + r * keys;
    std::copy(source, source + keys, row.begin());
    const std::int64_t query = r % queries;
    if (trace_->identity_in_maps && query < keys) row[static_cast<std::size_t>(query)] -= 1;
    // NaN cells take no part: the rest of their row is still tempered.
    double old_sum = 0;
    float peak = 0;
    for (const float value : row) {
      if (!std::isfinite(value)) continue;
      old_sum += std::abs(value);
      peak = std::max(peak, std::abs(value));
    }
    RowScale& scale = scales[static_cast<std::size_t>(r)];
    if (peak == 0) continue;
    scale.log_peak = std::log(peak);
    temper(row, inverse, scale.log_peak, 1.0F);
    double sum = 0;
    for (const float value : row) {
      if (std::isfinite(value)) sum += std::abs(value);
    }
    scale.factor = static_cast<float>(old_sum / sum);
  }
}

MapExtent ShownMaps::extent(std::int64_t layer, std::int64_t column) const {
  if (layer < 0 || layer >= grid_.layers || column < 0 || column >= grid_.columns) return {};
  const LayerTrace& recorded_layer = trace_->layers[static_cast<std::size_t>(layer)];
  if (!recorded(recorded_layer) || column >= recorded_layer.implied_map.extent(0)) return {};
  return {recorded_layer.implied_map.extent(1) - first_token_,
          recorded_layer.implied_map.extent(2) - first_token_};
}

MapExtent ShownMaps::largest_extent() const {
  MapExtent largest;
  for (std::int64_t layer = 0; layer < grid_.layers; ++layer) {
    const MapExtent one = extent(layer, 0);
    largest.queries = std::max(largest.queries, one.queries);
    largest.keys = std::max(largest.keys, one.keys);
  }
  return largest;
}

void ShownMaps::head_row(const LayerTrace& layer, std::int64_t layer_index, std::int64_t head,
                         std::int64_t query, std::int64_t first_key,
                         std::span<float> values) const {
  const std::int64_t queries = layer.implied_map.extent(1), keys = layer.implied_map.extent(2);
  const float* source = layer.implied_map.data() + (head * queries + query) * keys + first_key;
  std::copy(source, source + values.size(), values.begin());
  const std::int64_t diagonal = query - first_key;
  // Keys that are other tokens than the queries have no diagonal.
  const bool on_diagonal =
      queries == keys && diagonal >= 0 && diagonal < static_cast<std::int64_t>(values.size());
  const bool tempered = !row_scales_.empty();
  // Taking I away and adding it back would cost the diagonal its last digits: only where asked.
  const float removed = trace_->identity_in_maps && (tempered || !identity_shown_) ? 1.0F : 0.0F;
  if (on_diagonal) values[static_cast<std::size_t>(diagonal)] -= removed;
  if (tempered) {
    const RowScale& scale = row_scales_[static_cast<std::size_t>(layer_index)]
                                       [static_cast<std::size_t>(head * queries + query)];
    temper(values, static_cast<float>(1.0 / settings_.temperature), scale.log_peak, scale.factor);
  }
  const bool added = identity_shown_ && (!trace_->identity_in_maps || removed != 0);
  if (on_diagonal && added) values[static_cast<std::size_t>(diagonal)] += 1;
}

void ShownMaps::row(std::int64_t layer, std::int64_t column, std::int64_t query,
                    std::int64_t first_key, std::span<float> values) const {
  const LayerTrace& source = trace_->layers[static_cast<std::size_t>(layer)];
  query += first_token_;
  first_key += first_token_;
  if (settings_.head_fusion == HeadFusion::none) {
    head_row(source, layer, column, query, first_key, values);
    return;
  }
  const std::int64_t heads = source.implied_map.extent(0);
  head_row(source, layer, 0, query, first_key, values);
  std::vector<float> other(values.size());
  for (std::int64_t head = 1; head < heads; ++head) {
    head_row(source, layer, head, query, first_key, other);
    for (std::size_t i = 0; i < other.size(); ++i) {
      // A NaN in any head is one in the fusion: max and min of <algorithm> would drop it.
      if (std::isnan(other[i]) || std::isnan(values[i])) {
        values[i] = std::numeric_limits<float>::quiet_NaN();
      } else if (settings_.head_fusion == HeadFusion::mean) {
        values[i] += other[i];
      } else if (settings_.head_fusion == HeadFusion::maximum) {
        values[i] = std::max(values[i], other[i]);
      } else {
        values[i] = std::min(values[i], other[i]);
      }
    }
  }
  if (settings_.head_fusion == HeadFusion::mean) {
    for (float& value : values) value /= static_cast<float>(heads);
  }
}

float ShownMaps::value(const MapCell& cell) const {
  float value = std::numeric_limits<float>::quiet_NaN();
  row(cell.layer, cell.column, cell.query, cell.key, {&value, 1});
  return value;
}

std::vector<float> ShownMaps::block_means(std::int64_t layer, std::int64_t column, int level,
                                          std::int64_t row0, std::int64_t row1, std::int64_t key0,
                                          std::int64_t key1) const {
  const std::int64_t block = std::int64_t{1} << level;
  const std::int64_t width = (key1 - key0 + block - 1) / block;
  const std::int64_t height = (row1 - row0 + block - 1) / block;
  std::vector<float> means(static_cast<std::size_t>(width * height));
  if (level == 0) {
    for (std::int64_t r = row0; r < row1; ++r) {
      row(layer, column, r, key0,
          std::span(means).subspan(static_cast<std::size_t>((r - row0) * width),
                                   static_cast<std::size_t>(width)));
    }
    return means;
  }
  std::vector<float> cells(static_cast<std::size_t>(key1 - key0));
  for (std::int64_t r = row0; r < row1; ++r) {
    row(layer, column, r, key0, cells);
    float* sums = means.data() + (r - row0) / block * width;
    for (std::int64_t b = 0; b < width; ++b) {
      const std::int64_t first = b * block, last = std::min(first + block, key1 - key0);
      float sum = 0;
      for (std::int64_t k = first; k < last; ++k) sum += cells[static_cast<std::size_t>(k)];
      sums[b] += sum;
    }
  }
  for (std::int64_t y = 0; y < height; ++y) {
    const std::int64_t rows = std::min(block, row1 - row0 - y * block);
    for (std::int64_t x = 0; x < width; ++x) {
      const std::int64_t columns = std::min(block, key1 - key0 - x * block);
      means[static_cast<std::size_t>(y * width + x)] /= static_cast<float>(rows * columns);
    }
  }
  return means;
}

}  // namespace attnscope
