#include "analysis/figure/style.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <tuple>

#include "analysis/figure/figure_command.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/text_layout.h"
#include "core/error.h"
#include "tests/support/attention_subjects.h"

namespace attnscope {
namespace {

FigureRequest styled_subjects() {
  FigureRequest request;
  request.subjects = {attention_subject("softmax", {"softmax", {}}),
                      attention_subject("adder", {"adder", {}}),
                      attention_subject("additive", {"additive", {}})};
  return request;
}

/// Properties by which lines differ in a grey print.
using GreyLook = std::tuple<LineStyle, MarkerShape, double, int>;

GreyLook grey_look(const Line& line) {
  return {line.style, line.marker, line.width_pt, line.colour.red};
}

TEST(Style, LinesDifferWithoutTheirColours) {
  for (const char* name : {"cumulative-spectrum", "rank-by-layer"}) {
    for (const LineLook look : {LineLook::distinct, LineLook::grey}) {
      const Figure figure = dressed(make_figure(name, styled_subjects()), {.lines = look});
      std::set<GreyLook> looks;
      std::size_t lines = 0;
      for (const Mark& mark : figure.panels.front().marks) {
        const auto* line = std::get_if<Line>(&mark);
        if (line == nullptr || line->label.empty()) continue;
        ++lines;
        GreyLook own = grey_look(*line);
        if (look == LineLook::distinct) std::get<3>(own) = 0;
        EXPECT_TRUE(looks.insert(own).second) << name << ": " << line->label;
        if (look == LineLook::grey) {
          EXPECT_EQ(line->colour.red, line->colour.green);
          EXPECT_EQ(line->colour.red, line->colour.blue);
          EXPECT_LE(line->colour.red, 150) << "too light on white";
        }
      }
      EXPECT_GE(lines, 6U);
    }
  }
}

TEST(Style, OneSeriesLooksTheSameInEveryPanel) {
  Figure figure;
  for (int panel = 0; panel < 2; ++panel) {
    figure.panels.emplace_back().column = panel;
    for (const char* label : {"a", "b"}) {
      Line line;
      line.label = label;
      line.x = line.y = {0, 1};
      figure.panels.back().marks.emplace_back(line);
    }
  }
  std::swap(figure.panels[1].marks[0], figure.panels[1].marks[1]);
  const Figure found = dressed(figure, {.lines = LineLook::distinct});
  const auto line = [&](std::size_t panel, std::size_t mark) {
    return std::get<Line>(found.panels[panel].marks[mark]);
  };
  EXPECT_EQ(grey_look(line(0, 0)), grey_look(line(1, 1)));
  EXPECT_NE(grey_look(line(0, 0)), grey_look(line(0, 1)));
}

TEST(Style, LettersStandInReadingOrder) {
  FigureRequest request = styled_subjects();
  const Figure maps = dressed(make_figure("attention-maps", request), {.letters = true});
  std::string letters;
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t column = 0; column < 3; ++column) {
      for (const Panel& panel : maps.panels) {
        if (panel.row == row && panel.column == column) letters += panel.letter;
      }
    }
  }
  EXPECT_EQ(letters, "abcdefghi");
  const Figure one = dressed(make_figure("rank-by-layer", request), {.letters = true});
  EXPECT_EQ(one.panels.front().letter, "");
  EXPECT_EQ(panel_letter(25), "z");
  EXPECT_EQ(panel_letter(26), "aa");
  EXPECT_EQ(panel_letter(27), "ab");
}

TEST(Style, ASignedScaleStaysDiverging) {
  Figure figure;
  figure.colour_scales = {{.label = "a"}, {.label = "b", .colour_map = "diverging"}};
  const Figure found = dressed(figure, {.colour_map = "cividis"});
  EXPECT_EQ(found.colour_scales[0].colour_map, "cividis");
  EXPECT_EQ(found.colour_scales[1].colour_map, "diverging");
  EXPECT_THROW((void)dressed(figure, {.colour_map = "jet"}), Error);
  EXPECT_THROW((void)dressed(figure, {.height_mm = 5}), Error);
}

TEST(Style, LargerTypeKeepsTheMargins) {
  FigureRequest request = styled_subjects();
  const Figure plain = make_figure("rank-by-layer", request);
  request.font_size_pt = 10.5;  // 1.5 times the default
  const Figure large = make_figure("rank-by-layer", request);
  EXPECT_EQ(large.width_mm, plain.width_mm);
  EXPECT_EQ(large.font_size_pt, 10.5);
  // The width determines the height of the panel, the font size that of the legend.
  const double panel = 0.58 * 84;
  EXPECT_NEAR(plain.height_mm - panel, legend_mm(plain, 84), 1e-9);
  EXPECT_NEAR(large.height_mm - panel, 1.5 * legend_mm(large, 84 / 1.5), 1e-9);
  EXPECT_GE(large.height_mm - panel, 1.5 * (plain.height_mm - panel) - 1e-9);
  EXPECT_EQ(large.numbers, plain.numbers);
  request.font_size_pt = 1;
  EXPECT_THROW((void)make_figure("rank-by-layer", request), Error);
}

TEST(FigureCommand, WritesSettingsThatDifferFromDefaultsInOneOrder) {
  FigureCommand command;
  command.figure = "rank-by-layer";
  command.models = {"a b.h5", "c.h5@adder,identity=true"};
  command.inputs = {"x.png"};
  command.further = {"--option", "heads=3"};
  command.settings = {"spread=none"};
  EXPECT_EQ(to_string(command),
            "attnscope figure rank-by-layer 'a b.h5' c.h5@adder,identity=true "
            "--input x.png --option heads=3 --set spread=none --width 84");
  command.font_size_pt = 9;
  command.style = {.font_family = "Noto Sans",
                   .height_mm = 60,
                   .lines = LineLook::grey,
                   .letters = true,
                   .shared_legend = true,
                   .caption = "It's so"};
  command.transparent = true;
  command.dpi = 600;
  command.out = "f.png";
  const std::string all = to_string(command);
  EXPECT_TRUE(all.ends_with(
      "--width 84 --font-size 9 --height 60 --font-family 'Noto Sans' --lines grey --letters "
      "--shared-legend --caption 'It'\\''s so' --dpi 600 --background transparent --out f.png"))
      << all;
}

}  // namespace
}  // namespace attnscope
