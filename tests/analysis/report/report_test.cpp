// Tables of results as text, CSV, JSON and Markdown, compared with outputs written by hand.
#include "analysis/report/report.h"

#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace attnscope {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

struct Measured {
  std::int64_t layer = 0;
  double rank = 0, share = 0;
  std::string note;
};

std::vector<Measured> measured() {
  return {{0, 7.5, 0.5, ""}, {1, kNotKnown, 1.0 / 3, "NaN, in the map"}};
}

std::vector<ColumnOf<Measured>> columns() {
  return {{{.name = "layer", .title = "layer"}, &Measured::layer},
          {{.name = "rank",
            .title = "mean\nrank",
            .unit = "values",
            .formula = "Σ_l r_l / L",
            .width = 8,
            .decimals = 1},
           &Measured::rank},
          {{.name = "share", .title = "share", .width = 9, .decimals = 1, .per_cent = true},
           &Measured::share},
          {{.name = "state", .title = "state", .left = true}, &Measured::note}};
}

TEST(Report, TextAlignsColumnsAndMarksUnknownValues) {
  EXPECT_EQ(report_as_text(report_of(measured(), columns())),
            "layer    mean    share  state\n"
            "         rank\n"
            "    0     7.5   50.0 %\n"
            "    1       –   33.3 %  NaN, in the map\n");
}

TEST(Report, CsvQuotesTextsAndLeavesUnknownFieldsEmpty) {
  EXPECT_EQ(report_as_csv(report_of(measured(), columns())),
            "layer,rank,share,state\n"
            "0,7.5,0.5,\n"
            "1,,0.333333333,\"NaN, in the map\"\n");
}

TEST(Report, JsonHasTheUnroundedNumbersAndNullForUnknown) {
  const nlohmann::ordered_json json = report_as_json(report_of(measured(), columns()));
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0].dump(), R"({"layer":0,"rank":7.5,"share":0.5,"state":""})");
  EXPECT_EQ(json[1]["rank"], nullptr);
  EXPECT_EQ(json[1]["share"], 1.0 / 3);
}

TEST(Report, MarkdownHasTheTextsOfTheCells) {
  std::vector<Measured> rows = measured();
  rows[0].note = "a|b";
  EXPECT_EQ(report_as_markdown(report_of(rows, columns())),
            "| layer | mean rank | share | state |\n"
            "|--:|--:|--:|---|\n"
            "| 0 | 7.5 | 50.0 % | a\\|b |\n"
            "| 1 | – | 33.3 % | NaN, in the map |\n");
}

TEST(Report, LegendHasFormulaAndUnit) {
  EXPECT_EQ(report_legend(report_of(measured(), columns())), "mean rank  Σ_l r_l / L; in values\n");
}

TEST(Report, OutputsShowOnlyTheirColumns) {
  const std::vector<ColumnOf<Measured>> mixed = {
      {{.title = "a"}, &Measured::layer},
      {csv_only("b"), &Measured::layer},
      {json_only("c"), &Measured::layer},
      {{.title = "d"},
       nullptr,
       [](const Measured& row) { return "l" + std::to_string(row.layer); }},
      {{.left = true}, &Measured::note}};
  const Report report = report_of(measured(), mixed);
  EXPECT_EQ(report_as_text(report), "a   d\n0  l0\n1  l1  NaN, in the map\n");
  EXPECT_EQ(report_as_csv(report), "b\n0\n1\n");
  EXPECT_EQ(report_as_json(report).dump(), R"([{"c":0},{"c":1}])");
}

TEST(Report, TextLeavesOutOptionalColumnsWithoutAnyKnownValue) {
  std::vector<ColumnOf<Measured>> optional = columns();
  for (ColumnOf<Measured>& column : optional) column.column.if_known = true;
  std::vector<Measured> rows = measured();
  rows[0].rank = kNotKnown;
  const Report report = report_of(rows, optional);
  EXPECT_EQ(report_as_text(report),
            "layer    share  state\n"
            "    0   50.0 %\n"
            "    1   33.3 %  NaN, in the map\n");
  EXPECT_EQ(report_legend(report), "");
  EXPECT_EQ(report_as_csv(report).substr(0, 22), "layer,rank,share,state");
}

