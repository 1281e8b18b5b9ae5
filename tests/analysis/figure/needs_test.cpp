#include "analysis/figure/needs.h"

#include <gtest/gtest.h>

#include "analysis/figure/fit.h"
#include "core/error.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

TEST(Needs, AreDeclaredByEveryRecipe) {
  const std::vector<Subject> nothing;
  for (const FigureRecipe& recipe : figure_recipes()) {
    const FigureFit fit = fit_of(recipe.name, nothing);
    EXPECT_EQ(fit.missing.empty(), recipe.needs.least == 0) << recipe.name;
    if (!fit.missing.empty()) {
      EXPECT_TRUE(fit.missing.starts_with("needs ")) << recipe.name;
    }
    EXPECT_EQ(fit.unset.empty(), recipe.needs.setting.empty()) << recipe.name;
    if (recipe.needs.setting.empty()) continue;
    EXPECT_EQ(find_setting(recipe.name, recipe.needs.setting).kind, ParameterKind::file);
    const FigureFit set =
        fit_of(recipe.name, nothing, {{std::string(recipe.needs.setting), "some.npz"}});
    EXPECT_TRUE(set.unset.empty()) << recipe.name;
  }
}

TEST(Needs, AreCheckedBeforeAFigureIsMade) {
  for (const FigureRecipe& recipe : figure_recipes()) {
    FigureRequest request;
    if (recipe.needs.least == 2) request.subjects = {attention_subject("one", {"softmax", {}})};
    if (recipe.needs.least == 0 && recipe.needs.setting.empty()) continue;
    const Error error = refusal_of([&] { (void)make_figure(recipe.name, request); },
                                   testing::Message() << recipe.name);
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_FALSE(error.remedy_text().empty()) << error.what();
  }
}

TEST(Needs, LeaveOutSubjectsThatDoNotMeetThem) {
  Subject trace = attention_subject("softmax", {"softmax", {}});
  EXPECT_TRUE(can_show(find_figure("rank-by-layer").needs, trace));
  EXPECT_FALSE(can_show(find_figure("key-maps").needs, trace));
  EXPECT_FALSE(can_show(find_figure("token-importance").needs, trace));
  EXPECT_FALSE(can_show(find_figure("feature-scatter").needs, trace));
  trace.mechanism = {"daft-conv", {}};
  EXPECT_TRUE(can_show(find_figure("key-maps").needs, trace));
  trace.trace = nullptr;
  EXPECT_FALSE(can_show(find_figure("rank-by-layer").needs, trace));
}

TEST(Needs, CombinesTheNeedsOfAPagesFigures) {
  const FigureRecipe& page = find_figure("composite");
  EXPECT_EQ(needs_of(page, {{"page", "energy-share | operations-table"}}).subject,
            SubjectNeed::model);
  EXPECT_EQ(needs_of(page, {{"page", "energy-share | operations-table"}}).least, 0U);
  const FigureNeeds both = needs_of(page, {{"page", "energy-share | comparison"}});
  EXPECT_EQ(both.subject, SubjectNeed::maps);
  EXPECT_EQ(both.least, 2U);
  EXPECT_TRUE(wants_runs(both));
  // Maps need no tokens. Together with a figure that needs them, the tokens are requested.
  const FigureNeeds maps = find_figure("attention-maps").needs;
  EXPECT_FALSE(maps.tokens);
  EXPECT_TRUE(joined(maps, find_figure("rank-over-depth").needs).tokens);
  EXPECT_FALSE(joined(maps, maps).tokens);
}

}  // namespace
}  // namespace attnscope
