// Selection of a subset of a data set's items.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

struct ItemChoice {
  std::int64_t count = 0;  ///< number of items; all if 0 or at least the size
  std::uint32_t seed = 0;  ///< seed of the random selection
};

/// Number of items selected from `size`.
[[nodiscard]] std::int64_t chosen_count(std::int64_t size, const ItemChoice& choice);

/// Selected indices from 0 … size − 1, ascending. The set is divided into `count` ranges whose
/// lengths differ by at most one, and one item is drawn from each. Class folders thus contribute in
/// proportion, and sets with alternating classes are not sampled from one class only. The same
/// size, count and seed give the same items on every machine. Throws Error(usage) for a negative
/// count.
[[nodiscard]] std::vector<std::int64_t> chosen_items(std::int64_t size, const ItemChoice& choice);

/// Description of the selection: "all 10000 images"; "500 of 10000 images, spread evenly (seed 0)".
[[nodiscard]] std::string choice_in_words(std::int64_t size, const ItemChoice& choice,
                                          const std::string& items);

}  // namespace attnscope
