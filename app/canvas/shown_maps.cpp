#include "app/canvas/shown_maps.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/attention/kernels/temper_row.h"
#include "core/trace/layer_name.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

bool recorded(const LayerTrace& layer) { return layer.implied_map.rank() == 3; }

/// The indices of tokens that are not special; empty if all are.
std::vector<std::int64_t> tokens_of_text(const TokenLayout& layout) {
  std::vector<std::int64_t> kept;
  for (std::int64_t token = 0; token < std::ssize(layout.texts); ++token) {
    if (!std::binary_search(layout.special.begin(), layout.special.end(), token)) {
      kept.push_back(token);
    }
  }
  return kept;
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
  if (settings_.hide_prefix_tokens && !trace_->layout.texts.empty()) {
    for (std::int64_t layer = 0; layer < grid_.layers; ++layer) kept_.push_back(kept_of(layer));
  }
}

ShownMaps::ShownMaps(std::shared_ptr<const Trace> trace, const ValueSettings& settings,
                     ComparedWith with)
    : ShownMaps(std::move(trace), settings) {
  reference_ = std::make_unique<const ShownMaps>(with.reference, settings);
  with_ = std::move(with);
}

ShownMaps::~ShownMaps() = default;

ShownMaps::Kept ShownMaps::kept_of(std::int64_t layer) const {
  const TokenLayout& queries = query_layout(*trace_, layer);
  const TokenLayout& keys = key_layout(*trace_, layer);
  const bool are_known = trace_->queries(layer) == std::ssize(queries.texts) &&
                         trace_->keys(layer) == std::ssize(keys.texts);
  return are_known ? Kept{tokens_of_text(queries), tokens_of_text(keys)} : Kept{};
}

const ShownMaps::Kept& ShownMaps::kept(std::int64_t layer) const {
  static const Kept all;
  return layer < std::ssize(kept_) ? kept_[static_cast<std::size_t>(layer)] : all;
}

ShownMaps::Counterpart ShownMaps::counterpart(std::int64_t layer, std::int64_t column) const {
  if (!reference_ || layer < 0 || layer >= std::ssize(*with_.alignment)) return {};
  const LayerPair& pair = (*with_.alignment)[static_cast<std::size_t>(layer)];
  if (pair.reference_layer < 0) return {};
  if (settings_.head_fusion != HeadFusion::none) return {pair.reference_layer, 0};
  if (column < 0 || column >= std::ssize(pair.reference_heads)) return {};
  const std::int64_t head = pair.reference_heads[static_cast<std::size_t>(column)];
  return head < 0 ? Counterpart{} : Counterpart{pair.reference_layer, head};
}

MapExtent ShownMaps::own_extent(std::int64_t layer, std::int64_t column) const {
  if (layer < 0 || layer >= grid_.layers || column < 0 || column >= grid_.columns) return {};
  const LayerTrace& recorded_layer = trace_->layers[static_cast<std::size_t>(layer)];
  if (!recorded(recorded_layer) || column >= recorded_layer.implied_map.extent(0)) return {};
  const auto shown = [this](const std::vector<std::int64_t>& kept, std::int64_t tokens) {
    return kept.empty() ? tokens - first_token_ : std::ssize(kept);
  };
  return {shown(kept(layer).queries, recorded_layer.implied_map.extent(1)),
          shown(kept(layer).keys, recorded_layer.implied_map.extent(2))};
}

MapExtent ShownMaps::extent(std::int64_t layer, std::int64_t column) const {
  const MapExtent own = own_extent(layer, column);
  if (!reference_ || own.queries == 0) return own;
  const Counterpart beside = counterpart(layer, column);
  const MapExtent other = reference_->own_extent(beside.layer, beside.column);
  if (with_.shown == ComparedWith::Shown::counterpart) return other;
  return own == other ? own : MapExtent{};
}

std::string ShownMaps::counterpart_name(std::int64_t layer, std::int64_t column) const {
  const Counterpart beside = counterpart(layer, column);
  if (beside.layer < 0) return {};
  const std::string of_layer = layer_name(reference_->trace(), beside.layer);
  return settings_.head_fusion == HeadFusion::none
             ? "head " + std::to_string(beside.column) + " of " + of_layer
             : of_layer;
}

