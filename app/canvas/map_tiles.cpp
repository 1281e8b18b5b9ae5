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

int overview_level(MapExtent extent) {
  constexpr int kOfThousands = 3;  // coarsest level above 2048 tokens
  const int coarsest = coarsest_level(extent);
  return coarsest + (coarsest >= kOfThousands ? 1 : 0);
}

std::vector<TileKey> tiles_for(std::int64_t layer, std::int64_t column, MapExtent extent,
                               const QRectF& visible, double pixels) {
  if (extent.queries <= 0 || extent.keys <= 0) return {};
  const int coarsest = overview_level(extent);
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

/// Halves the number of values, each the mean over the area that it covers: of two values, or of
/// one and parts of its two neighbours if `from` is odd.
class Halving {
 public:
  explicit Halving(std::int64_t from)
      : from_(from), to_(std::max<std::int64_t>(1, from / 2)), is_odd_(from % 2 == 1 && from > 1) {
    if (!is_odd_) return;
    const double to = static_cast<double>(to_), span = static_cast<double>(from) / to;
    middle_ = static_cast<float>(1 / span);
    for (std::int64_t i = 0; i < to_; ++i) {
      before_.push_back(static_cast<float>((1 - static_cast<double>(i) / to) / span));
      after_.push_back(static_cast<float>(static_cast<double>(i + 1) / to / span));
    }
  }

  [[nodiscard]] std::int64_t to() const { return to_; }

  /// Halves each of `count` rows.
  [[nodiscard]] std::vector<float> across(std::vector<float> rows, std::int64_t count) const {
    if (from_ == 1) return rows;
    std::vector<float> narrow(static_cast<std::size_t>(count * to_));
    const float* values = rows.data();
    float* means = narrow.data();
    for (std::int64_t row = 0; row < count; ++row, values += from_, means += to_) {
      for (std::int64_t i = 0; i < to_; ++i) {
        means[i] = is_odd_ ? odd_mean(i, values[2 * i], values[2 * i + 1], values[2 * i + 2])
                           : (values[2 * i] + values[2 * i + 1]) / 2;
      }
    }
    return narrow;
  }

  /// Halves each column of rows `width` wide.
  [[nodiscard]] std::vector<float> down(const std::vector<float>& rows, std::int64_t width) const {
    if (from_ == 1) return rows;
    std::vector<float> low(static_cast<std::size_t>(to_ * width));
    const float* values = rows.data();
    float* means = low.data();
    for (std::int64_t i = 0; i < to_; ++i, values += 2 * width, means += width) {
      for (std::int64_t x = 0; x < width; ++x) {
        means[x] = is_odd_ ? odd_mean(i, values[x], values[width + x], values[2 * width + x])
                           : (values[x] + values[width + x]) / 2;
      }
    }
    return low;
  }

 private:
  [[nodiscard]] float odd_mean(std::int64_t i, float first, float second, float third) const {
    const auto at = static_cast<std::size_t>(i);
    return before_[at] * first + middle_ * second + after_[at] * third;
  }

  std::int64_t from_, to_;
  bool is_odd_;
  // Weights of the values 2i and 2i + 2 in mean i, for odd `from`; with middle_, the weight of 2i +
  // 1, they sum to 1.
  std::vector<float> before_, after_;
  float middle_ = 0;
};

}  // namespace

std::vector<MipLevel> mip_levels(std::vector<float> values, std::int64_t width,
                                 std::int64_t height) {
  std::vector<MipLevel> levels;
  levels.push_back({width, height, std::move(values)});
  while (levels.back().width > 1 || levels.back().height > 1) {
    const MipLevel& large = levels.back();
    const Halving across(large.width), down(large.height);
    levels.push_back(
        {across.to(), down.to(), across.across(down.down(large.values, large.width), down.to())});
  }
  return levels;
}

}  // namespace attnscope
