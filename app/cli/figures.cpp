// attnscope figures: the list of figures and their settings.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/figure/recipe_json.h"
#include "app/cli/command_table.h"
#include "app/cli/standard_streams.h"
#include "app/cli/subcommand.h"

namespace attnscope {

namespace {

void print_recipe(const FigureRecipe& recipe) {
  const auto width = [](std::string_view text) { return static_cast<int>(text.size()); };
  std::printf("%.*s\n    %.*s", width(recipe.name), recipe.name.data(), width(recipe.title),
              recipe.title.data());
  if (!recipe.source.empty()) {
    std::printf(" (%.*s)", width(recipe.source), recipe.source.data());
  }
  std::printf("\n");
  for (const ParameterDescription& setting : recipe.settings) {
    const std::string assignment = setting.name + "=" + to_string(setting.default_value);
    std::printf("    %-20s %s: %s\n", assignment.c_str(), setting.explanation.c_str(),
                range_of(setting).c_str());
  }
}

}  // namespace

Action add_figures(CLI::App& parent, CLI::App*& added) {
  auto json = std::make_shared<bool>(false);
  added = parent.add_subcommand("figures", "List the figures and their settings");
  add_json_flag(*added, *json);
  set_examples(*added, {"attnscope figures"});
  return [json] {
    if (*json) {
      print_json(nlohmann::ordered_json::parse(figures_as_json()));
      return 0;
    }
    for (const FigureRecipe& recipe : figure_recipes()) print_recipe(recipe);
    return 0;
  };
}

}  // namespace attnscope
