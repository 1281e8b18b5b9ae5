#include "core/trace/implied_maps.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <mutex>
#include <string>
#include <tbb/parallel_for.h>
#include <utility>

#include "core/error.h"

namespace attnscope {

MapBlocks::MapBlocks(std::int64_t heads, std::vector<std::vector<std::int64_t>> tokens)
    : heads_(heads), tokens_(std::move(tokens)) {
  std::int64_t all = 0, entries = 0;
  for (const std::vector<std::int64_t>& block : tokens_) {
    offsets_.push_back(entries);
    all += std::ssize(block);
    entries += std::ssize(block) * std::ssize(block);
  }
  offsets_.push_back(entries);
  places_.assign(static_cast<std::size_t>(all), {-1, -1});
  for (std::int64_t block = 0; block < count(); ++block) {
    for (std::int64_t index = 0; index < std::ssize(tokens_of(block)); ++index) {
      const std::int64_t token = tokens_of(block)[static_cast<std::size_t>(index)];
      const bool known = token >= 0 && token < all;
      if (!known || places_[static_cast<std::size_t>(token)].block >= 0) {
        throw Error(ErrorKind::damaged, "the blocks of a map do not hold each token once")
            .expected("each of 0 to " + std::to_string(all - 1) + " in one block")
            .found(std::to_string(token) + (known ? " in two blocks" : ""));
      }
      places_[static_cast<std::size_t>(token)] = {block, index};
    }
  }
  entries_.resize(static_cast<std::size_t>(heads * entries));
}

std::size_t MapBlocks::offset(std::int64_t head, std::int64_t block) const {
  return static_cast<std::size_t>(head * offsets_.back() +
                                  offsets_[static_cast<std::size_t>(block)]);
}

MatrixMap MapBlocks::block(std::int64_t head, std::int64_t block) {
  const auto side = std::ssize(tokens_of(block));
  return {entries_.data() + offset(head, block), side, side};
}

ConstMatrixMap MapBlocks::block(std::int64_t head, std::int64_t block) const {
  const auto side = std::ssize(tokens_of(block));
  return {entries_.data() + offset(head, block), side, side};
}

float MapBlocks::at(std::int64_t head, std::int64_t query, std::int64_t key) const {
  const Place row = places_.at(static_cast<std::size_t>(query));
  const Place column = places_.at(static_cast<std::size_t>(key));
  return row.block == column.block ? block(head, row.block)(row.index, column.index) : 0.0F;
}

void MapBlocks::row(std::int64_t head, std::int64_t query, std::int64_t first,
                    std::span<float> into) const {
  const Place place = places_.at(static_cast<std::size_t>(query));
  std::ranges::fill(into, 0.0F);
  const ConstMatrixMap own = block(head, place.block);
  for (std::int64_t key = 0; key < own.cols(); ++key) {
    const std::int64_t token = tokens_of(place.block)[static_cast<std::size_t>(key)];
    if (token < first || token >= first + std::ssize(into)) continue;
    into[static_cast<std::size_t>(token - first)] = own(place.index, key);
  }
}

namespace {

/// The most recently used rows of computed maps, shared by all maps of the program.
class RememberedRows {
 public:
  static constexpr std::int64_t kBand = 32;  ///< number of rows computed at a time

  using Rows = std::shared_ptr<const Matrix>;
  struct Key {
    std::int64_t maps, head, band;
    bool operator==(const Key&) const = default;
  };

  static RememberedRows& of_the_program() {
    static RememberedRows rows;
    return rows;
  }

  /// Null if the rows are not cached.
  [[nodiscard]] Rows find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(kept_, key, &Kept::first);
    if (found == kept_.end()) return nullptr;
    kept_.splice(kept_.begin(), kept_, found);
    return kept_.front().second;
  }

  void keep(const Key& key, Rows rows) {
    const std::lock_guard lock(mutex_);
    bytes_ += rows->size() * 4;
    kept_.emplace_front(key, std::move(rows));
    while (bytes_ > kMostBytes && kept_.size() > 1) {
      bytes_ -= kept_.back().second->size() * 4;
      kept_.pop_back();
    }
  }

 private:
  using Kept = std::pair<Key, Rows>;
  static constexpr std::int64_t kMostBytes = std::int64_t{48} << 20;
  std::mutex mutex_;
  std::list<Kept> kept_;  // most recently used first
  std::int64_t bytes_ = 0;
};

}  // namespace

ComputedMaps::ComputedMaps(Shape shape, std::int64_t bytes, Fill fill)
    : shape_(std::move(shape)), bytes_(bytes), fill_(std::move(fill)) {
  static std::atomic<std::int64_t> count = 0;
  number_ = count++;
}

