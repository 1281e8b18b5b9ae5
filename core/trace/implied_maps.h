// The implied maps of a layer: held whole, as the blocks that attention within windows leaves, or
// nowhere, and then computed where they are looked at.
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

/// Maps [H, N, N] that are zero but for square blocks: tokens attend to those of their block alone
/// (Swin, Twins, SAM). Memory: H · Σ n², n the tokens of a block.
class MapBlocks {
 public:
  /// All zero. `tokens` of each block, in its own order; every one of 0…N−1 in exactly one block:
  /// Error(damaged) otherwise.
  MapBlocks(std::int64_t heads, std::vector<std::vector<std::int64_t>> tokens);

  [[nodiscard]] std::int64_t heads() const { return heads_; }
  [[nodiscard]] std::int64_t tokens() const { return std::ssize(places_); }  ///< N
  [[nodiscard]] std::int64_t count() const { return std::ssize(tokens_); }
  [[nodiscard]] const std::vector<std::int64_t>& tokens_of(std::int64_t block) const {
    return tokens_[static_cast<std::size_t>(block)];
  }
  [[nodiscard]] const std::vector<std::vector<std::int64_t>>& partition() const { return tokens_; }
  /// [n, n] in the block's order.
  [[nodiscard]] MatrixMap block(std::int64_t head, std::int64_t block);
  [[nodiscard]] ConstMatrixMap block(std::int64_t head, std::int64_t block) const;
  [[nodiscard]] float at(std::int64_t head, std::int64_t query, std::int64_t key) const;
  /// Writes of row `query` of the whole map the keys from `first` on.
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
  std::vector<Place> places_;          // of each token
  std::vector<std::int64_t> offsets_;  // of each block within a head, and their end
  std::vector<float> entries_;
};

/// Maps of many tokens, made anew of queries and keys whenever rows of them are wanted.
class ComputedMaps {
 public:
  /// Writes of a head's map the rows from query `first` on, [n, M]; from several threads at once.
  using Fill = std::function<void(std::int64_t head, std::int64_t first, StridedMatrixMap rows)>;

  /// `bytes` of what they are computed from. `shape` is [H, N, M].
  ComputedMaps(Shape shape, std::int64_t bytes, Fill fill);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  void rows(std::int64_t head, std::int64_t first, StridedMatrixMap into) const {
    fill_(head, first, into);
  }
  /// Of row `query` the keys from `first` on. Rows are computed some at a time; those that were
  /// looked at last, by whomever, are remembered.
  void row(std::int64_t head, std::int64_t query, std::int64_t first, std::span<float> into) const;

 private:
  Shape shape_;
  std::int64_t bytes_;
  Fill fill_;
  std::int64_t number_;  // of all that there were
};

/// The maps of a layer, [H, N, M]. Readers take a head, rows, a cell, or the blocks; what holds for
/// whole maps alone says so.
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
  /// Neither as blocks nor computed.
  [[nodiscard]] bool is_held_whole() const { return !blocks_ && !computed_; }
  /// Whether they are held nowhere.
  [[nodiscard]] bool are_computed() const { return computed_ != nullptr; }
  /// Whether both are computed, from the same to the same.
  [[nodiscard]] bool are_computed_as(const ImpliedMaps& other) const {
    return computed_ && computed_ == other.computed_ &&
           added_to_diagonals_ == other.added_to_diagonals_;
  }
  /// What is held, in whatever order: of blocks no entry outside them, all of which are 0; nothing
  /// of computed maps.
  [[nodiscard]] std::span<const float> entries() const;
  [[nodiscard]] std::span<float> entries();
  /// Of what is held.
  [[nodiscard]] std::int64_t bytes() const {
    return computed_ ? computed_->bytes() : std::ssize(entries()) * 4;
  }
  /// Null where the maps are held whole.
  [[nodiscard]] const MapBlocks* blocks() const { return blocks_ ? &*blocks_ : nullptr; }
  [[nodiscard]] MapBlocks* blocks() { return blocks_ ? &*blocks_ : nullptr; }

  /// A copy of one head's map, [N, M].
  [[nodiscard]] Matrix head(std::int64_t head) const;
  /// Writes of it the rows from query `first` on, [n, M].
  void rows(std::int64_t head, std::int64_t first, StridedMatrixMap into) const;
  /// A copy of one row of it, M numbers.
  [[nodiscard]] Eigen::RowVectorXf row(std::int64_t head, std::int64_t query) const;
  /// Writes of it the keys from `first` on.
  void row(std::int64_t head, std::int64_t query, std::int64_t first, std::span<float> into) const;
  [[nodiscard]] float at(std::int64_t head, std::int64_t query, std::int64_t key) const;
  /// A copy of all, [H, N, M]: where nothing less will do.
  [[nodiscard]] Tensor all() const;

  /// Of every head; the maps must be square.
  void add_to_diagonals(float change);

  /// The maps held whole; of others Error(usage).
  [[nodiscard]] const Tensor& whole() const;
  [[nodiscard]] Tensor& whole();
  operator const Tensor&() const { return whole(); }  // NOLINT(google-explicit-constructor)
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
  float added_to_diagonals_ = 0;  // of computed maps
  Shape shape_;                   // of what is not held whole
};

}  // namespace attnscope
