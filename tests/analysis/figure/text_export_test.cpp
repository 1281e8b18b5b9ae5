#include "analysis/figure/text_export.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>

namespace attnscope {
namespace {

Figure small_figure() {
  Figure figure;
  figure.name = "small";
  figure.title = "50 % of #1_x";
  figure.command = "attnscope figure small";
  figure.numbers["rank/a"] = {25};
  figure.colour_scales.emplace_back();
  Panel left;
  Line line;
  line.label = "A, \"quoted\" & more";
  line.x = {1, 2, 3};
  line.y = {0.1, 1.0 / 3, std::nan("")};
  left.marks.emplace_back(line);
  Panel right;
  right.column = 1;
  HeatMap map;
  map.rows = 1;
  map.columns = 2;
  map.values = {0.25F, std::nanf("")};
  right.marks.emplace_back(map);
  figure.panels = {left, right};
  return figure;
}

/// The rows of a CSV table, unquoted, as values by column name.
std::vector<std::map<std::string, std::string>> rows_of(const std::string& csv) {
  std::vector<std::vector<std::string>> cells(1);
  std::string cell;
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    if (csv[i] == '"' && quoted && i + 1 < csv.size() && csv[i + 1] == '"') {
      cell += csv[++i];
    } else if (csv[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && (csv[i] == ',' || csv[i] == '\n')) {
      cells.back().push_back(std::move(cell));
      cell.clear();
      if (csv[i] == '\n' && i + 1 < csv.size()) cells.emplace_back();
    } else {
      cell += csv[i];
    }
  }
  std::vector<std::map<std::string, std::string>> rows;
  for (std::size_t r = 1; r < cells.size(); ++r) {
    EXPECT_EQ(cells[r].size(), cells[0].size()) << r;
    auto& row = rows.emplace_back();
    for (std::size_t c = 0; c < cells[r].size(); ++c) row[cells[0][c]] = cells[r][c];
  }
  return rows;
}

TEST(CsvExport, HasOneHeaderAndARowForEveryValue) {
  Figure figure = small_figure();
  figure.panels[1].keys = {{"layer", "3"}, {"head", "1"}};
  figure.panels[1].title = "two\nlines";
  std::get<Line>(figure.panels[0].marks[0]).keys = {{"model", "a"}};
  const std::string csv = figure_as_csv(figure);
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "figure,panel_row,panel_column,panel,model,layer,head,mark,series,quantity,x,x_label,y,"
            "value");
  const auto rows = rows_of(csv);
  ASSERT_EQ(rows.size(), 6U);  // three points, two cells, one number
  EXPECT_EQ(rows[1].at("model"), "a");
  EXPECT_EQ(rows[1].at("layer"), "");
  EXPECT_EQ(rows[1].at("series"), "A, \"quoted\" & more");
  EXPECT_EQ(rows[1].at("mark"), "line");
  EXPECT_EQ(rows[1].at("x"), "2");
  EXPECT_EQ(rows[1].at("value"), "0.3333333333333333");
  EXPECT_EQ(rows[2].at("value"), "nan");
  EXPECT_EQ(rows[3].at("panel"), "two lines");
  EXPECT_EQ(rows[3].at("layer"), "3");
  EXPECT_EQ(rows[3].at("value"), "0.25");
  EXPECT_EQ(rows[4].at("x"), "1");
  EXPECT_EQ(rows[4].at("y"), "0");
  EXPECT_EQ(rows[5].at("mark"), "number");
  EXPECT_EQ(rows[5].at("quantity"), "rank");
  EXPECT_EQ(rows[5].at("series"), "a");
  EXPECT_EQ(rows[5].at("value"), "25");
}

TEST(CsvExport, AMarksOwnKeyComesBeforeThatOfItsPanel) {
  Figure figure = small_figure();
  figure.panels[0].keys = {{"layer", "3"}, {"head", "1"}};
  std::get<Line>(figure.panels[0].marks[0]).keys = {{"layer", "2"}};
  const auto rows = rows_of(figure_as_csv(figure));
  EXPECT_EQ(rows.at(0).at("layer"), "2");
  EXPECT_EQ(rows.at(0).at("head"), "1");
}

TEST(CsvExport, NoTextIsRunAsAFormula) {
  Figure figure = small_figure();
  std::get<Line>(figure.panels[0].marks[0]).label = "=HYPERLINK(\"http://x\")";
  figure.panels[0].title = "@SUM(A1)";
  for (const auto& row : rows_of(figure_as_csv(figure))) {
    for (const auto& [column, cell] : row) {
      EXPECT_TRUE(cell.empty() || std::string("=@+").find(cell[0]) == std::string::npos) << cell;
    }
  }
  figure.table = Table{{"name", "value"}, {{"-cmd", "-5"}}, 1};
  const auto rows = rows_of(figure_as_csv(figure));
  EXPECT_EQ(rows[0].at("name"), "'-cmd");
  EXPECT_EQ(rows[0].at("value"), "-5");
}

TEST(CsvExport, WritesProvenanceToAFileNextToTheData) {
  const Figure figure = small_figure();
  EXPECT_NE(csv_comments(figure).find("# Command: attnscope figure small\n"), std::string::npos);
  const auto json = nlohmann::json::parse(csv_metadata(figure, "f.csv"));
  EXPECT_EQ(json.at("@context"), "http://www.w3.org/ns/csvw");
  EXPECT_EQ(json.at("url"), "f.csv");
  EXPECT_EQ(json.at("notes").at("Command"), "attnscope figure small");
  std::string header;
  for (const auto& column : json.at("tableSchema").at("columns")) {
    header += (header.empty() ? "" : ",") + std::string(column.at("titles"));
  }
  const std::string csv = figure_as_csv(figure);
  EXPECT_EQ(header, csv.substr(0, csv.find('\n')));
}

TEST(JsonExport, IsTheWholeFigure) {
  const auto json = nlohmann::json::parse(figure_as_json(small_figure()));
  EXPECT_EQ(json.at("numbers").at("rank/a").at(0), 25);
  const auto& line = json.at("panels").at(0).at("marks").at(0);
  EXPECT_EQ(line.at("kind"), "line");
  EXPECT_EQ(line.at("y").at(1).get<double>(), 1.0 / 3);
  EXPECT_TRUE(line.at("y").at(2).is_null());
  EXPECT_TRUE(json.at("panels").at(1).at("marks").at(0).at("values").at(1).is_null());
  EXPECT_EQ(json.at("colour_scales").at(0).at("colour_map"), "viridis");
}

TEST(TexExport, EscapesTextAndKeepsNumbers) {
  Figure figure = small_figure();
  figure.panels[0].legend = LegendPosition::below;
  // A map of one row would be written as an image.
  auto& map = std::get<HeatMap>(figure.panels[1].marks[0]);
  map.rows = 2;
  map.values = {0.25F, std::nanf(""), 0.5F, 1};
  const std::string tex = figure_as_tex(figure).source;
  EXPECT_NE(tex.find("\\node{A, \\char34{}quoted\\char34{} \\& more};"), std::string::npos) << tex;
  EXPECT_NE(tex.find("2 0.3333333333333333\n"), std::string::npos);
  EXPECT_NE(tex.find("% Command: attnscope figure small\n"), std::string::npos);
  EXPECT_NE(tex.find("matrix plot*"), std::string::npos);
  EXPECT_EQ(std::count(tex.begin(), tex.end(), '{'), std::count(tex.begin(), tex.end(), '}'));
}

}  // namespace
}  // namespace attnscope