std::string ShownMaps::why_empty(std::int64_t layer, std::int64_t column) const {
  const MapExtent own = own_extent(layer, column);
  if (!reference_ || own.queries == 0 || extent(layer, column).queries > 0) return {};
  const Counterpart beside = counterpart(layer, column);
  const MapExtent other = reference_->own_extent(beside.layer, beside.column);
  if (other.queries == 0) return "no counterpart in the reference";
  const auto text = [](MapExtent extent) {
    return std::to_string(extent.queries) + " × " + std::to_string(extent.keys);
  };
  return text(own) + " here, " + text(other) + " in the reference";
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

bool ShownMaps::identity_shown(std::int64_t layer, std::int64_t column) const {
  if (!reference_) return has_identity(*trace_, layer, settings_.identity);
  if (with_.shown != ComparedWith::Shown::counterpart) return false;
  const Counterpart beside = counterpart(layer, column);
  return beside.layer >= 0 && reference_->identity_shown(beside.layer, beside.column);
}

void ShownMaps::head_row(std::int64_t layer, std::int64_t head, std::int64_t query,
                         std::int64_t first_key, std::span<float> values) const {
  const ImpliedMaps& maps = trace_->layers[static_cast<std::size_t>(layer)].implied_map;
  const std::int64_t keys = maps.extent(2), diagonal = query - first_key;
  const bool on_diagonal = diagonal >= 0 && diagonal < std::ssize(values);
  // Layers may differ in whether their maps contain I; maps that are not square have none.
  const bool held = has_identity(*trace_, layer);
  const bool wanted = has_identity(*trace_, layer, settings_.identity);
  const bool tempered = settings_.temperature != 1.0;
  // Removing I and adding it again would cost the diagonal its last digits, so it is done only if
  // needed.
  const bool removed = held && (tempered || !wanted);
  if (tempered) {
    // The scale of a row depends on the whole row, whatever part is requested.
    const bool all_wanted = std::ssize(values) == keys;
    std::vector<float> all(all_wanted ? 0 : static_cast<std::size_t>(keys));
    const std::span<float> whole = all_wanted ? values : std::span(all);
    maps.row(head, query, 0, whole);
    if (removed) whole[static_cast<std::size_t>(query)] -= 1;
    temper_row(whole, settings_.temperature);
    if (!all_wanted) std::copy_n(whole.begin() + first_key, values.size(), values.begin());
  } else {
    maps.row(head, query, first_key, values);
    if (on_diagonal && removed) values[static_cast<std::size_t>(diagonal)] -= 1;
  }
  const bool added = wanted && (!held || removed);
  if (on_diagonal && added) values[static_cast<std::size_t>(diagonal)] += 1;
}

void ShownMaps::row(std::int64_t layer, std::int64_t column, std::int64_t query,
                    std::int64_t first_key, std::span<float> values) const {
  if (!reference_) {
    own_row(layer, column, query, first_key, values);
    return;
  }
  const Counterpart beside = counterpart(layer, column);
  if (with_.shown == ComparedWith::Shown::counterpart) {
    reference_->own_row(beside.layer, beside.column, query, first_key, values);
    return;
  }
  own_row(layer, column, query, first_key, values);
  std::vector<float> other(values.size());
  reference_->own_row(beside.layer, beside.column, query, first_key, other);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float difference = values[i] - other[i];
    switch (with_.shown) {
      case ComparedWith::Shown::absolute:
        values[i] = std::abs(difference);
        break;
      case ComparedWith::Shown::relative: {
        const float both = std::abs(values[i]) + std::abs(other[i]);
        values[i] = both == 0 ? 0 : difference / both;
        break;
      }
      default:
        values[i] = difference;
    }
  }
}

ShownMaps::Weights ShownMaps::compared_weights(const MapCell& cell) const {
  Weights weights{std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::quiet_NaN()};
  own_row(cell.layer, cell.column, cell.query, cell.key, {&weights.own, 1});
  const Counterpart beside = counterpart(cell.layer, cell.column);
  if (beside.layer >= 0) {
    reference_->own_row(beside.layer, beside.column, cell.query, cell.key, {&weights.reference, 1});
  }
  return weights;
}

std::int64_t ShownMaps::token_of(const std::vector<std::int64_t>& kept, std::int64_t shown) const {
  if (kept.empty()) return shown + first_token_;
  const auto index = static_cast<std::size_t>(shown);
  return index < kept.size() ? kept[index] : std::numeric_limits<std::int64_t>::max();
}

std::int64_t ShownMaps::shown_of(const std::vector<std::int64_t>& kept, std::int64_t token) const {
  if (kept.empty()) return std::max<std::int64_t>(token - first_token_, -1);
  const auto found = std::lower_bound(kept.begin(), kept.end(), token);
  return found != kept.end() && *found == token ? found - kept.begin() : -1;
}

std::int64_t ShownMaps::query_of(std::int64_t layer, std::int64_t row) const {
  return token_of(kept(layer).queries, row);
}

std::int64_t ShownMaps::key_of(std::int64_t layer, std::int64_t column) const {
  return token_of(kept(layer).keys, column);
}

std::int64_t ShownMaps::row_of(std::int64_t layer, std::int64_t query) const {
  return shown_of(kept(layer).queries, query);
}

std::int64_t ShownMaps::column_of(std::int64_t layer, std::int64_t key) const {
  return shown_of(kept(layer).keys, key);
}

void ShownMaps::own_row(std::int64_t layer, std::int64_t column, std::int64_t query,
                        std::int64_t first_key, std::span<float> values) const {
  const std::vector<std::int64_t>& keys = kept(layer).keys;
  const std::int64_t row = query_of(layer, query);
  if (keys.empty() || values.empty()) {
    token_row(layer, column, row, first_key + first_token_, values);
    return;
  }
  // Reads all keys from the first to the last requested, then selects the requested ones.
  const std::span wanted =
      std::span(keys).subspan(static_cast<std::size_t>(first_key), values.size());
  std::vector<float> all(static_cast<std::size_t>(wanted.back() - wanted.front() + 1));
  token_row(layer, column, row, wanted.front(), all);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = all[static_cast<std::size_t>(wanted[i] - wanted.front())];
  }
}

void ShownMaps::token_row(std::int64_t layer, std::int64_t column, std::int64_t query,
                          std::int64_t first_key, std::span<float> values) const {
  if (settings_.head_fusion == HeadFusion::none) {
    head_row(layer, column, query, first_key, values);
    return;
  }
  const std::int64_t heads = trace_->layers[static_cast<std::size_t>(layer)].implied_map.extent(0);
  head_row(layer, 0, query, first_key, values);
  std::vector<float> other(values.size());
  for (std::int64_t head = 1; head < heads; ++head) {
    head_row(layer, head, query, first_key, other);
    for (std::size_t i = 0; i < other.size(); ++i) {
      // A NaN in any head makes the fusion NaN; std::max and std::min would drop it.
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
