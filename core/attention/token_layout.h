// Where tokens lie.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

/// Which token is what: prefix tokens (class, distillation, registers) first, then a grid in
/// row-major order.
struct TokenLayout {
  std::int64_t prefix = 0;
  std::int64_t rows = 0, columns = 0;   ///< 0×0 when the tokens form no grid
  std::vector<std::string> texts = {};  ///< what each token says, of a text; else empty
  /// Of a text: tokens that stand for none of it ([CLS], [SEP], <s>), in order.
  std::vector<std::int64_t> special = {};
  std::int64_t registers = 0;  ///< of the prefix tokens, the last ones

  [[nodiscard]] bool is_text() const { return !texts.empty(); }
  [[nodiscard]] bool has_grid() const { return rows > 0 && columns > 0; }
  /// "class", "distillation", "register 0", "(row, column)", the text's token, or the index, for
  /// token `index`.
  [[nodiscard]] std::string name(std::int64_t index) const;
};

/// A token's bytes so that each can be seen: ␣ for a space, ↵ for a line's end, ⇥ for a tab, \xE2
/// for a byte that is no whole character.
[[nodiscard]] std::string visible_text(const std::string& token);

}  // namespace attnscope