void ComputedMaps::row(std::int64_t head, std::int64_t query, std::int64_t first,
                       std::span<float> into) const {
  constexpr std::int64_t kBand = RememberedRows::kBand;
  RememberedRows& remembered = RememberedRows::of_the_program();
  const std::int64_t band = query / kBand;
  RememberedRows::Rows rows = remembered.find({number_, head, band});
  if (!rows) {
    const std::int64_t begin = band * kBand, keys = shape_[2];
    Matrix computed(std::min(kBand, shape_[1] - begin), keys);
    fill_(head, begin, {computed.data(), computed.rows(), keys, Eigen::OuterStride<>(keys)});
    rows = std::make_shared<const Matrix>(std::move(computed));
    remembered.keep({number_, head, band}, rows);
  }
  std::copy_n(&(*rows)(query % kBand, first), into.size(), into.begin());
}

ImpliedMaps::ImpliedMaps(MapBlocks blocks)
    : blocks_(std::move(blocks)), shape_{blocks_->heads(), blocks_->tokens(), blocks_->tokens()} {}

std::span<const float> ImpliedMaps::entries() const {
  return blocks_ ? blocks_->entries() : whole_.values();
}

std::span<float> ImpliedMaps::entries() { return blocks_ ? blocks_->entries() : whole_.values(); }

Matrix ImpliedMaps::head(std::int64_t head) const {
  if (is_held_whole()) return whole_.slice(head);
  if (computed_) {
    Matrix map(extent(1), extent(2));
    constexpr std::int64_t kRows = 64;
    // One row first: what all rows need is computed with all threads, none of which waits for it.
    rows(head, 0, {map.data(), 1, map.cols(), Eigen::OuterStride<>(map.cols())});
    tbb::parallel_for(std::int64_t{0}, (extent(1) + kRows - 1) / kRows, [&](std::int64_t part) {
      const std::int64_t first = part * kRows, count = std::min(kRows, extent(1) - first);
      rows(head, first,
           {map.data() + first * map.cols(), count, map.cols(), Eigen::OuterStride<>(map.cols())});
    });
    return map;
  }
  Matrix map = Matrix::Zero(extent(1), extent(2));
  for (std::int64_t block = 0; block < blocks_->count(); ++block) {
    const std::vector<std::int64_t>& tokens = blocks_->tokens_of(block);
    map(tokens, tokens) = blocks_->block(head, block);
  }
  return map;
}

void ImpliedMaps::rows(std::int64_t head, std::int64_t first, StridedMatrixMap into) const {
  if (computed_) {
    computed_->rows(head, first, into);
    for (std::int64_t i = 0; added_to_diagonals_ != 0 && i < into.rows(); ++i) {
      into(i, first + i) += added_to_diagonals_;
    }
    return;
  }
  for (std::int64_t i = 0; i < into.rows(); ++i) {
    row(head, first + i, 0, {&into(i, 0), static_cast<std::size_t>(into.cols())});
  }
}

Eigen::RowVectorXf ImpliedMaps::row(std::int64_t head, std::int64_t query) const {
  Eigen::RowVectorXf row(extent(2));
  this->row(head, query, 0, {row.data(), static_cast<std::size_t>(row.size())});
  return row;
}

void ImpliedMaps::row(std::int64_t head, std::int64_t query, std::int64_t first,
                      std::span<float> into) const {
  if (blocks_) {
    blocks_->row(head, query, first, into);
    return;
  }
  if (computed_) {
    computed_->row(head, query, first, into);
    const std::int64_t diagonal = query - first;
    if (diagonal >= 0 && diagonal < std::ssize(into)) {
      into[static_cast<std::size_t>(diagonal)] += added_to_diagonals_;
    }
    return;
  }
  const float* const from = whole_.data() + (head * extent(1) + query) * extent(2) + first;
  std::copy_n(from, into.size(), into.begin());
}

float ImpliedMaps::at(std::int64_t head, std::int64_t query, std::int64_t key) const {
  if (blocks_) return blocks_->at(head, query, key);
  float value = 0;
  row(head, query, key, {&value, 1});
  return value;
}

Tensor ImpliedMaps::all() const {
  if (is_held_whole()) return whole_;
  Tensor maps(shape_);
  for (std::int64_t index = 0; index < extent(0); ++index) maps.slice(index) = head(index);
  return maps;
}

void ImpliedMaps::add_to_diagonals(float change) {
  added_to_diagonals_ += computed_ ? change : 0;
  for (std::int64_t head = 0; !computed_ && head < extent(0); ++head) {
    if (!blocks_) {
      whole_.slice(head).diagonal().array() += change;
      continue;
    }
    for (std::int64_t block = 0; block < blocks_->count(); ++block) {
      blocks_->block(head, block).diagonal().array() += change;
    }
  }
}

const Tensor& ImpliedMaps::whole() const {
  if (is_held_whole()) return whole_;
  throw Error(ErrorKind::usage, computed_
                                    ? "the maps of this layer are too large to be stored and are "
                                      "computed on demand"
                                    : "the maps of this layer are stored as blocks of its windows")
      .expected("maps stored in full");
}

Tensor& ImpliedMaps::whole() { return const_cast<Tensor&>(std::as_const(*this).whole()); }

}  // namespace attnscope
