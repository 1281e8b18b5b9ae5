// Where a tokenizer cuts: regular expressions as tokenizer.json has them, and plain strings.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

class SplitPattern {
 public:
  struct Part {
    std::size_t begin, end;
    bool matches;
  };

  /// In the dialect of Oniguruma that tokenizer.json is written in: \s, \w and \d of Unicode, ^ and
  /// $ at every line. Throws Error(unsupported), naming what means something else to PCRE2 or
  /// nothing (sets in sets, \h, \b, …).
  static SplitPattern regular_expression(std::string_view pattern);
  static SplitPattern literal(std::string text);

  /// All of `text` (UTF-8) in order: what matches, and what lies between. Empty matches are parts
  /// too. Throws Error(unsupported) if the expression needs too many steps.
  [[nodiscard]] std::vector<Part> parts(std::string_view text) const;

  struct Program;

 private:
  std::string literal_;
  std::shared_ptr<const Program> program_;  // null: the literal
};

}  // namespace attnscope
