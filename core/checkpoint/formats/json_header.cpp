#include "core/checkpoint/formats/json_header.h"

#include <set>
#include <string>
#include <vector>

#include "core/error.h"

namespace attnscope {

using nlohmann::json;

json parse_header(std::string_view text) {
  constexpr int deepest = 16;
  std::vector<std::set<std::string>> keys;  // of every object that is open
  const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
        keys.emplace_back();
        [[fallthrough]];
      case json::parse_event_t::array_start:
        if (depth >= deepest) throw Error(ErrorKind::damaged, "the header is nested too deeply");
        break;
      case json::parse_event_t::object_end:
        keys.pop_back();
        break;
      case json::parse_event_t::key:
        if (!keys.back().insert(parsed.get<std::string>()).second) {
          throw Error(ErrorKind::damaged, "the header names this twice")
              .about(parsed.get<std::string>());
        }
        break;
      default:
        break;
    }
    return true;
  };
  try {
    json header = json::parse(text, check);
    if (!header.is_object()) throw Error(ErrorKind::damaged, "the header is no JSON object");
    return header;
  } catch (const json::exception& problem) {
    throw Error(ErrorKind::damaged, "the header is not valid JSON").found(problem.what());
  }
}

}  // namespace attnscope
