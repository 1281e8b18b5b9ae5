// The one typed description of a setting: of mechanisms, their costs, figures and panels, as given
// by files, flags (--set identity=true), dialogs and sliders.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace attnscope {

/// Indices from `first` to `last`, both included.
struct IndexRange {
  std::int64_t first = 0, last = 0;
  bool operator==(const IndexRange&) const = default;
};
using IndexRanges = std::vector<IndexRange>;

/// A text is also a word in the place of another kind of value ("auto"), a choice, or a file.
using ParameterValue = std::variant<bool, std::int64_t, double, std::string, IndexRanges,
                                    std::vector<double>, std::vector<std::string>>;
using ParameterValues = std::map<std::string, ParameterValue, std::less<>>;

enum class ParameterKind {
  flag,     ///< true or false (also yes, no, on, off, 1, 0)
  whole,    ///< a whole number
  number,   ///< a number; a whole one serves
  choice,   ///< one of `choices`
  text,     ///< anything
  file,     ///< the path of a file or folder
  indices,  ///< of layers, heads, channels, from 0: "0,2-3"
  numbers,  ///< "0.5,0.9"
  names     ///< some of `choices`, or anything where there are none: "learned,klsh"
};

/// Where numbers lie, both ends included.
struct Bounds {
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
};

/// One setting. Made by the functions of namespace `setting` below.
struct ParameterDescription {
  std::string name;  ///< as in flags: "bits"
  ParameterKind kind = ParameterKind::text;
  ParameterValue default_value;
  Bounds bounds = {};                     ///< of a whole, a number, each of the numbers
  std::vector<std::string> choices = {};  ///< of a choice, or of names
  std::vector<std::string> words = {};    ///< that may stand for any value of the kind: "auto"
  std::string unit = {};                  ///< "mm", "tokens"; empty for what has none
  std::string explanation = {};           ///< one sentence, with symbol and equation

  /// The same setting, of which these words are values too.
  [[nodiscard]] ParameterDescription or_word(std::vector<std::string> more) &&;
  /// The same setting with one of its words as the default.
  [[nodiscard]] ParameterDescription by_default(std::string word) &&;
  /// The same setting, measured in `of`.
  [[nodiscard]] ParameterDescription in(std::string of) &&;
};

/// Descriptions:
///
///     setting::whole("bits", 16, {1, 64}, "b, bits of a code").or_word({"auto"})
///     setting::choice("codes", names_of(hash_kind_names), "learned", "how codes are made")
namespace setting {

[[nodiscard]] ParameterDescription flag(std::string name, bool otherwise, std::string explanation);
[[nodiscard]] ParameterDescription whole(std::string name, std::int64_t otherwise, Bounds bounds,
                                         std::string explanation);
[[nodiscard]] ParameterDescription number(std::string name, double otherwise, Bounds bounds,
                                          std::string explanation);
[[nodiscard]] ParameterDescription choice(std::string name, std::vector<std::string> choices,
                                          std::string_view otherwise, std::string explanation);
[[nodiscard]] ParameterDescription text(std::string name, std::string otherwise,
                                        std::string explanation);
[[nodiscard]] ParameterDescription file(std::string name, std::string explanation);
/// `otherwise` as it is written: "0,2-3".
[[nodiscard]] ParameterDescription indices(std::string name, std::string_view otherwise,
                                           std::string explanation);
[[nodiscard]] ParameterDescription numbers(std::string name, std::vector<double> otherwise,
                                           Bounds bounds, std::string explanation);
[[nodiscard]] ParameterDescription names(std::string name, std::vector<std::string> choices,
                                         std::vector<std::string> otherwise,
                                         std::string explanation);

}  // namespace setting

/// "true", "16", "0.9", "auto", "0,2-3", "0.5,0.9": as parse_parameter reads it.
[[nodiscard]] std::string to_string(const ParameterValue& value);

/// What the setting may be, in words: "a whole number from 1 to 64, or auto".
[[nodiscard]] std::string range_of(const ParameterDescription& description);

/// Reads `text` as the description's kind. Throws Error(usage) with the range.
[[nodiscard]] ParameterValue parse_parameter(const ParameterDescription& description,
                                             std::string_view text);

/// `value` if it is of the description's kind and in range; a whole number serves as a number, and
/// what is written as a list of indices as one. Throws Error(usage) with the range otherwise.
[[nodiscard]] ParameterValue checked_parameter(const ParameterDescription& description,
                                               const ParameterValue& value);

/// Null if there is none of that name.
[[nodiscard]] const ParameterDescription* find_description(
    std::span<const ParameterDescription> descriptions, std::string_view name);

/// Throws Error(usage) "unknown parameter of `owner` …" listing the known ones.
[[nodiscard]] const ParameterDescription& description_of(
    std::string_view owner, std::span<const ParameterDescription> descriptions,
    std::string_view name);

/// Every described parameter: those of `given`, checked, and defaults. Throws Error(usage) naming
/// `owner` and the parameter, with its range or the known names.
[[nodiscard]] ParameterValues complete_values(std::string_view owner,
                                              std::span<const ParameterDescription> descriptions,
                                              const ParameterValues& given);

/// Which mechanism, with which parameters: what a flag, a session or a file says.
struct MechanismChoice {
  std::string name = "softmax";
  ParameterValues parameters;

  bool operator==(const MechanismChoice&) const = default;
};

/// "adder (identity=true)"
[[nodiscard]] std::string to_string(const MechanismChoice& choice);

}  // namespace attnscope
