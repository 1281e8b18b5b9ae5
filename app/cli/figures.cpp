// attnscope figures: what can be drawn, with which settings.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/figure/recipe.h"
#include "app/cli/command_table.h"
#include "app/cli/json_output.h"
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
  for (const FigureSetting& setting : recipe.settings) {
    const std::string assignment =
        std::string(setting.name) + "=" + std::string(setting.default_value);
    std::printf("    %-20s %.*s\n", assignment.c_str(), width(setting.explanation),
                setting.explanation.data());
  }
}

nlohmann::ordered_json recipe_json(const FigureRecipe& recipe) {
  nlohmann::ordered_json settings = nlohmann::ordered_json::array();
  for (const FigureSetting& setting : recipe.settings) {
    settings.push_back({{"name", setting.name},
                        {"default", setting.default_value},
                        {"explanation", setting.explanation}});
  }
  return {{"name", recipe.name},
          {"title", recipe.title},
          {"source", recipe.source},
          {"settings", std::move(settings)}};
}

}  // namespace

Action add_figures(CLI::App& parent, CLI::App*& added) {
  auto json = std::make_shared<bool>(false);
  added = parent.add_subcommand("figures", "List the figures and their settings");
  add_json_flag(*added, *json);
  set_examples(*added, {"attnscope figures"});
  return [json] {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const FigureRecipe& recipe : figure_recipes()) {
      if (*json) {
        list.push_back(recipe_json(recipe));
      } else {
        print_recipe(recipe);
      }
    }
    if (*json) print_json(list);
    return 0;
  };
}

}  // namespace attnscope
