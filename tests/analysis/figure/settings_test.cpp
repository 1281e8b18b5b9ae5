#include "analysis/figure/settings.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

FigureRequest two_models() {
  FigureRequest request;
  request.subjects = {attention_subject("softmax", {"softmax", {}}),
                      attention_subject("adder", {"adder", {}})};
  return request;
}

TEST(Settings, EveryDefaultIsInItsRangeAndReadsAsItIsWritten) {
  for (const FigureRecipe& recipe : figure_recipes()) {
    for (const ParameterDescription& setting : recipe.settings) {
      const std::string where = std::string(recipe.name) + ", " + setting.name;
      EXPECT_EQ(parse_parameter(setting, to_string(setting.default_value)), setting.default_value)
          << where;
      EXPECT_FALSE(setting.explanation.empty()) << where;
    }
  }
}

TEST(Settings, EveryChoiceAndWordIsOneTheFigureTakes) {
  for (const char* name : {"cumulative-spectrum", "rank-by-layer", "rank-over-depth",
                           "attention-maps", "attention-overlay", "comparison"}) {
    for (const ParameterDescription& setting : find_figure(name).settings) {
      for (const auto* list : {&setting.choices, &setting.words}) {
        for (const std::string& value : *list) {
          FigureRequest request = two_models();
          request.settings[setting.name] = value;
          try {
            EXPECT_FALSE(make_figure(name, request).panels.empty());
          } catch (const Error& error) {
            // The value may not suit these models, but it must exist.
            EXPECT_EQ(error.message().find("does not take this value"), std::string::npos)
                << name << " " << setting.name << "=" << value << ": " << error.what();
          }
        }
      }
    }
  }
}

TEST(Settings, AnUnknownOneListsTheKnown) {
  const Error error = refusal_of([&] {
    (void)parse_settings("rank-by-layer", {{"colour", "red"}});
  });
  EXPECT_NE(std::string(error.what()).find("setting of rank-by-layer"), std::string::npos);
  EXPECT_NE(std::string(error.what()).find("threshold"), std::string::npos);
}

TEST(Settings, AreReadByTheirType) {
  FigureRequest request;
  request.settings = complete_settings("attention-overlay",
                                       parse_settings("attention-overlay", {{"layers", "0,2-3"},
                                                                            {"heads", "1"},
                                                                            {"image", "no"},
                                                                            {"opacity", "0.25"},
                                                                            {"range", "0,0.1"}}));
  const Settings read(request);
  EXPECT_EQ(read.indices("layers", 4), (std::vector<std::int64_t>{0, 2, 3}));
  EXPECT_THROW((void)read.indices("layers", 3), Error);
  EXPECT_EQ(read.index("heads", 2), 1);
  EXPECT_THROW((void)read.index("heads", 1), Error);
  EXPECT_EQ(read.index("query", 9), std::nullopt);
  EXPECT_FALSE(read.flag("image"));
  EXPECT_EQ(read.number("opacity"), 0.25);
  EXPECT_EQ(read.numbers("range"), (std::vector<double>{0, 0.1}));
  EXPECT_EQ(read.written("layers"), "0,2-3");
}

TEST(Settings, NameTheIdentityAlikeInEveryFigure) {
  for (const FigureRecipe& recipe : figure_recipes()) {
    const auto* identity = find_description(recipe.settings, "identity");
    if (identity == nullptr) continue;
    std::vector<std::string> names = {"as-is", "without", "with", "both"};
    if (identity->choices.size() == 3) names.pop_back();
    EXPECT_EQ(identity->choices, names) << recipe.name;
  }
}

}  // namespace
}  // namespace attnscope