TEST(Report, TablesInCellsNestInJsonAndUnfoldInCsv) {
  const auto inner = [](const Measured& row) {
    std::vector<Measured> rows(static_cast<std::size_t>(row.layer) + 1);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].rank = static_cast<double>(i) / 8;
    return table_cell(
        report_of(rows, std::vector<ColumnOf<Measured>>{{{.name = "value"}, &Measured::rank}}));
  };
  const std::vector<ColumnOf<Measured>> outer = {
      {{.name = "model"}, [](const Measured&) { return "vit"; }},
      {{.name = "values"}, inner},
      {{.name = "layer"}, &Measured::layer}};
  const Report report = report_of(measured(), outer);
  EXPECT_EQ(report_as_csv(report),
            "model,value,layer\n"
            "vit,0,0\n"
            "vit,0,1\n"
            "vit,0.125,1\n");
  EXPECT_EQ(report_as_json(report)[1].dump(),
            R"({"model":"vit","values":[{"value":0.0},{"value":0.125}],"layer":1})");
}

TEST(Report, TextUnfoldsTablesWithTitlesAndKeepsTheLineOfAnEmptyOne) {
  const auto inner = [](const Measured& row) {
    std::vector<Measured> rows(row.layer == 0 ? 2 : 0);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].rank = static_cast<double>(i) + 0.5;
    return table_cell(report_of(
        rows, std::vector<ColumnOf<Measured>>{
                  {{.name = "value", .title = "value", .decimals = 1}, &Measured::rank}}));
  };
  const std::vector<ColumnOf<Measured>> outer = {
      {{.name = "layer", .title = "layer"}, &Measured::layer},
      {{.name = "values"}, inner},
      {{.left = true}, &Measured::note}};
  const Report report = report_of(measured(), outer);
  EXPECT_EQ(report_as_text(report),
            "layer  value\n"
            "    0    0.5\n"
            "    0    1.5\n"
            "    1         NaN, in the map\n");
  EXPECT_EQ(report_as_markdown(report),
            "| layer | value |  |\n"
            "|--:|--:|---|\n"
            "| 0 | 0.5 |  |\n"
            "| 0 | 1.5 |  |\n"
            "| 1 |  | NaN, in the map |\n");
  EXPECT_EQ(report_as_csv(report), "layer,value\n0,0.5\n0,1.5\n");
}

TEST(Report, CsvHasTheHeadingsOfTablesThatAreMissing) {
  const Report inner{
      {{.name = "token", .value = [](std::size_t row) { return std::to_string(row); }}}, 0};
  ReportColumn column{.name = "tokens",
                      .value = [inner](std::size_t) { return table_cell(inner); }};
  EXPECT_EQ(report_as_csv(Report{{column}, 1}), "token\n");
  EXPECT_EQ(report_as_csv(Report{{column}, 0}), "tokens\n") << "nothing tells that it is a table";
  column.table = std::make_shared<const Report>(inner);
  EXPECT_EQ(report_as_csv(Report{{column}, 0}), "token\n");
}

TEST(Report, CsvHasTheWordsOfAColumnOnlyIfItAsksForThem) {
  for (const bool in_csv : {false, true}) {
    const std::vector<ColumnOf<Measured>> columns = {
        {{.name = "layer", .title = "layer", .words_in_csv = in_csv},
         [](const Measured& row) { return known_if(row.layer > 0, row.layer); },
         [](const Measured& row) { return row.layer > 0 ? std::to_string(row.layer) : "all"; }}};
    const Report report = report_of(measured(), columns);
    EXPECT_EQ(report_as_csv(report), in_csv ? "layer\nall\n1\n" : "layer\n\n1\n");
    EXPECT_EQ(report_as_text(report), "layer\n  all\n    1\n");
    EXPECT_EQ(report_as_json(report).dump(), R"([{"layer":null},{"layer":1}])");
  }
}

TEST(Report, RefersToRowsOfOthersAndMarksNegativeIndicesAsUnknown) {
  std::vector<Measured> rows = measured();
  std::vector<ColumnOf<Measured>> columns = {{{.name = "layer"}, if_any(&Measured::layer)}};
  append(columns, {{{.name = "note"}, &Measured::note}});
  const Report report = report_on(rows, columns);
  rows[0].layer = -1;
  EXPECT_EQ(report_as_csv(report), "layer,note\n,\n1,\"NaN, in the map\"\n");
}

}  // namespace
}  // namespace attnscope
