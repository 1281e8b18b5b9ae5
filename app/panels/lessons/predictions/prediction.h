// Predictions of lessons: questions that are answered before anything is shown. The format is
// described in assets/lessons/README.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// One thing that is predicted, and where what was seen comes from.
struct PredictionField {
  enum class Kind {
    choice,  ///< one of the options
    number,  ///< an integer from `least` to `most`
    text     ///< words of the student's own; nothing is set next to them
  };
  Kind kind = Kind::choice;
  std::string label;
  std::vector<std::string> options;  ///< a choice's options, at least two
  std::int64_t least = 0, most = 0;  ///< bounds of a number
  /// Text that is shown as what was seen, or "@NAME", a number that the program computes in this
  /// lesson. Empty only for texts.
  std::string seen;

  /// The NAME of "@NAME"; empty if `seen` is a text.
  [[nodiscard]] std::string reading() const;
};

/// The fields of a prediction's body, one a line:
///
///     choice rises | falls: The rank of shuffled rows => @shuffled
///     number 1 to 197: The rank of I => 178
///     text: Five sentences
///
/// `line` is that of the body's first line in the lesson's file. Throws Error(damaged) naming the
/// line and the rule.
[[nodiscard]] std::vector<PredictionField> parse_prediction(std::string_view body, int line);

/// Checks the parts of the window of which `seen` keeps pictures: "maps", "experiment",
/// "dock:NAME". Throws Error(damaged) naming the line.
[[nodiscard]] std::vector<std::string> parse_pictures(std::string_view words, int line);

}  // namespace attnscope
