#include "core/parameters/parameters.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

std::string shortest(double value) {
  char text[32];
  const auto [end, failure] = std::to_chars(text, text + sizeof text, value);
  return {text, end};
}

bool is_bounded(const ParameterDescription& description) {
  return description.maximum > description.minimum;
}

std::string range_of(const ParameterDescription& description) {
  const std::string bounds = is_bounded(description) ? " from " + shortest(description.minimum) +
                                                           " to " + shortest(description.maximum)
                                                     : "";
  struct Visitor {
    const ParameterDescription& description;
    const std::string& bounds;
    std::string operator()(bool) const { return "true or false"; }
    std::string operator()(std::int64_t) const { return "a whole number" + bounds; }
    std::string operator()(double) const { return "a number" + bounds; }
    std::string operator()(const std::string&) const {
      if (description.choices.empty()) return "a text";
      std::string list;
      for (const std::string& choice : description.choices) {
        list += (list.empty() ? "" : ", ") + choice;
      }
      return "one of " + list;
    }
  };
  return std::visit(Visitor{description, bounds}, description.default_value);
}

Error out_of_range(const ParameterDescription& description, std::string_view found) {
  return Error(ErrorKind::usage, "the parameter has no such value")
      .about(description.name)
      .expected(range_of(description))
      .found("'" + std::string(found) + "'");
}

template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size() && !text.empty();
}

}  // namespace

std::string to_string(const ParameterValue& value) {
  struct Visitor {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return shortest(number); }
    std::string operator()(const std::string& text) const { return text; }
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

ParameterValue checked_parameter(const ParameterDescription& description,
                                 const ParameterValue& value) {
  // A whole number is a number too: 2 stands for 2.0.
  if (const auto* whole = std::get_if<std::int64_t>(&value);
      whole != nullptr && std::holds_alternative<double>(description.default_value)) {
    return checked_parameter(description, static_cast<double>(*whole));
  }
  if (value.index() != description.default_value.index()) {
    throw out_of_range(description, to_string(value));
  }
  const auto within = [&](double number) {
    return std::isfinite(number) && (!is_bounded(description) || (number >= description.minimum &&
                                                                  number <= description.maximum));
  };
  bool valid = true;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    valid = within(static_cast<double>(*whole));
  } else if (const auto* number = std::get_if<double>(&value)) {
    valid = within(*number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    valid = description.choices.empty() ||
            std::find(description.choices.begin(), description.choices.end(), *text) !=
                description.choices.end();
  }
  if (!valid) throw out_of_range(description, to_string(value));
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
    if (values.contains(name)) continue;
    const std::string known = name_list(descriptions, &ParameterDescription::name);
    throw unknown_name("parameter of " + std::string(owner), name, known.empty() ? "none" : known);
  }
  return values;
}

ParameterValue parse_parameter(const ParameterDescription& description, std::string_view text) {
  struct Visitor {
    const ParameterDescription& description;
    std::string_view text;
    ParameterValue operator()(bool) const {
      if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
      if (text == "false" || text == "0" || text == "no" || text == "off") return false;
      throw out_of_range(description, text);
    }
    ParameterValue operator()(std::int64_t) const {
      std::int64_t value = 0;
      if (!parse_number(text, value)) throw out_of_range(description, text);
      return value;
    }
    ParameterValue operator()(double) const {
      double value = 0;
      if (!parse_number(text, value)) throw out_of_range(description, text);
      return value;
    }
    ParameterValue operator()(const std::string&) const { return std::string(text); }
  };
  return checked_parameter(description,
                           std::visit(Visitor{description, text}, description.default_value));
}

}  // namespace attnscope
