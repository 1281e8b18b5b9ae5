#include "app/canvas/map_tiles.h"

#include <algorithm>
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
  Halving(std::int64_t from, std::int64_t to)
      : span_(static_cast<double>(from) / static_cast<double>(to)) {
    for (std::int64_t i = 0; i < to; ++i) {
      const double low = static_cast<double>(i) * span_, high = low + span_;
      const auto first = static_cast<std::int64_t>(low);
      parts_.push_back({first, {}});
      for (std::int64_t j = first; j < from && static_cast<double>(j) < high; ++j) {
        const double share =
            std::min(high, static_cast<double>(j) + 1) - std::max(low, static_cast<double>(j));
        // Rounding may leave a sliver of the next value: it must not bring in a NaN.
        if (share > 1e-6) parts_.back().shares.push_back(share);
      }
    }
  }

  [[nodiscard]] std::int64_t to() const { return std::ssize(parts_); }

  /// Of `count` rows each.
  [[nodiscard]] std::vector<float> across(const std::vector<float>& rows,
                                          std::int64_t count) const {
    const std::int64_t from = std::ssize(rows) / count;
    std::vector<float> narrow;
    narrow.reserve(static_cast<std::size_t>(count * to()));
    for (std::int64_t row = 0; row < count; ++row) {
      for (const Part& part : parts_) {
        const float* const values = rows.data() + row * from + part.first;
        double sum = 0;
        for (std::size_t k = 0; k < part.shares.size(); ++k) {
          sum += part.shares[k] * static_cast<double>(values[k]);
        }
        narrow.push_back(static_cast<float>(sum / span_));
      }
    }
    return narrow;
  }

  /// Of each column of rows `width` wide.
  [[nodiscard]] std::vector<float> down(const std::vector<float>& rows, std::int64_t width) const {
    std::vector<float> low;
    low.reserve(static_cast<std::size_t>(width * to()));
    std::vector<double> sums(static_cast<std::size_t>(width));
    for (const Part& part : parts_) {
      std::ranges::fill(sums, 0.0);
      const float* values = rows.data() + part.first * width;
      for (const double share : part.shares) {
        for (std::size_t x = 0; x < sums.size(); ++x) {
          sums[x] += share * static_cast<double>(values[x]);
        }
        values += width;
      }
      for (const double sum : sums) low.push_back(static_cast<float>(sum / span_));
    }
    return low;
  }

 private:
  /// What one value is made of: shares of those from `first` on.
  struct Part {
    std::int64_t first;
    std::vector<double> shares;
  };
  double span_;
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
    levels.push_back({across.to(), down.to(),
                      down.down(across.across(large.values, large.height), across.to())});
  }
  return levels;
}

}  // namespace attnscope
