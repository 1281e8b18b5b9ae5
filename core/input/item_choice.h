// Which items of a data set are taken when not all are wanted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

struct ItemChoice {
  std::int64_t count = 0;  ///< how many; 0, or as many as there are or more: all
  std::uint32_t seed = 0;  ///< another seed, other items
};

/// How many items are taken of `size`.
[[nodiscard]] std::int64_t chosen_count(std::int64_t size, const ItemChoice& choice);

/// The indices taken of 0 … size − 1, ascending: the set is cut into `count` stretches as long as
/// one another to one item, and one item of each is drawn. Class folders thus give every class its
/// share; sets that repeat their classes in turn are not met at one class alone. The same size,
/// count and seed give the same items on every machine. Throws Error(usage) for a negative count.
[[nodiscard]] std::vector<std::int64_t> chosen_items(std::int64_t size, const ItemChoice& choice);

/// "all 10000 images"; "500 of 10000 images, spread evenly (seed 0)".
[[nodiscard]] std::string choice_in_words(std::int64_t size, const ItemChoice& choice,
                                          const std::string& items);

}  // namespace attnscope
