#include "core/text/json.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text/failure.h"

namespace attnscope {

namespace {

/// Builds the value from the parser's events. The library's own callback interface is not used: it
/// searches an object's members again after each, which makes large objects quadratic.
template <class Json>
class Builder {
 public:
  explicit Builder(const JsonLimits& limits) : limits_(limits) {}

  // Callbacks of nlohmann::json::sax_parse; returning true continues the parsing.
  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) { return add(value); }
  bool number_float(double value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(typename Json::binary_t& value) { return add(std::move(value)); }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() {
    keys_.pop_back();
    return close();
  }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    if (!keys_.back().insert(name).second) {
      throw Error(ErrorKind::damaged, "the key occurs twice in one JSON object").about(name);
    }
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& problem) {
    throw Error(ErrorKind::damaged, "is not valid JSON").found(problem_of(problem));
  }

  Json take() { return std::move(root_); }

 private:
  template <class Value>
  bool add(Value&& value) {
    place(Json(std::forward<Value>(value)));
    return true;
  }

  Json& place(Json value) {
    if (++elements_ > limits_.elements) {
      throw Error(ErrorKind::damaged, "the JSON text has too many values")
          .expected("at most " + std::to_string(limits_.elements) + " values");
    }
    if (open_.empty()) return root_ = std::move(value);
    Json& inside = *open_.back();
    if (inside.is_array()) {
      auto& items = inside.template get_ref<typename Json::array_t&>();
      items.push_back(std::move(value));
      return items.back();
    }
    auto& members = inside.template get_ref<typename Json::object_t&>();
    if constexpr (std::is_same_v<Json, nlohmann::ordered_json>) {
      // The key is known to be new, so the linear search of operator[] is avoided.
      using Pairs = std::vector<typename Json::object_t::value_type>;
      return static_cast<Pairs&>(members).emplace_back(std::move(key_), std::move(value)).second;
    } else {
      return members.emplace(std::move(key_), std::move(value)).first->second;
    }
  }

  bool open(Json container) {
    if (std::ssize(open_) >= limits_.depth) {
      throw Error(ErrorKind::damaged, "the JSON text is nested too deeply")
          .expected("at most " + std::to_string(limits_.depth) + " levels");
    }
    if (container.is_object()) keys_.emplace_back();
    open_.push_back(&place(std::move(container)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  const JsonLimits& limits_;
  Json root_;
  /// Open values, each the last member of the previous one, so none moves.
  std::vector<Json*> open_;
  std::vector<std::set<std::string>> keys_;  ///< keys of each open object
  std::string key_;
  std::size_t elements_ = 0;
};

constexpr std::string_view kPythonNumbers[] = {"-Infinity", "Infinity", "NaN"};

/// The text with Python's numbers that JSON does not have in quotes.
std::string with_numbers_quoted(std::string_view text) {
  std::string result;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto number = quoted ? std::end(kPythonNumbers)
                               : std::ranges::find_if(kPythonNumbers, [&](std::string_view one) {
                                   return text.substr(at).starts_with(one);
                                 });
    if (number != std::end(kPythonNumbers)) {
      result.append("\"").append(*number).append("\"");
      at += number->size() - 1;
      continue;
    }
    result += text[at];
    const bool escapes = quoted && text[at] == '\\' && at + 1 < text.size();
    if (escapes) {
      result += text[++at];
    } else if (text[at] == '"') {
      quoted = !quoted;
    }
  }
  return result;
}

template <class Json>
Json parse(std::string_view text, const JsonLimits& limits) {
  Builder<Json> builder(limits);
  const bool plain =
      text.find("Infinity") == std::string_view::npos && text.find("NaN") == std::string_view::npos;
  if (plain) {
    nlohmann::json::sax_parse(text, &builder);
  } else {
    nlohmann::json::sax_parse(with_numbers_quoted(text), &builder);
  }
  return builder.take();
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const JsonLimits& limits) {
  return parse<nlohmann::json>(text, limits);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text, const JsonLimits& limits) {
  return parse<nlohmann::ordered_json>(text, limits);
}

nlohmann::json parse_json_or_null(std::string_view text) {
  try {
    return parse_json(text);
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace attnscope
