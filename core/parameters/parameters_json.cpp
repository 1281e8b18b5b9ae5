#include "core/parameters/parameters_json.h"

#include <nlohmann/json.hpp>
#include <variant>

#include "core/error.h"

namespace attnscope {

using nlohmann::json;

std::string to_json(const ParameterValues& parameters) {
  json object = json::object();
  for (const auto& [name, value] : parameters) {
    std::visit([&, &key = name](const auto& held) { object[key] = held; }, value);
  }
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

ParameterValues parameters_from_json(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) {
    throw Error(ErrorKind::damaged, "the mechanism's parameters are not a JSON object {…}");
  }
  ParameterValues parameters;
  for (const auto& [name, value] : object.items()) {
    ParameterValue& target = parameters[name];
    if (value.is_boolean()) {
      target = value.get<bool>();
    } else if (value.is_number_integer()) {
      target = value.get<std::int64_t>();
    } else if (value.is_number()) {
      target = value.get<double>();
    } else if (value.is_string()) {
      target = value.get<std::string>();
    } else {
      throw Error(ErrorKind::damaged, "a mechanism's parameter has the wrong type")
          .about(name)
          .expected("a number, a truth value or a text");
    }
  }
  return parameters;
}

}  // namespace attnscope
