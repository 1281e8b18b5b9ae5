#include "analysis/figure/table.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

#include "analysis/figure/text_layout.h"

namespace attnscope {
namespace {

Table long_table() {
  return {.header = {"Network", "Attention", "Mul (B)", "Add (B)", "Energy (mJ)", "Params (M)"},
          .rows = {{"fashion-softmax", "softmax", "0.06", "0.06", "0.29", "0.18"},
                   {"fashion-hash", "hash (bits=16, codes=learned, mode=paper, supports=25)",
                    "0.03", "0.04", "0.17", "0.18"}},
          .text_columns = 2};
}

TEST(Tables, BreakCellsThatDoNotFitIntoSeveralLines) {
  constexpr double width_mm = 84;
  Figure figure;
  make_table_figure(figure, long_table(), width_mm);
  const Panel& panel = figure.panels.front();
  const double mm_per_unit = width_mm / (*panel.x.maximum - *panel.x.minimum);
  const double text_pt = std::max(6.0, figure.font_size_pt - 0.75);
  std::map<double, std::vector<std::pair<double, double>>> rows;  // y → left and right ends
  bool broken = false;
  for (const Mark& mark : panel.marks) {
    const auto* text = std::get_if<TextMark>(&mark);
    if (text == nullptr) continue;
    const double half = text_mm(text->text, text_pt) / 2;
    rows[text->y].emplace_back(text->x * mm_per_unit - half, text->x * mm_per_unit + half);
    broken |= text->text.find("mode=paper") != std::string::npos && lines_of(text->text) > 1;
  }
  EXPECT_TRUE(broken);
  EXPECT_EQ(rows.size(), 3U);
  for (auto& [y, ends] : rows) {
    std::sort(ends.begin(), ends.end());
    EXPECT_GE(ends.front().first, -0.1);
    EXPECT_LE(ends.back().second, width_mm + 0.1);
    for (std::size_t i = 1; i < ends.size(); ++i) EXPECT_LT(ends[i - 1].second, ends[i].first);
  }
  EXPECT_EQ(figure.table->rows[1][1], long_table().rows[1][1]) << "what is exported is whole";
}

TEST(Tables, NarrowTheirColumnsEvenly) {
  Table table{.header = {"A", "B", "Mul (B)"},
              .rows = {{"one two three four five", "one two three four five six", "0.06"}},
              .text_columns = 2};
  const Table broken = broken_table(table, 32);
  EXPECT_GT(lines_of(broken.rows[0][0]), 1U);
  EXPECT_GT(lines_of(broken.rows[0][1]), 1U);
  EXPECT_NEAR(text_ems(broken.rows[0][0]), text_ems(broken.rows[0][1]), 4) << "half of one alone";
}

TEST(Tables, HaveOneLineARowWhereCellsFit) {
  Figure figure;
  make_table_figure(figure, long_table(), 174);
  for (const Mark& mark : figure.panels.front().marks) {
    const auto* text = std::get_if<TextMark>(&mark);
    if (text != nullptr) {
      EXPECT_EQ(lines_of(text->text), 1U);
    }
  }
}

TEST(WrappedText, BreaksOnlyAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 100), "one two three");
  EXPECT_EQ(wrapped("one two three", 5), "one two\nthree");
  EXPECT_EQ(wrapped("indivisible", 1), "indivisible");
}

TEST(Tables, ReportsAreTablesOfTheirTexts) {
  struct Network {
    std::string name;
    double rank = 0, share = 0;
  };
  const std::vector<ColumnOf<Network>> columns = {
      {{.name = "network", .title = "network", .left = true}, &Network::name},
      {{.name = "rank", .title = "mean\nrank", .decimals = 1}, &Network::rank},
      {{.name = "share", .title = "share", .decimals = 0, .per_cent = true}, &Network::share},
      {{.left = true}, nullptr, [](const Network&) { return ""; }}};
  const Table table = table_of(report_of<Network>({{"vit_b", 7.5, 0.25}}, columns));
  EXPECT_EQ(table.text_columns, 1U);
  EXPECT_EQ(table.header, (std::vector<std::string>{"network", "mean\nrank", "share"}));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0], (std::vector<std::string>{"vit_b", "7.5", "25 %"}));
  const std::string tex = table_as_tex(table);
  EXPECT_NE(tex.find("\\begin{tabular}{lrr}"), std::string::npos) << tex;
  EXPECT_NE(tex.find("vit\\_b & 7.5 & 25 \\% \\\\"), std::string::npos) << tex;
}

}  // namespace
}  // namespace attnscope
