// Finds the texts of a list that are prefixes of another text.
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
  /// Empty texts are ignored. Of equal texts the first one is found.
  explicit PrefixTable(std::vector<std::string> texts);

  struct Found {
    std::size_t place;   ///< index in the given list
    std::size_t length;  ///< length of the text in bytes
  };
  /// The longest of the texts that is a prefix of `text`; nullopt if none. Charges work for each
  /// compared byte (spend_work).
  [[nodiscard]] std::optional<Found> longest(std::string_view text) const;

 private:
  std::vector<std::string> texts_;
  std::vector<std::size_t> sorted_;  ///< indices sorted by text
};

}  // namespace attnscope
