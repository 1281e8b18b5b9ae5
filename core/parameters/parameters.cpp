#include "core/parameters/parameters.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/error.h"
#include "core/text/name_list.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

bool among(const std::vector<std::string>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

Error out_of_range(const ParameterDescription& description, std::string_view found) {
  return Error(ErrorKind::usage, "the parameter does not take this value")
      .about(description.name)
      .expected(range_of(description))
      .found("'" + std::string(found) + "'");
}

/// Bound as text: 1000000, not 1e+06.
std::string bound_in_words(double bound) {
  constexpr double kExactWholes = 0x1p53;
  return std::abs(bound) < kExactWholes && bound == std::floor(bound) ? fixed_text(bound, 0)
                                                                      : exact(bound);
}

std::string bounds_in_words(const Bounds& bounds) {
  const bool from = std::isfinite(bounds.minimum), to = std::isfinite(bounds.maximum);
  const std::string least = bound_in_words(bounds.minimum);
  const std::string most = bound_in_words(bounds.maximum);
  if (from && to) return " from " + least + " to " + most;
  if (from) return ", " + least + " or more";
  return to ? ", at most " + most : "";
}

/// True if the number is finite and in range.
bool within(const Bounds& bounds, double number) {
  return std::isfinite(number) && number >= bounds.minimum && number <= bounds.maximum;
}

std::vector<std::string_view> items_of(std::string_view text, std::string_view separators = ",") {
  std::vector<std::string_view> items;
  while (true) {
    const std::size_t comma = text.find_first_of(separators);
    std::string_view item = text.substr(0, comma);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    items.push_back(item);
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

std::optional<IndexRanges> parse_ranges(std::string_view text) {
  IndexRanges ranges;
  for (const std::string_view item : items_of(text)) {
    const std::size_t dash = item.find('-');
    const auto first = parse_whole(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_whole(item.substr(dash + 1));
    if (!first || !last || *first < 0 || *first > *last) return std::nullopt;
    ranges.push_back({*first, *last});
  }
  return ranges;
}

std::optional<ParameterValue> parse_flag(std::string_view text) {
  if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "0" || text == "no" || text == "off") return false;
  return std::nullopt;
}

/// Parses `text` as a value of `kind` without checking its range; nullopt if it is invalid.
std::optional<ParameterValue> parsed_as(ParameterKind kind, std::string_view text) {
  switch (kind) {
    case ParameterKind::flag:
      return parse_flag(text);
    case ParameterKind::whole:
      return parse_whole(text);
    case ParameterKind::number:
      return parse_number(text);
    case ParameterKind::choice:
    case ParameterKind::text:
    case ParameterKind::file:
      return std::string(text);
    case ParameterKind::indices:
      return parse_ranges(text);
    case ParameterKind::numbers: {
      std::vector<double> numbers;
      for (const std::string_view item : items_of(text)) {
        const auto number = parse_number(item);
        if (!number) return std::nullopt;
        numbers.push_back(*number);
      }
      return numbers;
    }
    case ParameterKind::names: {
      std::vector<std::string> names;
      // Items with spaces read better with semicolons: "softmax; hash bits=8".
      for (const std::string_view item : items_of(text, ",;")) {
        if (!item.empty()) names.emplace_back(item);
      }
      return names;
    }
  }
  return std::nullopt;
}

/// True if `value` has the description's kind and is in its range.
bool fits(const ParameterDescription& description, const ParameterValue& value) {
  const auto allowed = [&](const std::string& word) {
    return description.choices.empty() || among(description.choices, word);
  };
  switch (description.kind) {
    case ParameterKind::flag:
      return std::holds_alternative<bool>(value);
    case ParameterKind::whole: {
      const auto* whole = std::get_if<std::int64_t>(&value);
      return whole && within(description.bounds, static_cast<double>(*whole));
    }
    case ParameterKind::number: {
      const auto* number = std::get_if<double>(&value);
      return number && within(description.bounds, *number);
    }
    case ParameterKind::choice:
    case ParameterKind::text:
    case ParameterKind::file: {
      const auto* text = std::get_if<std::string>(&value);
      return text && allowed(*text);
    }
    case ParameterKind::indices: {
      const auto* ranges = std::get_if<IndexRanges>(&value);
      return ranges && std::ranges::all_of(*ranges, [](const IndexRange& range) {
               return range.first >= 0 && range.first <= range.last;
             });
    }
    case ParameterKind::numbers: {
      const auto* numbers = std::get_if<std::vector<double>>(&value);
      return numbers && std::ranges::all_of(*numbers, [&](double number) {
               return within(description.bounds, number);
             });
    }
    case ParameterKind::names: {
      const auto* names = std::get_if<std::vector<std::string>>(&value);
      return names && std::ranges::all_of(*names, allowed);
    }
  }
  return false;
}

}  // namespace

std::string range_of(const ParameterDescription& description) {
  const std::string bounds = bounds_in_words(description.bounds);
  const std::string choices = name_list(description.choices);
  std::string range;
  switch (description.kind) {
    case ParameterKind::flag:
      range = "true or false";
      break;
    case ParameterKind::whole:
      range = "a whole number" + bounds;
      break;
    case ParameterKind::number:
      range = "a number" + bounds;
      break;
    case ParameterKind::choice:
      range = "one of " + choices;
      break;
    case ParameterKind::text:
      range = "a text";
      break;
    case ParameterKind::file:
      range = "a file or folder";
      break;
    case ParameterKind::indices:
      range = "indices from 0 such as 0,2-3";
      break;
    case ParameterKind::numbers:
      range = "numbers" + bounds + ", separated by commas";
      break;
    case ParameterKind::names:
      range = choices.empty() ? "names separated by commas" : "some of " + choices;
      break;
  }
  if (!description.words.empty()) range += ", or " + name_list(description.words);
  return range;
}

std::string to_string(const ParameterValue& value) {
  struct Visitor {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return exact(number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const IndexRanges& ranges) const {
      return name_list(
          ranges,
          [](const IndexRange& range) {
            const std::string first = std::to_string(range.first);
            return range.first == range.last ? first : first + "-" + std::to_string(range.last);
          },
          ",");
    }
    std::string operator()(const std::vector<double>& numbers) const {
      return name_list(
          numbers, [](double number) { return exact(number); }, ",");
    }
    std::string operator()(const std::vector<std::string>& names) const {
      return name_list(names, std::identity(), ",");
    }
  };
  return std::visit(Visitor{}, value);
}

std::string to_string(const MechanismChoice& choice) {
  std::string list;
  for (const auto& [name, value] : choice.parameters) {
    list += (list.empty() ? "" : ", ") + name + "=" + to_string(value);
  }
  return list.empty() ? choice.name : choice.name + " (" + list + ")";
}

ParameterValue parse_parameter(const ParameterDescription& description, std::string_view text) {
  if (among(description.words, text)) return std::string(text);
  const auto value = parsed_as(description.kind, text);
  if (!value || !fits(description, *value)) throw out_of_range(description, text);
  return *value;
}

ParameterValue checked_parameter(const ParameterDescription& description,
                                 const ParameterValue& value) {
  // Integers are accepted as numbers: 2 for 2.0.
  if (const auto* whole = std::get_if<std::int64_t>(&value);
      whole != nullptr && description.kind == ParameterKind::number) {
    return checked_parameter(description, static_cast<double>(*whole));
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (among(description.words, *text)) return value;
    if (description.kind == ParameterKind::indices) return parse_parameter(description, *text);
  }
  if (!fits(description, value)) throw out_of_range(description, to_string(value));
  return value;
}

ParameterValues complete_values(std::string_view owner,
                                std::span<const ParameterDescription> descriptions,
                                const ParameterValues& given) {
  ParameterValues values;
  for (const ParameterDescription& description : descriptions) {
    const auto found = given.find(description.name);
    try {
      values[description.name] = found == given.end()
                                     ? description.default_value
                                     : checked_parameter(description, found->second);
    } catch (Error& error) {
      error.about(std::string(owner) + " " + description.name);
      throw;
    }
  }
  for (const auto& [name, value] : given) {
    if (!values.contains(name)) (void)description_of(owner, descriptions, name);
  }
  return values;
}

}  // namespace attnscope
