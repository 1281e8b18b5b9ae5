#include "app/canvas/map_textures.h"

#include <QElapsedTimer>
#include <QOpenGLFunctions_3_3_Core>
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/canvas/parallel.h"

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

MapTextures::MapTextures(QOpenGLFunctions_3_3_Core& gl) : gl_(gl) {}

MapTextures::~MapTextures() {
  for (const auto& [key, entry] : entries_) gl_.glDeleteTextures(1, &entry.texture.name);
}

void MapTextures::set_maps(std::shared_ptr<const ShownMaps> maps) {
  ++frame_;
  if (maps == maps_) return;
  maps_ = std::move(maps);
  ++generation_;
}

bool MapTextures::load(const std::vector<TileKey>& tiles, double budget_ms) {
  std::vector<TileKey> due;
  for (const TileKey& tile : tiles) {
    const auto found = entries_.find(tile);
    if (found == entries_.end() || found->second.generation != generation_) due.push_back(tile);
  }
  QElapsedTimer timer;
  timer.start();
  constexpr std::size_t batch = 16;
  std::vector<std::vector<MipLevel>> levels(batch);
  for (std::size_t first = 0; first < due.size(); first += batch) {
    if (first > 0 && static_cast<double>(timer.nsecsElapsed()) * 1e-6 > budget_ms) return false;
    const std::size_t count = std::min(batch, due.size() - first);
    for_each_index(static_cast<std::int64_t>(count), [&](std::int64_t index) {
      const auto i = static_cast<std::size_t>(index);
      const TileKey& tile = due[first + i];
      const TileCells cells = cells_of(tile, maps_->extent(tile.layer, tile.column));
      const std::int64_t block = std::int64_t{1} << tile.level;
      levels[i] = mip_levels(maps_->block_means(tile.layer, tile.column, tile.level, cells.row0,
                                                cells.row1, cells.key0, cells.key1),
                             (cells.key1 - cells.key0 + block - 1) / block,
                             (cells.row1 - cells.row0 + block - 1) / block);
    });
    for (std::size_t i = 0; i < count; ++i) {
      const TileKey& tile = due[first + i];
      upload(entries_[tile], cells_of(tile, maps_->extent(tile.layer, tile.column)), tile.level,
             levels[i]);
    }
  }
  return true;
}

void MapTextures::upload(Entry& entry, const TileCells& cells, int level,
                         const std::vector<MipLevel>& levels) {
  const std::int64_t block = std::int64_t{1} << level;
  Texture& texture = entry.texture;
  const std::int64_t width = (cells.key1 - cells.key0 + block - 1) / block;
  const std::int64_t height = (cells.row1 - cells.row0 + block - 1) / block;
  const bool same_size = texture.name != 0 && texture.width == width && texture.height == height;
  if (texture.name == 0) gl_.glGenTextures(1, &texture.name);
  gl_.glBindTexture(GL_TEXTURE_2D, texture.name);
  gl_.glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto w = static_cast<GLsizei>(levels[i].width),
               h = static_cast<GLsizei>(levels[i].height);
    const auto mip = static_cast<GLint>(i);
    if (same_size) {
      gl_.glTexSubImage2D(GL_TEXTURE_2D, mip, 0, 0, w, h, GL_RED, GL_FLOAT,
                          levels[i].values.data());
    } else {
      gl_.glTexImage2D(GL_TEXTURE_2D, mip, GL_R32F, w, h, 0, GL_RED, GL_FLOAT,
                       levels[i].values.data());
    }
  }
  if (!same_size) {
    gl_.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, static_cast<GLint>(levels.size()) - 1);
    gl_.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    gl_.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    gl_.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    gl_.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
  }
  texture.width = width;
  texture.height = height;
  texture.part_x =
      static_cast<double>(cells.key1 - cells.key0) / static_cast<double>(width * block);
  texture.part_y =
      static_cast<double>(cells.row1 - cells.row0) / static_cast<double>(height * block);
  bytes_ -= entry.bytes;
  entry.bytes = width * height * 4 * 4 / 3;  // with its mip levels
  bytes_ += entry.bytes;
  entry.generation = generation_;
  entry.last_frame = frame_;
}

MapTextures::Texture MapTextures::find(const TileKey& tile) {
  const auto found = entries_.find(tile);
  if (found == entries_.end()) return {};
  found->second.last_frame = frame_;
  return found->second.texture;
}

void MapTextures::trim(std::int64_t bytes) {
  if (bytes_ <= bytes) return;
  std::vector<std::pair<std::int64_t, TileKey>> by_age;
  for (const auto& [key, entry] : entries_) {
    if (entry.last_frame != frame_) by_age.emplace_back(entry.last_frame, key);
  }
  std::sort(by_age.begin(), by_age.end());
  for (const auto& [frame, key] : by_age) {
    if (bytes_ <= bytes) return;
    const auto found = entries_.find(key);
    gl_.glDeleteTextures(1, &found->second.texture.name);
    bytes_ -= found->second.bytes;
    entries_.erase(found);
  }
}

}  // namespace attnscope
