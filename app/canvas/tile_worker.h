// Tiles of maps, computed off the window's thread.
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

/// One thread that fills tiles, itself on all cores. Destruction waits for the tiles in work.
class TileWorker {
 public:
  struct Tile {
    TileKey key;
    std::int64_t generation = 0;   ///< of the request it was made for
    MapExtent extent;              ///< of its map then
    std::vector<MipLevel> levels;  ///< values, and their smaller copies
  };

  /// `arrived` is called from the worker's thread whenever there is something to take.
  explicit TileWorker(std::function<void()> arrived);
  ~TileWorker();
  TileWorker(const TileWorker&) = delete;
  TileWorker& operator=(const TileWorker&) = delete;

  /// What is wanted from now on, most wanted first, without what is in work or finished already;
  /// what was wanted before and is not begun yet is forgotten.
  void want(std::shared_ptr<const ShownMaps> maps, std::int64_t generation,
            std::vector<TileKey> tiles);
  /// The finished tiles, at most `most` of them, oldest first.
  [[nodiscard]] std::vector<Tile> take(std::size_t most);
  /// Whether more can be taken.
  [[nodiscard]] bool has_finished() const;

 private:
  void work(const std::stop_token& stop);

  std::function<void()> arrived_;
  mutable std::mutex mutex_;
  std::condition_variable_any wanted_;
  std::shared_ptr<const ShownMaps> maps_;
  std::int64_t generation_ = 0;
  std::vector<TileKey> queue_;  // the next one last
  std::vector<TileKey> in_work_;
  std::int64_t in_work_generation_ = 0;
  std::vector<Tile> finished_;
  std::jthread thread_;  // last: it must end before what it works on
};

}  // namespace attnscope
