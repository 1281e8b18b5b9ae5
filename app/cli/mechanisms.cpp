// attnscope mechanisms: the mechanisms that can be laid over a model, with their parameters.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/command_table.h"
#include "app/cli/standard_streams.h"
#include "app/cli/subcommand.h"
#include "core/attention/mechanism.h"

namespace attnscope {

namespace {

using Json = nlohmann::ordered_json;

Json parameter_json(const ParameterDescription& parameter) {
  return {{"name", parameter.name},
          {"default", to_string(parameter.default_value)},
          {"range", range_of(parameter)},
          {"explanation", parameter.explanation}};
}

Json mechanisms_json() {
  Json list = Json::array();
  for (const MechanismEntry& entry : mechanisms()) {
    Json parameters = Json::array();
    for (const ParameterDescription& parameter : entry.parameters) {
      parameters.push_back(parameter_json(parameter));
    }
    list.push_back({{"name", entry.name},
                    {"title", entry.title},
                    {"source", entry.source},
                    {"formula", entry.formula},
                    {"causal", entry.causal},
                    {"parameters", std::move(parameters)}});
  }
  return list;
}

void print_text() {
  for (const MechanismEntry& entry : mechanisms()) {
    std::printf("%s\n    %s (%s)\n", std::string(entry.name).c_str(),
                std::string(entry.title).c_str(), std::string(entry.source).c_str());
    for (const ParameterDescription& parameter : entry.parameters) {
      std::printf("    %-22s %s\n",
                  (parameter.name + "=" + to_string(parameter.default_value)).c_str(),
                  parameter.explanation.c_str());
    }
  }
}

}  // namespace

Action add_mechanisms(CLI::App& parent, CLI::App*& added) {
  auto json = std::make_shared<bool>(false);
  added = parent.add_subcommand("mechanisms", "List the kinds of attention and their parameters");
  add_json_flag(*added, *json);
  set_examples(*added, {"attnscope mechanisms"});
  return [json] {
    if (*json) {
      print_json(mechanisms_json());
    } else {
      print_text();
    }
    return 0;
  };
}

}  // namespace attnscope
