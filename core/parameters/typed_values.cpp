#include "core/parameters/typed_values.h"

#include "core/error.h"

namespace attnscope {

namespace {

const ParameterValue& value_at(const ParameterValues& values, std::string_view name) {
  const auto found = values.find(name);
  if (found != values.end()) return found->second;
  throw Error(ErrorKind::usage, "the setting is unknown").about(std::string(name));
}

template <class Value>
const Value& read(const ParameterValues& values, std::string_view name, const char* kind) {
  const ParameterValue& value = value_at(values, name);
  if (const auto* held = std::get_if<Value>(&value)) return *held;
  throw Error(ErrorKind::usage, "the setting has the wrong type")
      .about(std::string(name))
      .expected(kind)
      .found("'" + to_string(value) + "'");
}

}  // namespace

bool TypedValues::flag(std::string_view name) const {
  return read<bool>(values_, name, "true or false");
}

std::int64_t TypedValues::whole(std::string_view name) const {
  return read<std::int64_t>(values_, name, "a whole number");
}

double TypedValues::number(std::string_view name) const {
  if (const auto* whole = std::get_if<std::int64_t>(&value_at(values_, name))) {
    return static_cast<double>(*whole);
  }
  return read<double>(values_, name, "a number");
}

const std::string& TypedValues::text(std::string_view name) const {
  return read<std::string>(values_, name, "a text");
}

bool TypedValues::is(std::string_view name, std::string_view word) const {
  const auto* text = std::get_if<std::string>(&value_at(values_, name));
  return text && *text == word;
}

std::vector<std::int64_t> TypedValues::indices(std::string_view name, std::int64_t count) const {
  std::vector<std::int64_t> list;
  for (const IndexRange& range : read<IndexRanges>(values_, name, "indices")) {
    if (range.last >= count) {
      throw Error(ErrorKind::usage, "the index is out of range")
          .about(std::string(name))
          .expected("indices from 0 to " + std::to_string(count - 1))
          .found("'" + to_string(value_at(values_, name)) + "'");
    }
    for (std::int64_t index = range.first; index <= range.last; ++index) list.push_back(index);
  }
  return list;
}

const std::vector<double>& TypedValues::numbers(std::string_view name) const {
  return read<std::vector<double>>(values_, name, "numbers");
}

const std::vector<std::string>& TypedValues::names(std::string_view name) const {
  return read<std::vector<std::string>>(values_, name, "names");
}

}  // namespace attnscope
