#include "app/canvas/map_textures.h"

#include <QElapsedTimer>
#include <QOpenGLFunctions_3_3_Core>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "app/canvas/parallel.h"

namespace attnscope {

namespace {

/// Batch size: small because requests change quickly, large enough to keep all cores busy.
constexpr std::size_t kBatch = 16;

TileWorker::Tile filled(const ShownMaps& maps, const TileKey& key, std::int64_t generation) {
  TileWorker::Tile tile{key, generation, maps.extent(key.layer, key.column), {}};
  const TileCells cells = cells_of(key, tile.extent);
  const std::int64_t block = std::int64_t{1} << key.level;
  tile.levels = mip_levels(maps.block_means(key.layer, key.column, key.level, cells.row0,
                                            cells.row1, cells.key0, cells.key1),
                           (cells.key1 - cells.key0 + block - 1) / block,
                           (cells.row1 - cells.row0 + block - 1) / block);
  return tile;
}

}  // namespace

TileWorker::TileWorker(std::function<void()> arrived)
    : arrived_(std::move(arrived)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

TileWorker::~TileWorker() = default;

void TileWorker::want(std::shared_ptr<const ShownMaps> maps, std::int64_t generation,
                      std::vector<TileKey> tiles) {
  {
    const std::lock_guard lock(mutex_);
    maps_ = std::move(maps);
    generation_ = generation;
    queue_ = std::move(tiles);
    std::erase_if(queue_, [this](const TileKey& key) {
      const bool working =
          in_work_generation_ == generation_ && std::ranges::find(in_work_, key) != in_work_.end();
      return working || std::ranges::any_of(finished_, [&](const Tile& tile) {
               return tile.generation == generation_ && tile.key == key;
             });
    });
    std::reverse(queue_.begin(), queue_.end());
  }
  wanted_.notify_one();
}

std::vector<TileWorker::Tile> TileWorker::take(std::size_t most) {
  const std::lock_guard lock(mutex_);
  const auto count = static_cast<std::ptrdiff_t>(std::min(most, finished_.size()));
  std::vector<Tile> taken(std::make_move_iterator(finished_.begin()),
                          std::make_move_iterator(finished_.begin() + count));
  finished_.erase(finished_.begin(), finished_.begin() + count);
  return taken;
}

bool TileWorker::has_finished() const {
  const std::lock_guard lock(mutex_);
  return !finished_.empty();
}

void TileWorker::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (wanted_.wait(lock, stop, [this] { return !queue_.empty(); }) && !stop.stop_requested()) {
    const auto count = static_cast<std::ptrdiff_t>(std::min(kBatch, queue_.size()));
    const std::vector<TileKey> batch(queue_.rbegin(), queue_.rbegin() + count);
    in_work_ = batch;
    in_work_generation_ = generation_;
    queue_.erase(queue_.end() - count, queue_.end());
    const std::shared_ptr<const ShownMaps> maps = maps_;
    const std::int64_t generation = generation_;
    lock.unlock();
    std::vector<Tile> tiles(batch.size());
    for_each_index(count, [&](std::int64_t i) {
      const auto index = static_cast<std::size_t>(i);
      tiles[index] = filled(*maps, batch[index], generation);
    });
    lock.lock();
    std::move(tiles.begin(), tiles.end(), std::back_inserter(finished_));
    in_work_.clear();
    lock.unlock();
    arrived_();
    lock.lock();
  }
}

MapTextures::MapTextures(QOpenGLFunctions_3_3_Core& gl, std::function<void()> arrived)
    : gl_(gl), worker_(std::move(arrived)) {}

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
  QElapsedTimer timer;
  timer.start();
  while (static_cast<double>(timer.nsecsElapsed()) * 1e-6 < budget_ms) {
    const std::vector<TileWorker::Tile> arrived = worker_.take(4);
    if (arrived.empty()) break;
    for (const TileWorker::Tile& tile : arrived) {
      Entry& entry = entries_[tile.key];
      // While a slider is dragged all tiles are outdated; the newest available one is better than
      // an older one.
      if (!tile.levels.empty() && tile.generation > entry.generation) upload(entry, tile);
    }
  }
  std::vector<std::pair<std::int64_t, TileKey>> due;
  for (const TileKey& tile : tiles) {
    const auto found = entries_.find(tile);
    const std::int64_t generation = found == entries_.end() ? 0 : found->second.generation;
    if (generation != generation_) due.emplace_back(generation, tile);
  }
  // The oldest come first, so that all tiles advance while the maps change with every frame.
  std::stable_sort(due.begin(), due.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<TileKey> wanted;
  wanted.reserve(due.size());
  for (const auto& [generation, tile] : due) wanted.push_back(tile);
  if (wanted.empty()) return true;
  worker_.want(maps_, generation_, std::move(wanted));
  return false;
}

void MapTextures::upload(Entry& entry, const TileWorker::Tile& tile) {
  const std::vector<MipLevel>& levels = tile.levels;
  const TileCells cells = cells_of(tile.key, tile.extent);
  const std::int64_t block = std::int64_t{1} << tile.key.level;
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
  // The coarsest level is one value, and a mean is finite only if all its values are.
  texture.has_gaps = !std::isfinite(levels.back().values.front());
  texture.part_x =
      static_cast<double>(cells.key1 - cells.key0) / static_cast<double>(width * block);
  texture.part_y =
      static_cast<double>(cells.row1 - cells.row0) / static_cast<double>(height * block);
  bytes_ -= entry.bytes;
  entry.bytes = width * height * 4 * 4 / 3;  // includes the mip levels
  bytes_ += entry.bytes;
  entry.generation = tile.generation;
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
