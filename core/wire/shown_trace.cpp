#include "core/wire/shown_trace.h"

#include <map>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/text/failure.h"
#include "core/trace/trace_file.h"

namespace attnscope {

namespace {

std::map<std::string, std::string> attributes_in(const nlohmann::json& header) {
  std::map<std::string, std::string> attributes;
  const auto found = header.find("attributes");
  if (found == header.end() || found->is_null()) return attributes;
  if (!found->is_object()) {
    throw Error(ErrorKind::damaged, "'attributes' is not a JSON object").about("attributes");
  }
  for (const auto& [name, value] : found->items()) {
    if (value.is_null()) continue;
    attributes[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return attributes;
}

}  // namespace

Trace shown_trace(const Frame& frame) {
  try {
    return read_trace(Checkpoint({}, "message", frame.arrays, attributes_in(frame.header)));
  } catch (const nlohmann::json::exception& failure) {
    throw Error(ErrorKind::damaged, "an attribute of the trace has the wrong type")
        .about("attributes")
        .found(problem_of(failure));
  }
}

}  // namespace attnscope
