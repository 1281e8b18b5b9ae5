#include <gtest/gtest.h>
#include <string>

#include "analysis/figure/figure.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/text_export.h"
#include "tests/support/attention_subjects.h"

namespace attnscope {
namespace {

const std::string kHostile = "=cmd\x1B[2J\u202Egnp\x01\xFF";
const std::string kShown = "=cmd\\x1B[2J\\u202Egnp\\x01\\xFF";

bool holds_hidden(const std::string& text) {
  return text.find('\x1B') != std::string::npos || text.find('\x01') != std::string::npos ||
         text.find('\xFF') != std::string::npos || text.find("\u202E") != std::string::npos;
}

TEST(ShownFigureTest, EveryTextIsMadeFitToBeShown) {
  Figure figure;
  figure.title = figure.caption = figure.command = kHostile;
  figure.numbers[kHostile] = {1};
  figure.areas.emplace_back().title = kHostile;
  figure.colour_scales.emplace_back().label = kHostile;
  Panel panel;
  panel.title = panel.letter = panel.x.label = kHostile;
  panel.y.ticks.push_back({1, kHostile});
  const auto add = [&panel](auto mark, std::string decltype(mark)::*text) {
    mark.*text = kHostile;
    panel.marks.emplace_back(std::move(mark));
  };
  add(Line(), &Line::label);
  add(Line(), &Line::name);
  add(Band(), &Band::label);
  add(PointMark(), &PointMark::text);
  add(Rule(), &Rule::text);
  add(Bars(), &Bars::label);
  panel.marks.emplace_back(TextMark{.text = kHostile + "\nnext"});
  figure.panels.push_back(panel);
  figure.table = Table{{kHostile}, {{kHostile}}};
  make_text_showable(figure);
  EXPECT_EQ(figure.title, kShown);
  EXPECT_EQ(figure.numbers.begin()->first, kShown);
  EXPECT_EQ(std::get<TextMark>(figure.panels[0].marks.back()).text, kShown + "\nnext");
  EXPECT_EQ(figure.table->rows[0][0], kShown);
  for (const std::string& text :
       {figure_as_csv(figure), figure_as_json(figure), figure_as_tex(figure).source}) {
    EXPECT_FALSE(holds_hidden(text)) << text;
  }
}

TEST(ShownFigureTest, MakesFiguresSafeToShow) {
  FigureRequest request;
  request.subjects = {attention_subject(kHostile, {"softmax", {}})};
  for (const char* name : {"cumulative-spectrum", "rank-by-layer", "attention-maps"}) {
    const Figure figure = make_figure(name, request);
    EXPECT_FALSE(holds_hidden(figure_as_csv(figure))) << name;
    EXPECT_FALSE(holds_hidden(figure_as_tex(figure).source)) << name;
    EXPECT_FALSE(holds_hidden(figure.caption)) << name;
  }
}

}  // namespace
}  // namespace attnscope
