// Background computation of map tiles.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "app/canvas/map_tiles.h"
#include "app/canvas/shown_maps.h"

namespace attnscope {

/// One thread that fills tiles, each batch on all cores. Destruction waits for the batch in work.
class TileWorker {
 public:
  struct Tile {
    TileKey key;
    std::int64_t generation = 0;   ///< generation of the request that it was made for
    MapExtent extent;              ///< shape of its map at that time
    std::vector<MipLevel> levels;  ///< values and their mip levels
  };

  /// `arrived` is called from the worker's thread whenever tiles are ready to take.
  explicit TileWorker(std::function<void()> arrived);
  ~TileWorker();
  TileWorker(const TileWorker&) = delete;
  TileWorker& operator=(const TileWorker&) = delete;

  /// Replaces the requested tiles, most urgent first. Tiles in work or finished are not computed
  /// again; earlier requests that have not started are dropped.
  void want(std::shared_ptr<const ShownMaps> maps, std::int64_t generation,
            std::vector<TileKey> tiles);
  /// The finished tiles, at most `most` of them, oldest first.
  [[nodiscard]] std::vector<Tile> take(std::size_t most);
  /// True if more finished tiles can be taken.
  [[nodiscard]] bool has_finished() const;

 private:
  void work(const std::stop_token& stop);

  std::function<void()> arrived_;
  mutable std::mutex mutex_;
  std::condition_variable_any wanted_;
  std::shared_ptr<const ShownMaps> maps_;
  std::int64_t generation_ = 0;
  std::vector<TileKey> queue_;  // the last one is next
  std::vector<TileKey> in_work_;
  std::int64_t in_work_generation_ = 0;
  std::vector<Tile> finished_;
  std::jthread thread_;  // last member: must end before the data that it uses
};

}  // namespace attnscope
