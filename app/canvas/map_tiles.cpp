#include "app/canvas/map_tiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace attnscope {

int coarsest_level(MapExtent extent) {
  int level = 0;
  const std::int64_t longest = std::max(extent.queries, extent.keys);
  while ((tile_side << level) < longest) ++level;
  return level;
}

std::vector<TileKey> tiles_for(std::int64_t layer, std::int64_t column, MapExtent extent,
                               const QRectF& visible, double pixels) {
  if (extent.queries <= 0 || extent.keys <= 0) return {};
  const int coarsest = coarsest_level(extent);
  std::vector<TileKey> tiles{{layer, column, coarsest, 0, 0}};
  const double cells_per_pixel =
      static_cast<double>(std::max(extent.queries, extent.keys)) / std::max(1.0, pixels);
  const int wanted =
      std::clamp(static_cast<int>(std::floor(std::log2(cells_per_pixel))), 0, coarsest);
  if (wanted == coarsest) return tiles;
  const std::int64_t span = tile_side << wanted;
  const auto range = [span](double low, double high, std::int64_t count) {
    const double cells = static_cast<double>(count);
    return CellRange{
        std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(low * cells)) / span),
        std::min((count + span - 1) / span,
                 static_cast<std::int64_t>(std::ceil(high * cells)) / span + 1)};
  };
  const CellRange rows = range(visible.top(), visible.bottom(), extent.queries);
  const CellRange columns = range(visible.left(), visible.right(), extent.keys);
  for (std::int64_t y = rows.begin; y < rows.end; ++y) {
    for (std::int64_t x = columns.begin; x < columns.end; ++x) {
      tiles.push_back({layer, column, wanted, y, x});
    }
  }
  return tiles;
}

TileCells cells_of(const TileKey& tile, MapExtent extent) {
  const std::int64_t span = tile_side << tile.level;
  return {tile.y * span, std::min((tile.y + 1) * span, extent.queries), tile.x * span,
          std::min((tile.x + 1) * span, extent.keys)};
}

namespace {

/// `from` values become `to`, each the mean over the area it covers.
class Halving {
 public:
  Halving(std::int64_t from, std::int64_t to) : parts_(static_cast<std::size_t>(to)) {
    const double span = static_cast<double>(from) / static_cast<double>(to);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      const double low = static_cast<double>(i) * span, high = low + span;
      part.first = static_cast<std::int64_t>(low);
      for (std::int64_t j = part.first; j < from && static_cast<double>(j) < high; ++j) {
        const double covered =
            std::min(high, static_cast<double>(j) + 1) - std::max(low, static_cast<double>(j));
        // Rounding may leave a sliver of the next value: it must not bring in a NaN.
        if (covered > 1e-6) part.shares[part.count++] = static_cast<float>(covered / span);
      }
    }
  }

  [[nodiscard]] std::int64_t to() const { return std::ssize(parts_); }

  /// Of `count` rows each.
  [[nodiscard]] std::vector<float> across(const std::vector<float>& rows,
                                          std::int64_t count) const {
    const std::int64_t from = std::ssize(rows) / count;
    std::vector<float> narrow(static_cast<std::size_t>(count) * parts_.size());
    float* mean = narrow.data();
    for (std::int64_t row = 0; row < count; ++row) {
      for (const Part& part : parts_) {
        const float* const values = rows.data() + row * from + part.first;
        for (std::size_t k = 0; k < part.count; ++k) *mean += part.shares[k] * values[k];
        ++mean;
      }
    }
    return narrow;
  }

  /// Of each column of rows `width` wide.
  [[nodiscard]] std::vector<float> down(const std::vector<float>& rows, std::int64_t width) const {
    std::vector<float> low(static_cast<std::size_t>(width) * parts_.size());
    float* means = low.data();
    for (const Part& part : parts_) {
      const float* values = rows.data() + part.first * width;
      for (std::size_t k = 0; k < part.count; ++k) {
        for (std::int64_t x = 0; x < width; ++x) means[x] += part.shares[k] * values[x];
        values += width;
      }
      means += width;
    }
    return low;
  }

 private:
  /// What one value is made of: shares of those from `first` on, together 1.
  struct Part {
    std::int64_t first = 0;
    std::size_t count = 0;
    std::array<float, 4> shares = {};  // of a span of at most 3, wherever it begins
  };
  std::vector<Part> parts_;
};

}  // namespace

std::vector<MipLevel> mip_levels(std::vector<float> values, std::int64_t width,
                                 std::int64_t height) {
  std::vector<MipLevel> levels;
  levels.push_back({width, height, std::move(values)});
  while (levels.back().width > 1 || levels.back().height > 1) {
    const MipLevel& large = levels.back();
    const Halving across(large.width, std::max<std::int64_t>(1, large.width / 2));
    const Halving down(large.height, std::max<std::int64_t>(1, large.height / 2));
    levels.push_back(
        {across.to(), down.to(), across.across(down.down(large.values, large.width), down.to())});
  }
  return levels;
}

}  // namespace attnscope
