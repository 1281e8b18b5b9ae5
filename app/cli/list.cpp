// attnscope list: the figures, weight file formats, architectures and mechanisms that the program
// knows.
#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/figure/recipe_json.h"
#include "app/cli/command_table.h"
#include "app/cli/standard_streams.h"
#include "app/cli/subcommand.h"
#include "core/architecture/architecture.h"
#include "core/attention/mechanism.h"
#include "core/checkpoint/format.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

using Json = nlohmann::ordered_json;

/// Makes a text of a view, which need not end with a null character.
std::string owned(std::string_view text) { return std::string(text); }

// --- figures ----------------------------------------------------------------------------------

Json figures_json() { return Json::parse(figures_as_json()); }

void print_figures() {
  for (const FigureRecipe& recipe : figure_recipes()) {
    std::printf("%s\n    %s", owned(recipe.name).c_str(), owned(recipe.title).c_str());
    if (!recipe.source.empty()) std::printf(" (%s)", owned(recipe.source).c_str());
    std::printf("\n");
    for (const ParameterDescription& setting : recipe.settings) {
      const std::string assignment = setting.name + "=" + to_string(setting.default_value);
      std::printf("    %-20s %s: %s\n", assignment.c_str(), setting.explanation.c_str(),
                  range_of(setting).c_str());
    }
  }
}

// --- formats ----------------------------------------------------------------------------------

Json formats_json() {
  Json list = Json::array();
  for (const CheckpointFormat& format : checkpoint_formats()) {
    std::istringstream stream(owned(format.extensions));
    const std::vector<std::string> extensions{std::istream_iterator<std::string>(stream), {}};
    list.push_back({{"name", format.name}, {"extensions", extensions}});
  }
  return list;
}

void print_formats() {
  for (const CheckpointFormat& format : checkpoint_formats()) {
    std::printf("%-12s %s\n", owned(format.name).c_str(), owned(format.extensions).c_str());
  }
}

// --- architectures ----------------------------------------------------------------------------

Json description_of(const ArchitectureFamily& family) { return Json::parse(family.description); }

Json architectures_json() {
  Json list = Json::array();
  for (const ArchitectureFamily& family : architecture_families()) {
    list.push_back(
        {{"name", family.name}, {"family", family.id}, {"description", description_of(family)}});
  }
  return list;
}

void print_architectures() {
  for (const ArchitectureFamily& family : architecture_families()) {
    std::printf("%s\n", owned(family.name).c_str());
  }
}

/// Prints the description of one architecture, by its name or its family's file. Throws
/// Error(usage) for an unknown name.
void print_architecture(const std::string& name, bool json) {
  const auto families = architecture_families();
  const auto family = std::ranges::find_if(families, [&](const ArchitectureFamily& each) {
    return each.name == name || each.id == name;
  });
  if (family == families.end()) {
    throw unknown_name("architecture", name, name_list(families, &ArchitectureFamily::name));
  }
  if (json) {
    print_json(description_of(*family));
  } else {
    std::printf("%s\n", owned(family->description).c_str());
  }
}

// --- mechanisms -------------------------------------------------------------------------------

Json mechanisms_json() {
  Json list = Json::array();
  for (const MechanismEntry& entry : mechanisms()) {
    Json parameters = Json::array();
    for (const ParameterDescription& parameter : entry.parameters) {
      parameters.push_back({{"name", parameter.name},
                            {"default", to_string(parameter.default_value)},
                            {"range", range_of(parameter)},
                            {"explanation", parameter.explanation}});
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

void print_mechanisms() {
  for (const MechanismEntry& entry : mechanisms()) {
    std::printf("%s\n    %s (%s)\n", owned(entry.name).c_str(), owned(entry.title).c_str(),
                owned(entry.source).c_str());
    for (const ParameterDescription& parameter : entry.parameters) {
      std::printf("    %-22s %s\n",
                  (parameter.name + "=" + to_string(parameter.default_value)).c_str(),
                  parameter.explanation.c_str());
    }
  }
}

// ----------------------------------------------------------------------------------------------

struct KnownList {
  std::string_view name;
  Json (*json)();
  void (*print)();
};
constexpr std::array known_lists = {
    KnownList{"figures", figures_json, print_figures},
    KnownList{"formats", formats_json, print_formats},
    KnownList{"architectures", architectures_json, print_architectures},
    KnownList{"mechanisms", mechanisms_json, print_mechanisms}};

struct ListArguments {
  std::string list, name;
  bool json = false;
};

int run(const ListArguments& arguments) {
  const auto list = std::ranges::find(known_lists, arguments.list, &KnownList::name);
  if (list == known_lists.end()) {
    throw unknown_name("list", arguments.list, name_list(known_lists, &KnownList::name));
  }
  if (!arguments.name.empty()) {
    if (arguments.list != "architectures") {
      throw Error(ErrorKind::usage, "only an architecture can be printed by its name")
          .about("list " + arguments.list)
          .found(arguments.name);
    }
    print_architecture(arguments.name, arguments.json);
  } else if (arguments.json) {
    print_json(list->json());
  } else {
    list->print();
  }
  return 0;
}

}  // namespace

Action add_list(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<ListArguments>();
  added = parent.add_subcommand("list", "List figures, formats, architectures or mechanisms");
  added
      ->add_option("LIST", arguments->list,
                   "figures: figures and their settings; formats: formats of weight files; "
                   "architectures: recognised naming schemes; mechanisms: kinds of attention and "
                   "their parameters")
      ->required()
      ->type_name(name_list(known_lists, &KnownList::name, "|"));
  added
      ->add_option("NAME", arguments->name,
                   "Architecture whose description is printed: a start for your own")
      ->type_name("NAME");
  add_json_flag(*added, arguments->json);
  set_examples(*added, {"attnscope list figures", "attnscope list mechanisms --json",
                        "attnscope list architectures 'timm ViT' >my-model.json"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
