// attnscope architectures: the recognised naming schemes, as descriptions to copy and change.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/command_table.h"
#include "app/cli/standard_streams.h"
#include "app/cli/subcommand.h"
#include "core/architecture/architecture.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

nlohmann::ordered_json description_of(const ArchitectureFamily& family) {
  return nlohmann::ordered_json::parse(family.description);
}

void list_all(bool json) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ArchitectureFamily& family : architecture_families()) {
    if (json) {
      list.push_back({{"name", family.name}, {"description", description_of(family)}});
    } else {
      std::printf("%s\n", std::string(family.name).c_str());
    }
  }
  if (json) print_json(list);
}

}  // namespace

Action add_architectures(CLI::App& parent, CLI::App*& added) {
  auto name = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  added = parent.add_subcommand("architectures",
                                "List the recognised naming schemes, or print one's description");
  added
      ->add_option("NAME", *name,
                   "Naming scheme whose description is printed: a start for your own")
      ->type_name("NAME");
  add_json_flag(*added, *json);
  set_examples(*added,
               {"attnscope architectures", "attnscope architectures 'timm ViT' >my-model.json"});
  return [name, json] {
    if (name->empty()) {
      list_all(*json);
      return 0;
    }
    for (const ArchitectureFamily& family : architecture_families()) {
      if (family.name != *name) continue;
      if (*json) {
        print_json(description_of(family));
      } else {
        std::printf("%s\n", std::string(family.description).c_str());
      }
      return 0;
    }
    throw unknown_name("architecture", *name,
                       name_list(architecture_families(), &ArchitectureFamily::name));
  };
}

}  // namespace attnscope
