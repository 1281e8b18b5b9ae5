#include "app/cli/json_output.h"

#include <nlohmann/json.hpp>

#include "app/cli/standard_streams.h"

namespace attnscope {

CLI::Option* add_json_flag(CLI::App& command, bool& json) {
  return command.add_flag("--json", json, "Write JSON (described in docs/json-output.md)");
}

void print_json(const nlohmann::ordered_json& json) {
  using Json = nlohmann::ordered_json;
  write_to_standard_output(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace attnscope
