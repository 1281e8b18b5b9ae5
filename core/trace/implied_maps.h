// The implied maps of a layer: stored as one dense tensor, stored as the blocks of windowed
// attention, or not stored and computed on access.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// Maps [H, N, N] that are zero outside square blocks, because tokens attend only to the tokens of
/// their own block (Swin, Twins, SAM). Memory: H · Σ n², with n the number of tokens of a block.
class MapBlocks {
 public:
  /// All entries start at zero. `tokens` holds one ordered list per block; each of 0…N−1 must be in
  /// exactly one block, otherwise Error(damaged).
  MapBlocks(std::int64_t heads, std::vector<std::vector<std::int64_t>> tokens);

  [[nodiscard]] std::int64_t heads() const { return heads_; }
  [[nodiscard]] std::int64_t tokens() const { return std::ssize(places_); }  ///< N
  [[nodiscard]] std::int64_t count() const { return std::ssize(tokens_); }
  [[nodiscard]] const std::vector<std::int64_t>& tokens_of(std::int64_t block) const {
    return tokens_[static_cast<std::size_t>(block)];
  }
  [[nodiscard]] const std::vector<std::vector<std::int64_t>>& partition() const { return tokens_; }
  /// The block of one head, [n, n] in the block's token order.
  [[nodiscard]] MatrixMap block(std::int64_t head, std::int64_t block);
  [[nodiscard]] ConstMatrixMap block(std::int64_t head, std::int64_t block) const;
  [[nodiscard]] float at(std::int64_t head, std::int64_t query, std::int64_t key) const;
  /// Copies row `query` of the full map, from key `first` on, to `into`.
  void row(std::int64_t head, std::int64_t query, std::int64_t first, std::span<float> into) const;
  [[nodiscard]] std::span<const float> entries() const { return entries_; }
  [[nodiscard]] std::span<float> entries() { return entries_; }

 private:
  struct Place {
    std::int64_t block, index;
  };
  [[nodiscard]] std::size_t offset(std::int64_t head, std::int64_t block) const;

  std::int64_t heads_;
  std::vector<std::vector<std::int64_t>> tokens_;
  std::vector<Place> places_;          // one per token
  std::vector<std::int64_t> offsets_;  // start of each block within a head, and the end
  std::vector<float> entries_;
};

/// Maps of many tokens, recomputed from queries and keys whenever rows are requested.
class ComputedMaps {
 public:
  /// Writes rows of a head's map, from query `first` on, [n, M]. Called from several threads at
  /// once.
  using Fill = std::function<void(std::int64_t head, std::int64_t first, StridedMatrixMap rows)>;

  /// `bytes` is the size of the data that the maps are computed from. `shape` is [H, N, M].
  ComputedMaps(Shape shape, std::int64_t bytes, Fill fill);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  void rows(std::int64_t head, std::int64_t first, StridedMatrixMap into) const {
    fill_(head, first, into);
  }
  /// Copies row `query`, from key `first` on, to `into`. Rows are computed in bands; the most
  /// recently used bands of all maps are cached.
  void row(std::int64_t head, std::int64_t query, std::int64_t first, std::span<float> into) const;

 private:
  Shape shape_;
  std::int64_t bytes_;
  Fill fill_;
  std::int64_t number_;  // unique among all computed maps
};

/// The maps of a layer, [H, N, M], read by head, row, cell or block. Accessors that need one dense
/// tensor say so.
class ImpliedMaps {
 public:
  ImpliedMaps() = default;
  ImpliedMaps(Tensor whole) : whole_(std::move(whole)) {}  // NOLINT(google-explicit-constructor)
  explicit ImpliedMaps(MapBlocks blocks);
  explicit ImpliedMaps(std::shared_ptr<const ComputedMaps> computed)
      : computed_(std::move(computed)), shape_(computed_->shape()) {}

  [[nodiscard]] const Shape& shape() const { return is_held_whole() ? whole_.shape() : shape_; }
  [[nodiscard]] std::int64_t rank() const { return std::ssize(shape()); }
  [[nodiscard]] std::int64_t extent(std::size_t axis) const { return shape().at(axis); }
  [[nodiscard]] bool empty() const { return is_held_whole() && whole_.empty(); }
  /// True if the maps are stored as one dense tensor.
  [[nodiscard]] bool is_held_whole() const { return !blocks_ && !computed_; }
  /// True if the maps are not stored but computed on access.
  [[nodiscard]] bool are_computed() const { return computed_ != nullptr; }
  /// True if both are computed from the same source, with the same change of the diagonal.
  [[nodiscard]] bool are_computed_as(const ImpliedMaps& other) const {
    return computed_ && computed_ == other.computed_ &&
           added_to_diagonals_ == other.added_to_diagonals_;
  }
  /// The stored entries in storage order: for blocks only the entries inside them (all others are
  /// 0), empty for computed maps.
  [[nodiscard]] std::span<const float> entries() const;
  [[nodiscard]] std::span<float> entries();
  /// Size of the stored entries in bytes; for computed maps, of the data they are computed from.
  [[nodiscard]] std::int64_t bytes() const {
    return computed_ ? computed_->bytes() : std::ssize(entries()) * 4;
  }
  /// Null unless the maps are stored as blocks.
  [[nodiscard]] const MapBlocks* blocks() const { return blocks_ ? &*blocks_ : nullptr; }
  [[nodiscard]] MapBlocks* blocks() { return blocks_ ? &*blocks_ : nullptr; }

  /// A copy of one head's map, [N, M].
  [[nodiscard]] Matrix head(std::int64_t head) const;
  /// Copies rows of a head's map, from query `first` on, [n, M], to `into`.
  void rows(std::int64_t head, std::int64_t first, StridedMatrixMap into) const;
  /// A copy of one row of a head's map, M numbers.
  [[nodiscard]] Eigen::RowVectorXf row(std::int64_t head, std::int64_t query) const;
  /// Copies one row of a head's map, from key `first` on, to `into`.
  void row(std::int64_t head, std::int64_t query, std::int64_t first, std::span<float> into) const;
  [[nodiscard]] float at(std::int64_t head, std::int64_t query, std::int64_t key) const;
  /// A copy of all maps, [H, N, M]. Expensive: use head or rows where they suffice.
  [[nodiscard]] Tensor all() const;

  /// Adds `change` to the diagonal of every head's map. The maps must be square.
  void add_to_diagonals(float change);

  /// The dense tensor of the maps. Throws Error(usage) if they are stored as blocks or computed.
  [[nodiscard]] const Tensor& whole() const;
  [[nodiscard]] Tensor& whole();
  [[nodiscard]] ConstMatrixMap slice(std::int64_t head) const { return whole().slice(head); }
  [[nodiscard]] MatrixMap slice(std::int64_t head) { return whole().slice(head); }
  [[nodiscard]] std::span<const float> values() const { return whole().values(); }
  [[nodiscard]] std::span<float> values() { return whole().values(); }
  [[nodiscard]] const float* data() const { return whole().data(); }
  [[nodiscard]] float* data() { return whole().data(); }

 private:
  Tensor whole_;
  std::optional<MapBlocks> blocks_;
  std::shared_ptr<const ComputedMaps> computed_;
  float added_to_diagonals_ = 0;  // used only for computed maps
  Shape shape_;                   // empty for dense maps
};

}  // namespace attnscope
