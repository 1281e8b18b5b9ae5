// Random-access permutation of many items.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>

#include "core/training/learned_parameters/random_numbers.h"

namespace attnscope {

/// A permutation of 0 … count − 1 (count ≥ 1): a Feistel network over as many bits as the numbers
/// need, applied until the value is below `count` (Black & Rogaway 2002, "cycle walking").
class RandomOrder {
 public:
  RandomOrder(const RandomNumbers& numbers, std::int64_t count)
      : count_(static_cast<std::uint64_t>(count)) {
    while ((std::uint64_t{1} << (2 * half_)) < count_) ++half_;
    for (std::size_t round = 0; round < keys_.size(); ++round) keys_[round] = numbers.bits(round);
  }

  /// Requires 0 <= place < count.
  [[nodiscard]] std::int64_t at(std::int64_t place) const {
    assert(place >= 0 && static_cast<std::uint64_t>(place) < count_);
    auto value = static_cast<std::uint64_t>(place);
    do {
      value = mixed(value);
    } while (value >= count_);
    return static_cast<std::int64_t>(value);
  }

 private:
  [[nodiscard]] std::uint64_t mixed(std::uint64_t value) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_) - 1;
    std::uint64_t left = value >> half_, right = value & mask;
    for (const std::uint64_t key : keys_) {
      const std::uint64_t next = left ^ (mixed_bits(key ^ right) & mask);
      left = right;
      right = next;
    }
    return left << half_ | right;
  }

  std::uint64_t count_;
  unsigned half_ = 1;  // number of bits
  std::array<std::uint64_t, 6> keys_{};
};

}  // namespace attnscope
