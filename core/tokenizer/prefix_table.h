// Which of many texts another one begins with.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

class PrefixTable {
 public:
  PrefixTable() = default;
  /// Empty texts are none of its; of equal ones the first counts.
  explicit PrefixTable(std::vector<std::string> texts);

  struct Found {
    std::size_t place;   ///< in the list that was given
    std::size_t length;  ///< bytes of the text
  };
  /// The longest of the texts that `text` begins with. Its work, about the length of that text and
  /// a logarithm of how many there are, is spent (spend_work).
  [[nodiscard]] std::optional<Found> longest(std::string_view text) const;

 private:
  std::vector<std::string> texts_;
  std::vector<std::size_t> sorted_;  ///< places by their texts
};

}  // namespace attnscope
