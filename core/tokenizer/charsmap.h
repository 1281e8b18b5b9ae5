// The table by which SentencePiece normalises: texts to be replaced in a double-array trie (Darts),
// then the texts that replace them, each with a NUL at its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

class Charsmap {
 public:
  /// `bytes`: the trie's length in bytes (32 bits, little endian), the trie, the texts. Throws
  /// Error(damaged) unless they are that.
  explicit Charsmap(std::string_view bytes);

  struct Replacement {
    std::size_t length;  ///< bytes of the beginning that is replaced
    std::string_view by;
  };
  /// The shortest or longest beginning of `text` that the table has. Throws Error(damaged) if the
  /// trie leads out of itself or the texts, or cuts characters. `text` must be UTF-8.
  [[nodiscard]] std::optional<Replacement> shortest(std::string_view text) const;
  [[nodiscard]] std::optional<Replacement> longest(std::string_view text) const;

 private:
  [[nodiscard]] std::optional<Replacement> find(std::string_view text, bool longest) const;
  [[nodiscard]] std::uint32_t unit(std::size_t index) const;

  std::vector<std::uint32_t> units_;
  std::string texts_;
};

}  // namespace attnscope
