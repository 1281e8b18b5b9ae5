#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <tuple>

#include "analysis/energy/request.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/text_export.h"
#include "core/error.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

Figure figure(const char* name, const std::map<std::string, std::string>& settings = {}) {
  FigureRequest request;
  request.settings = parse_settings(name, settings);
  return make_figure(name, request);
}

double energy_pj(const char* network) {
  const EnergySubject subject = resolve(parse_energy_request(network));
  return operations_energy_pj(count_operations(subject.architecture, subject.options).total(),
                              subject.constants);
}

double height_of_bars(const Panel& panel, double x) {
  double height = 0;
  for (const Mark& mark : panel.marks) {
    if (const auto* bars = std::get_if<Bars>(&mark)) {
      for (std::size_t i = 0; i < bars->x.size(); ++i)
        height += bars->x[i] == x ? bars->heights[i] : 0;
    }
  }
  return height;
}

TEST(EnergyFigures, BarsStackToTheTotal) {
  const Figure bars =
      figure("energy-breakdown", {{"networks", "deit-small; deit-small mechanism=hash"}});
  ASSERT_EQ(bars.panels.size(), 1U);
  EXPECT_NEAR(height_of_bars(bars.panels[0], 0), energy_pj("deit-small") / 1e9, 1e-9);
  EXPECT_NEAR(height_of_bars(bars.panels[0], 1), energy_pj("deit-small mechanism=hash") / 1e9,
              1e-9);
  const Figure relative =
      figure("energy-breakdown",
             {{"networks", "deit-small; deit-small mechanism=hash"}, {"relative", "yes"}});
  EXPECT_NEAR(height_of_bars(relative.panels[0], 0), 100, 1e-9);
}

// The component "values" of attention has the name of the data set in its HDF5 group.
TEST(EnergyFigures, CanBeWrittenAsHdf5) {
  for (const char* name : {"energy-breakdown", "energy-share", "energy-growth"}) {
    EXPECT_FALSE(figure_as_hdf5(figure(name)).empty()) << name;
  }
}

TEST(EnergyFigures, LayersShareOneScale) {
  const Figure layers = figure("energy-breakdown", {{"by", "layer"}});
  ASSERT_EQ(layers.panels.size(), 3U);
  EXPECT_EQ(layers.panels[0].y.maximum, layers.panels[2].y.maximum);
  EXPECT_EQ(layers.panels[0].x.ticks.front().label, "0");
}

// EcoFormer, Fig. 2: "For a bigger model, FFN takes a larger proportion".
TEST(EnergyFigures, LargerPyramidsGiveMoreToTheFeedForward) {
  const Figure share = figure("energy-share");
  for (const char* name : {"attention_share_of_operations", "attention_share_of_energy"}) {
    const std::vector<double>& shares = share.numbers.at(name);
    ASSERT_EQ(shares.size(), 5U);
    for (std::size_t i = 1; i < shares.size(); ++i) EXPECT_LT(shares[i], shares[i - 1]);
  }
}

TEST(EnergyFigures, GrowthHasACurveAMechanismAndMarksCrossings) {
  const Figure growth = figure("energy-growth", {{"mechanisms", "softmax; performer features=64"}});
  const Panel& panel = growth.panels.at(0);
  // The marks are two curves, their names and the crossings.
  ASSERT_EQ(panel.marks.size(), 5U);
  EXPECT_TRUE(panel.x.logarithmic && panel.y.logarithmic);
  const Line& crossing = std::get<Line>(panel.marks[4]);
  ASSERT_EQ(crossing.x.size(), 1U);
  EXPECT_EQ(crossing.x[0],
            growth.numbers.at("crossing/performer (features=64) below softmax").at(0));
  EXPECT_THAT(growth.caption, testing::HasSubstr("performer costs less than softmax from N = "));
}

TEST(EnergyFigures, GrowthNamesEveryCurveAtItsEndInItsColour) {
  const Figure growth = figure("energy-growth");
  const Panel& panel = growth.panels.at(0);
  std::map<std::string, Colour> colours;  // name → colour of the curve
  std::set<std::tuple<int, int, int>> different;
  std::set<std::tuple<int, int, int, LineStyle, bool>> looks;
  for (const Mark& mark : panel.marks) {
    const auto* line = std::get_if<Line>(&mark);
    if (line == nullptr || line->style == LineStyle::none) continue;
    const Colour& colour = colours[line->name] = line->colour;
    different.insert({colour.red, colour.green, colour.blue});
    looks.insert({colour.red, colour.green, colour.blue, line->style, line->width_pt < 1});
  }
  EXPECT_EQ(different.size(), 7U) << "as many as any vision tells apart";
  EXPECT_EQ(looks.size(), colours.size()) << "colour, dashes and width together";
  std::vector<double> heights;
  std::set<double> starts;  // left ends of the names: one, or the column is ragged
  for (const Mark& mark : panel.marks) {
    const auto* name = std::get_if<TextMark>(&mark);
    if (name == nullptr) continue;
    ASSERT_TRUE(name->colour.has_value());
    EXPECT_EQ(name->colour->red, colours.at(name->text).red) << name->text;
    EXPECT_GT(name->x, 65536);
    EXPECT_EQ(name->align, TextAlign::start);
    starts.insert(name->x);
    EXPECT_LT(name->x, *panel.x.maximum);
    heights.push_back(std::log(name->y));
  }
  EXPECT_GE(heights.size(), 14U);
  EXPECT_EQ(colours.size(), heights.size());
  EXPECT_EQ(starts.size(), 1U);
  std::sort(heights.begin(), heights.end());
  const double range = std::log(*panel.y.maximum / *panel.y.minimum);
  for (std::size_t i = 1; i < heights.size(); ++i) {
    // A line of 6.25 pt type is 2.2 mm high.
    EXPECT_GT((heights[i] - heights[i - 1]) / range * (growth.height_mm - 14), 2.0);
  }
  EXPECT_GE(heights.front(), std::log(*panel.y.minimum));
  EXPECT_LE(heights.back(), std::log(*panel.y.maximum));
}

