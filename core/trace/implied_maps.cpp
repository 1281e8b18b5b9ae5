#include "core/trace/implied_maps.h"

#include <algorithm>
#include <string>
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
        throw Error(ErrorKind::damaged, "the blocks of a map do not share its tokens out")
            .expected("each of 0 to " + std::to_string(all - 1) + " in one block")
            .found(std::to_string(token) + (known ? " in two" : ""));
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

ImpliedMaps::ImpliedMaps(MapBlocks blocks)
    : blocks_(std::move(blocks)), shape_{blocks_->heads(), blocks_->tokens(), blocks_->tokens()} {}

std::span<const float> ImpliedMaps::entries() const {
  return blocks_ ? blocks_->entries() : whole_.values();
}

std::span<float> ImpliedMaps::entries() { return blocks_ ? blocks_->entries() : whole_.values(); }

Matrix ImpliedMaps::head(std::int64_t head) const {
  if (!blocks_) return whole_.slice(head);
  Matrix map = Matrix::Zero(extent(1), extent(2));
  for (std::int64_t block = 0; block < blocks_->count(); ++block) {
    const std::vector<std::int64_t>& tokens = blocks_->tokens_of(block);
    map(tokens, tokens) = blocks_->block(head, block);
  }
  return map;
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
  const float* const from = whole_.data() + (head * extent(1) + query) * extent(2) + first;
  std::copy_n(from, into.size(), into.begin());
}

float ImpliedMaps::at(std::int64_t head, std::int64_t query, std::int64_t key) const {
  return blocks_ ? blocks_->at(head, query, key) : whole_.slice(head)(query, key);
}

Tensor ImpliedMaps::all() const {
  if (!blocks_) return whole_;
  Tensor maps(shape_);
  for (std::int64_t index = 0; index < extent(0); ++index) maps.slice(index) = head(index);
  return maps;
}

void ImpliedMaps::add_to_diagonals(float change) {
  for (std::int64_t head = 0; head < extent(0); ++head) {
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
  if (!blocks_) return whole_;
  throw Error(ErrorKind::usage, "the maps of this layer are held as the blocks of its windows")
      .expected("maps held whole");
}

Tensor& ImpliedMaps::whole() { return const_cast<Tensor&>(std::as_const(*this).whole()); }

}  // namespace attnscope
