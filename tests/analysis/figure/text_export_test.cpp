#include "analysis/figure/text_export.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/figure/recipe.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/temporary_folder.h"

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

TEST(CsvExport, HoldsEveryNumberExactly) {
  const std::string csv = figure_as_csv(small_figure());
  EXPECT_NE(csv.find("# rank/a: 25\n"), std::string::npos);
  EXPECT_NE(csv.find("panel,series,kind,x,y,value\n"), std::string::npos);
  EXPECT_NE(csv.find("\"(0, 0)\",\"A, \"\"quoted\"\" & more\",line,2,0.3333333333333333,\n"),
            std::string::npos)
      << csv;
  EXPECT_NE(csv.find("\"(0, 1)\",,cell,0,0,0.25\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\"(0, 1)\",,cell,1,0,nan\n"), std::string::npos);
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
  const std::string tex = figure_as_tex(small_figure());
  EXPECT_NE(tex.find("\\addlegendentry{A, \"quoted\" \\& more}"), std::string::npos) << tex;
  EXPECT_NE(tex.find("2 0.3333333333333333\n"), std::string::npos);
  EXPECT_NE(tex.find("% command: attnscope figure small\n"), std::string::npos);
  EXPECT_NE(tex.find("matrix plot*"), std::string::npos);
  EXPECT_EQ(std::count(tex.begin(), tex.end(), '{'), std::count(tex.begin(), tex.end(), '}'));
}

TEST(TexExport, CompilesWhereLatexIsInstalled) {
  if (std::system("command -v pdflatex >/dev/null && kpsewhich standalone.cls pgfplots.sty "
                  ">/dev/null") != 0) {
    GTEST_SKIP() << "pdflatex with standalone and pgfplots is not installed";
  }
  const TemporaryFolder folder;
  SubjectShape shape;
  shape.grid_rows = shape.grid_columns = 9;  // 82 × 82: more than a plot of cells
  FigureRequest request;
  request.subjects = {attention_subject("soft_max", {"softmax", {}}, shape)};
  for (const char* name : {"cumulative-spectrum", "attention-maps"}) {
    std::ofstream(folder / "figure.tex") << figure_as_tex(make_figure(name, request));
    const std::string command = "cd " + folder.path().string() +
                                " && pdflatex -halt-on-error -interaction=nonstopmode figure.tex "
                                ">figure.out 2>&1";
    std::ostringstream log;
    const int status = std::system(command.c_str());
    log << std::ifstream(folder / "figure.out").rdbuf();
    EXPECT_EQ(status, 0) << name << "\n" << log.str();
  }
}

}  // namespace
}  // namespace attnscope
