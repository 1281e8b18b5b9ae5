#include "core/parameters/parameters_json.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <variant>

#include "core/error.h"
#include "core/text/json.h"

namespace attnscope {

using nlohmann::json;

namespace {

constexpr std::uint64_t kLargestWhole = std::numeric_limits<std::int64_t>::max();

struct AsJson {
  json operator()(const IndexRanges& ranges) const { return to_string(ParameterValue(ranges)); }
  template <class Value>
  json operator()(const Value& value) const {
    return value;
  }
};

template <class Item>
ParameterValue list_of(const json& array) {
  return array.get<std::vector<Item>>();
}

Error wrong_parameter(const std::string& name) {
  return Error(ErrorKind::damaged, "a parameter has the wrong type")
      .about(name)
      .expected("a number, true or false, a string, or a list of numbers or strings");
}

ParameterValue value_from_json(const std::string& name, const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kLargestWhole) {
    throw wrong_parameter(name).expected("a whole number of 64 bits");
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) throw wrong_parameter(name);
  const auto all = [&](auto is) { return std::all_of(value.begin(), value.end(), is); };
  if (all([](const json& item) { return item.is_number(); })) return list_of<double>(value);
  if (all([](const json& item) { return item.is_string(); })) return list_of<std::string>(value);
  throw wrong_parameter(name);
}

}  // namespace

std::string to_json(const ParameterValues& parameters) {
  json object = json::object();
  for (const auto& [name, value] : parameters) object[name] = std::visit(AsJson{}, value);
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

ParameterValues parameters_from_json(std::string_view text) {
  const json object = parse_json_or_null(text);
  if (!object.is_object()) {
    throw Error(ErrorKind::damaged, "the mechanism's parameters are not a JSON object {…}");
  }
  ParameterValues parameters;
  for (const auto& [name, value] : object.items()) {
    parameters[name] = value_from_json(name, value);
  }
  return parameters;
}

}  // namespace attnscope
