#include "app/canvas/tile_worker.h"

#include <algorithm>
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

}  // namespace attnscope
