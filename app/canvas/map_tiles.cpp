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

/// A row of `from` values to one of `to`, each the mean over the area it covers.
struct Halving {
  std::int64_t from, to;

  template <typename Get, typename Put>
  void apply(const Get& get, const Put& put) const {
    const double span = static_cast<double>(from) / static_cast<double>(to);
    for (std::int64_t i = 0; i < to; ++i) {
      const double low = static_cast<double>(i) * span, high = low + span;
      double sum = 0;
      for (auto j = static_cast<std::int64_t>(low); j < from && static_cast<double>(j) < high;
           ++j) {
        const double share =
            std::min(high, static_cast<double>(j) + 1) - std::max(low, static_cast<double>(j));
        // Rounding may leave a sliver of the next value: it must not bring in a NaN.
        if (share > 1e-6) sum += share * get(j);
      }
      put(i, static_cast<float>(sum / span));
    }
  }
};

}  // namespace

std::vector<MipLevel> mip_levels(std::vector<float> values, std::int64_t width,
                                 std::int64_t height) {
  std::vector<MipLevel> levels;
  levels.push_back({width, height, std::move(values)});
  while (levels.back().width > 1 || levels.back().height > 1) {
    const MipLevel& large = levels.back();
    const Halving across{large.width, std::max<std::int64_t>(1, large.width / 2)};
    const Halving down{large.height, std::max<std::int64_t>(1, large.height / 2)};
    std::vector<float> narrow(static_cast<std::size_t>(across.to * large.height));
    for (std::int64_t y = 0; y < large.height; ++y) {
      const float* source = large.values.data() + y * large.width;
      float* target = narrow.data() + y * across.to;
      across.apply([source](std::int64_t x) { return static_cast<double>(source[x]); },
                   [target](std::int64_t x, float value) { target[x] = value; });
    }
    MipLevel small{across.to, down.to, {}};
    small.values.resize(static_cast<std::size_t>(small.width * small.height));
    for (std::int64_t x = 0; x < small.width; ++x) {
      down.apply(
          [&](std::int64_t y) {
            return static_cast<double>(narrow[static_cast<std::size_t>(y * small.width + x)]);
          },
          [&](std::int64_t y, float value) {
            small.values[static_cast<std::size_t>(y * small.width + x)] = value;
          });
    }
    levels.push_back(std::move(small));
  }
  return levels;
}

}  // namespace attnscope
