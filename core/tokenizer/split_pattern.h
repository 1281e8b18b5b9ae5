// Patterns at which tokenizers split: regular expressions of tokenizer.json and plain strings.
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

  /// A regular expression in tokenizer.json's dialect, Oniguruma: \s, \w and \d follow Unicode, ^
  /// and $ match at every line. Throws Error(unsupported) naming a construct that PCRE2 interprets
  /// differently or lacks (sets in sets, \h, \b, …).
  static SplitPattern regular_expression(std::string_view pattern);
  static SplitPattern literal(std::string text);

  /// All parts of `text` (UTF-8) in order: matches and the text between them. Empty matches are
  /// parts too. Throws Error(unsupported) if the expression needs too many steps.
  [[nodiscard]] std::vector<Part> parts(std::string_view text) const;

  struct Program;

 private:
  std::string literal_;
  std::shared_ptr<const Program> program_;  // null for a literal
};

}  // namespace attnscope
