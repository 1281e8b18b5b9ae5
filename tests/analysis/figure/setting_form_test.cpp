#include "analysis/figure/setting_form.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/support/attention_subjects.h"

namespace attnscope {
namespace {

SettingControl control(const char* default_value, const char* explanation) {
  return control_of({"name", default_value, explanation});
}

TEST(SettingForm, ReadsWhatTheExplanationSays) {
  const SettingControl identity =
      control("both", "as-is, without, with (I added to every map), or both");
  EXPECT_EQ(identity.kind, SettingKind::choice);
  EXPECT_EQ(identity.choices, (std::vector<std::string>{"as-is", "without", "with", "both"}));
  EXPECT_FALSE(identity.free);
  const SettingControl layers =
      control("auto", "auto (first, middle and last), all, or indices from 0 such as 0,2-3");
  EXPECT_EQ(layers.choices.front(), "auto");
  EXPECT_EQ(layers.choices.at(1), "all");
  EXPECT_TRUE(layers.free);
  const SettingControl threshold =
      control("0.9", "share of the singular values that the equivalent rank reaches, 0 to 1");
  EXPECT_EQ(threshold.kind, SettingKind::number);
  EXPECT_EQ(threshold.maximum, 1);
  const SettingControl range = control("auto", "auto (clipped), full, or LOW,HIGH such as 0,0.1");
  EXPECT_EQ(range.choices, (std::vector<std::string>{"auto", "full"}));
  EXPECT_TRUE(range.free);
  EXPECT_EQ(control("yes", "yes or no: the image").kind, SettingKind::flag);
  EXPECT_EQ(control("", "networks without weights, separated by semicolons").kind,
            SettingKind::text);
  EXPECT_EQ(control_of({"d", "", "a data set", {.file = true}}).kind, SettingKind::file);
  const SettingControl given = control_of({"h", "mean", "how", {"mean|max|…"}});
  EXPECT_EQ(given.choices, (std::vector<std::string>{"mean", "max"}));
  EXPECT_TRUE(given.free);
}

TEST(SettingForm, EveryDefaultIsAmongTheChoicesOrInTheRange) {
  for (const FigureRecipe& recipe : figure_recipes()) {
    for (const FigureSetting& setting : recipe.settings) {
      const SettingControl found = control_of(setting);
      const std::string where = std::string(recipe.name) + ", " + std::string(setting.name);
      if (found.kind == SettingKind::choice) {
        EXPECT_NE(std::find(found.choices.begin(), found.choices.end(), setting.default_value),
                  found.choices.end())
            << where;
      } else if (found.kind == SettingKind::number) {
        const double value = std::stod(std::string(setting.default_value));
        EXPECT_GE(value, found.minimum) << where;
        EXPECT_LE(value, found.maximum) << where;
      }
    }
  }
}

TEST(SettingForm, EveryChoiceIsOneTheFigureTakes) {
  FigureRequest request;
  request.subjects = {attention_subject("softmax", {"softmax", {}}),
                      attention_subject("adder", {"adder", {}})};
  for (const char* name :
       {"cumulative-spectrum", "rank-by-layer", "attention-maps", "attention-overlay"}) {
    for (const FigureSetting& setting : find_figure(name).settings) {
      for (const std::string& choice : control_of(setting).choices) {
        request.settings = {{std::string(setting.name), choice}};
        try {
          (void)make_figure(name, request);
        } catch (const Error& error) {
          // These subjects may not be drawn so, but there must be such a choice.
          EXPECT_EQ(error.message().find("cannot have this value"), std::string::npos)
              << name << " " << setting.name << "=" << choice << ": " << error.what();
        }
      }
    }
  }
}

}  // namespace
}  // namespace attnscope
