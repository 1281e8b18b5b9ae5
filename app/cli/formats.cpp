// attnscope formats: the list of readable checkpoint formats.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/command_table.h"
#include "app/cli/standard_streams.h"
#include "app/cli/subcommand.h"
#include "core/checkpoint/format.h"

namespace attnscope {

namespace {

nlohmann::ordered_json formats_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const CheckpointFormat& format : checkpoint_formats()) {
    std::istringstream stream{std::string(format.extensions)};
    const std::vector<std::string> extensions{std::istream_iterator<std::string>(stream), {}};
    list.push_back({{"name", format.name}, {"extensions", extensions}});
  }
  return list;
}

}  // namespace

Action add_formats(CLI::App& parent, CLI::App*& added) {
  auto json = std::make_shared<bool>(false);
  added = parent.add_subcommand("formats", "List the weight file formats");
  add_json_flag(*added, *json);
  set_examples(*added, {"attnscope formats"});
  return [json] {
    if (*json) {
      print_json(formats_json());
      return 0;
    }
    for (const CheckpointFormat& format : checkpoint_formats()) {
      std::printf("%-12.*s %.*s\n", static_cast<int>(format.name.size()), format.name.data(),
                  static_cast<int>(format.extensions.size()), format.extensions.data());
    }
    return 0;
  };
}

}  // namespace attnscope
