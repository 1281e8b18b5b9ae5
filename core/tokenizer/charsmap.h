// SentencePiece's normalisation table: a double-array trie (Darts) of texts to replace, followed by
// their NUL-terminated replacements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

class Charsmap {
 public:
  /// `bytes`: the trie's length in bytes (32 bits, little endian), the trie, the replacements.
  /// Throws Error(damaged) if the layout is invalid.
  explicit Charsmap(std::string_view bytes);

  struct Replacement {
    std::size_t length;  ///< length of the replaced prefix in bytes
    std::string_view by;
  };
  /// The shortest or longest prefix of `text` in the table. Throws Error(damaged) if the trie
  /// refers outside itself or the replacements, or splits characters. `text` must be UTF-8.
  [[nodiscard]] std::optional<Replacement> shortest(std::string_view text) const;
  [[nodiscard]] std::optional<Replacement> longest(std::string_view text) const;

 private:
  [[nodiscard]] std::optional<Replacement> find(std::string_view text, bool longest) const;
  [[nodiscard]] std::uint32_t unit(std::size_t index) const;

  std::vector<std::uint32_t> units_;
  std::string texts_;
};

/// Decodes base64 (RFC 4648, section 4), in which files of tokenizers hold the table: the bytes;
/// nullopt unless `text` is valid base64 with padding.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

}  // namespace attnscope
