// Maps on the graphics card as tiles of float textures, only those that are visible.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "app/canvas/map_tiles.h"
#include "app/canvas/shown_maps.h"

class QOpenGLFunctions_3_3_Core;

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

/// All calls, including destruction, need the same OpenGL context to be current.
class MapTextures {
 public:
  /// `arrived` is called from another thread when `load` has new tiles to upload.
  MapTextures(QOpenGLFunctions_3_3_Core& gl, std::function<void()> arrived);
  ~MapTextures();
  MapTextures(const MapTextures&) = delete;
  MapTextures& operator=(const MapTextures&) = delete;

  /// Sets the source of the tiles. Tiles of earlier maps stay drawable until they are replaced.
  void set_maps(std::shared_ptr<const ShownMaps> maps);

  /// Uploads the computed tiles until `budget_ms` is spent, and requests those of `tiles` that are
  /// missing or outdated. True if all of them show the maps set last.
  bool load(const std::vector<TileKey>& tiles, double budget_ms);
  /// True if `load` could upload more at once because its budget was spent.
  [[nodiscard]] bool has_more() const { return worker_.has_finished(); }

  struct Texture {
    unsigned name = 0;              ///< 0: missing
    double part_x = 1, part_y = 1;  ///< part of the texture that is inside the map
    std::int64_t width = 0, height = 0;
    bool has_gaps = false;  ///< some value is not finite
  };
  [[nodiscard]] Texture find(const TileKey& tile);

  /// Frees the least recently used tiles until at most `bytes` are held; never those of this frame.
  void trim(std::int64_t bytes);
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  struct Entry {
    Texture texture;
    std::int64_t generation = 0, last_frame = 0, bytes = 0;
  };
  void upload(Entry& entry, const TileWorker::Tile& tile);

  QOpenGLFunctions_3_3_Core& gl_;
  std::shared_ptr<const ShownMaps> maps_;
  std::map<TileKey, Entry> entries_;
  std::int64_t generation_ = 0, frame_ = 0, bytes_ = 0;
  TileWorker worker_;
};

}  // namespace attnscope
