// attnscope figures: what can be drawn, with which settings.
#include <cstdio>

#include "analysis/figure/recipe.h"
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

}  // namespace

Action add_figures(CLI::App& parent, CLI::App*& added) {
  added = parent.add_subcommand("figures", "List the figures and their settings");
  return [] {
    for (const FigureRecipe& recipe : figure_recipes()) print_recipe(recipe);
    return 0;
  };
}

}  // namespace attnscope
