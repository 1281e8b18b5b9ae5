#include "core/input/item_choice.h"

#include <algorithm>

#include "core/error.h"

namespace attnscope {

namespace {

/// Random number of range `place` by SplitMix64 (Steele, Lea & Flood 2014). The standard library's
/// distributions differ between implementations.
std::uint64_t draw(std::uint32_t seed, std::int64_t place) {
  std::uint64_t z =
      (std::uint64_t{seed} << 32U) + 0x9e3779b97f4a7c15U * (static_cast<std::uint64_t>(place) + 1);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

/// First index of range `place`: ⌊place · size / count⌋ without overflow.
std::int64_t range_begin(std::int64_t place, std::int64_t size, std::int64_t count) {
  const std::int64_t whole = size / count, rest = size % count;
  return place * whole + place * rest / count;
}

}  // namespace

std::int64_t chosen_count(std::int64_t size, const ItemChoice& choice) {
  if (choice.count < 0) {
    throw Error(ErrorKind::usage, "the number of items is negative")
        .about("--count")
        .expected("1 or more; 0: all")
        .found(std::to_string(choice.count));
  }
  return choice.count > 0 ? std::min(choice.count, size) : size;
}

std::vector<std::int64_t> chosen_items(std::int64_t size, const ItemChoice& choice) {
  const std::int64_t count = chosen_count(size, choice);
  std::vector<std::int64_t> items(static_cast<std::size_t>(count));
  for (std::int64_t place = 0; place < count; ++place) {
    const std::int64_t first = range_begin(place, size, count);
    const auto length = static_cast<std::uint64_t>(range_begin(place + 1, size, count) - first);
    items[static_cast<std::size_t>(place)] =
        first + static_cast<std::int64_t>(draw(choice.seed, place) % length);
  }
  return items;
}

std::string choice_in_words(std::int64_t size, const ItemChoice& choice, const std::string& items) {
  const std::int64_t count = chosen_count(size, choice);
  if (count == size) return "all " + std::to_string(size) + " " + items;
  return std::to_string(count) + " of " + std::to_string(size) + " " + items +
         ", spread evenly (seed " + std::to_string(choice.seed) + ")";
}

}  // namespace attnscope