TEST(EnergyFigures, LabelsThatWouldRunIntoEachOtherAreTurned) {
  const std::map<std::string, std::string> many = {{"networks", "deit-tiny; deit-small; deit-base"},
                                                   {"mechanisms", "own; adder; hash bits=8"}};
  for (const char* name : {"energy-breakdown", "energy-share"}) {
    const Figure one_line = figure(name, {{"networks", "deit-tiny; deit-small"}});
    const Figure turned = figure(name, many);
    for (const Panel& panel : one_line.panels) EXPECT_FALSE(panel.x.turned_ticks) << name;
    for (const Panel& panel : turned.panels) EXPECT_TRUE(panel.x.turned_ticks) << name;
    EXPECT_GT(turned.height_mm, one_line.height_mm) << name;
    EXPECT_THAT(figure_as_tex(turned).source, testing::HasSubstr("rotate=90")) << name;
  }
}

TEST(EnergyFigures, HaveNoColumnsOfUnmeasuredCosts) {
  const Figure costs = figure("mechanism-costs", {{"measure", "false"}});
  EXPECT_THAT(costs.table->header, testing::ElementsAre("Mechanism", "Time O(·)", "Space O(·)",
                                                        "Params (K)", testing::_));
}

TEST(EnergyFigures, TablesAreBooktabs) {
  const Figure table =
      figure("operations-table", {{"networks", "deit-base classes=10"}, {"convention", "adder"}});
  const std::string tex = figure_as_tex(table).source;
  EXPECT_THAT(tex, testing::HasSubstr("\\toprule"));
  EXPECT_THAT(tex, testing::HasSubstr("DeiT-B & softmax & 17.56 & 17.56 & 80.79 & 85.81 \\\\"));
  EXPECT_THAT(figure_as_csv(table), testing::HasSubstr("DeiT-B,softmax,17.56,17.56,80.79,85.81"));
}

TEST(EnergyFigures, RefuseUnknownSettings) {
  for (const auto& [name, setting, value] :
       {std::tuple{"energy-breakdown", "networks", "deit-huge"},
        std::tuple{"energy-share", "convention", "mine"},
        std::tuple{"energy-growth", "mechanisms", "hash bit=3"},
        std::tuple{"energy-growth", "heads", "5"},
        std::tuple{"operations-table", "constants", "fp64"}}) {
    const Error error = refusal_of(
        [&name = name, &setting = setting, &value = value] {
          (void)figure(name, {{setting, value}});
        },
        testing::Message() << name << " took " << value);
    EXPECT_EQ(error.kind(), ErrorKind::usage);
  }
}

TEST(EnergyFigures, CountOneNetworkUnderSeveralMechanisms) {
  const Figure bars = figure("energy-breakdown", {{"networks", "deit-tiny"},
                                                  {"mechanisms", "own; adder; hash"},
                                                  {"parameters", "bits=8"},
                                                  {"tokens", "512"}});
  const std::vector<Tick>& ticks = bars.panels[0].x.ticks;
  ASSERT_EQ(ticks.size(), 3U);
  EXPECT_EQ(ticks[0].label, "softmax");
  EXPECT_EQ(ticks[2].label, "hash");
  EXPECT_NEAR(bars.numbers.at("energy_pj/hash").front(),
              energy_pj("deit-tiny mechanism=hash bits=8 tokens=512"), 1);
}

TEST(EnergyFigures, AreRelativeToThePinnedNetwork) {
  std::map<std::string, std::string> settings = {
      {"networks", "deit-tiny"}, {"mechanisms", "own; adder; hash"}, {"relative", "2"}};
  const Figure bars = figure("energy-breakdown", settings);
  EXPECT_NEAR(height_of_bars(bars.panels[0], 1), 100, 1e-9);
  EXPECT_EQ(bars.panels[0].y.label, "energy (% of adder)");
  settings["relative"] = "4";
  EXPECT_THROW((void)figure("energy-breakdown", settings), Error);
}

TEST(EnergyFigures, RefuseParametersOfNoMechanism) {
  EXPECT_THROW((void)figure("energy-breakdown", {{"parameters", "bit=8"}}), Error);
  EXPECT_THROW((void)figure("energy-growth", {{"parameters", "bits"}}), Error);
  EXPECT_THROW((void)figure("energy-share", {{"mechanisms", " ; "}}), Error);
}

}  // namespace
}  // namespace attnscope
