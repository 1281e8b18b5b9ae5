#include "analysis/figure/recipe_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace attnscope {
namespace {

using nlohmann::json;

json named(const json& list, const std::string& name) {
  for (const json& item : list) {
    if (item.at("name") == name) return item;
  }
  ADD_FAILURE() << name;
  return json::object();
}

TEST(RecipeJson, DescribesEverySetting) {
  const json figures = json::parse(figures_as_json());
  ASSERT_EQ(figures.size(), figure_recipes().size());
  for (const FigureRecipe& recipe : figure_recipes()) {
    const json figure = named(figures, std::string(recipe.name));
    ASSERT_EQ(figure.at("settings").size(), recipe.settings.size());
    for (const json& setting : figure.at("settings")) {
      for (const char* key : {"name", "type", "default", "range", "explanation"}) {
        EXPECT_TRUE(setting.contains(key)) << recipe.name << " " << setting;
      }
      if (setting.at("type") == "choice") {
        EXPECT_GE(setting.at("choices").size(), 2U) << setting;
      }
    }
  }
  const json spectrum = named(figures, "cumulative-spectrum");
  const json threshold = named(spectrum.at("settings"), "threshold");
  EXPECT_EQ(threshold.at("type"), "number");
  EXPECT_EQ(threshold.at("default"), 0.9);
  EXPECT_EQ(threshold.at("maximum"), 1);
  const json growth = named(figures, "energy-growth");
  EXPECT_EQ(named(growth.at("settings"), "most").at("unit"), "tokens");
  EXPECT_EQ(named(growth.at("settings"), "mechanisms").at("words"), json::array({"all"}));
}

TEST(RecipeJson, ListsTheRequirementsOfAFigure) {
  const json figures = json::parse(figures_as_json());
  EXPECT_EQ(named(figures, "comparison").at("needs").at("least"), 2);
  EXPECT_EQ(named(figures, "attention-overlay").at("needs").at("input"), "image");
  EXPECT_EQ(named(figures, "key-maps").at("needs").at("mechanism"), "daft");
  EXPECT_EQ(named(figures, "feature-scatter").at("needs").at("setting"), "dataset");
  EXPECT_EQ(named(figures, "energy-share").at("needs").at("subjects"), "model");
}

}  // namespace
}  // namespace attnscope
