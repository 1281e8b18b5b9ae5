#include "analysis/html/trace_page.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

#include "analysis/html/html_text.h"
#include "core/error.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

using nlohmann::json;

Subject random_subject(const std::string& label, std::int64_t layers, std::int64_t heads,
                       std::int64_t tokens) {
  auto trace = std::make_shared<Trace>();
  trace->model_name = label;
  trace->mechanism = {"softmax", {}};
  trace->input_label = "boot.png";
  trace->layout.prefix = 1;
  std::mt19937 random(3);
  std::exponential_distribution<float> weights;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    Tensor maps(Shape{heads, tokens, tokens});
    for (float& weight : maps.values()) weight = weights(random);
    for (std::int64_t head = 0; head < heads; ++head) {
      MatrixMap map = maps.slice(head);
      for (Eigen::Index row = 0; row < map.rows(); ++row) map.row(row) /= map.row(row).sum();
    }
    trace->layers.emplace_back().implied_map = std::move(maps);
  }
  Subject subject;
  subject.label = label;
  subject.mechanism = trace->mechanism;
  subject.trace = std::move(trace);
  return subject;
}

/// The JSON of the element "data".
json data_of(const std::string& page) {
  const std::string before = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(before) + before.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(TracePage, HoldsTheExactSpectraOfTheTrace) {
  FigureRequest request;
  request.subjects = {random_subject("a", 2, 3, 17)};
  const json data = data_of(trace_page(request, {}));
  const json& subject = data.at("subjects").at(0);
  SpectrumOptions options;
  options.accuracy = SpectrumAccuracy::every_value;
  const Trace& trace = *request.subjects[0].trace;
  const auto without = spectra_of(trace, IdentityView::without, options);
  const auto with = spectra_of(trace, IdentityView::with, options);
  ASSERT_EQ(subject.at("maps").size(), without.size());
  for (std::size_t i = 0; i < without.size(); ++i) {
    const json& map = subject.at("maps").at(i);
    EXPECT_EQ(map.at("layer"), without[i].layer);
    EXPECT_EQ(map.at("head"), without[i].head);
    EXPECT_EQ(map.at("without").get<std::vector<double>>(), without[i].singular_values);
    EXPECT_EQ(map.at("with").get<std::vector<double>>(), with[i].singular_values);
    const json& table = subject.at("tables").at("with");
    for (std::size_t column = 0; column < table.at("columns").size(); ++column) {
      const json& cell = table.at("rows").at(i).at(column);
      const std::string name = table.at("columns").at(column).at("name");
      if (name == "equivalent_rank") {
        EXPECT_EQ(cell.at(0), with[i].equivalent_rank);
      }
      if (name == "effective_rank") {
        EXPECT_EQ(cell.at(0).get<double>(), with[i].effective_rank);
      }
    }
  }
}

TEST(TracePage, MapsThatAreNotSquareHaveNoIdentity) {
  FigureRequest request;
  request.subjects = {random_subject("a", 1, 1, 6)};
  auto trace = std::make_shared<Trace>(*request.subjects[0].trace);
  Tensor map(Shape{1, 3, 5});
  for (float& weight : map.values()) weight = 0.2F;
  trace->layers.emplace_back().implied_map = std::move(map);
  request.subjects[0].trace = trace;
  const json data = data_of(trace_page(request, {}));
  const json& maps = data.at("subjects").at(0).at("maps");
  EXPECT_TRUE(maps.at(0).at("with").is_array());
  EXPECT_TRUE(maps.at(1).at("with").is_null());
  EXPECT_EQ(data.at("subjects").at(0).at("layers").at(1).at("keys"), 5);
}

TEST(TracePage, KeepsEveryPictureOfAText) {
  FigureRequest request;
  request.subjects = {random_subject("a", 1, 1, 12)};
  auto trace = std::make_shared<Trace>(*request.subjects[0].trace);
  trace->layout = {};
  trace->layout.texts.assign(12, "word");
  TokenCells tiled{.first = 5, .rows = 2, .columns = 2};
  tiled.tiles = {6, 8};  // one above the other, each of one row
  tiled.overview = 5;
  tiled.overview_rows = tiled.overview_columns = 1;
  trace->layout.pictures = {{.first = 1, .rows = 1, .columns = 3}, tiled};
  Image grey;
  grey.width = grey.height = grey.channels = 1;
  grey.pixels = {128};
  trace->images = {grey, grey};
  request.subjects[0].trace = trace;
  const json subject = data_of(trace_page(request, {})).at("subjects").at(0);
  EXPECT_EQ(subject.at("images").size(), 2U);
  const json& grids = subject.at("layouts").at(0).at("grids");
  ASSERT_EQ(grids.size(), 2U);
  EXPECT_EQ(grids.at(0).at("tokens"), json({1, 2, 3}));
  EXPECT_TRUE(grids.at(0).at("overview").empty());
  EXPECT_EQ(grids.at(1).at("tokens"), json({6, 7, 8, 9}));
  EXPECT_EQ(grids.at(1).at("overview"),
            json::parse("[[5, 0, 0.25], [5, 1, 0.25], [5, 2, 0.25], [5, 3, 0.25]]"));
}

TEST(TracePage, NamesFromFilesStayText) {
  const std::string evil = "</script><img src=x onerror=alert(1)> \"quoted\" 'and' & \x1B[31m";
  FigureRequest request;
  request.subjects = {random_subject(evil, 1, 1, 5)};
  auto trace = std::make_shared<Trace>(*request.subjects[0].trace);
  trace->input_label = evil;
  trace->layout = {};
  trace->layout.texts = {"<b>", "</script>", "\"", "\xFF", "&amp;"};
  request.subjects[0].trace = trace;
  const std::string page = trace_page(request, {});
  EXPECT_EQ(page.find("<img src=x"), std::string::npos);
  EXPECT_EQ(page.find('\x1B'), std::string::npos);
  const auto count = [&page](const std::string& text) {
    std::size_t found = 0;
    for (std::size_t at = page.find(text); at != std::string::npos; at = page.find(text, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count("</script>"), 2U);  // that of the data and that of the script
  EXPECT_EQ(count("<script"), 2U);
  const json subject = data_of(page).at("subjects").at(0);
  EXPECT_EQ(subject.at("layouts").at(0).at("texts").at(1), "</script>");
  EXPECT_NE(subject.at("label").get<std::string>().find("<img src=x"), std::string::npos);
}

TEST(TracePage, TwoModelsOf36MapsOf197TokensTakeLessThan10MB) {
  FigureRequest request;
  request.subjects = {random_subject("a", 6, 6, 197), random_subject("b", 6, 6, 197)};
  const std::string page = trace_page(request, {});
  EXPECT_LT(page.size(), 10'000'000U);
  EXPECT_EQ(data_of(page).at("bits"), 16);
}

TEST(TracePage, EqualRequestsGiveEqualBytes) {
  FigureRequest request;
  request.subjects = {random_subject("a", 2, 2, 9)};
  EXPECT_EQ(trace_page(request, {}), trace_page(request, {}));
}

TEST(TracePage, ShowsTheChosenLayersAndHeads) {
  FigureRequest request;
  request.subjects = {random_subject("a", 3, 4, 6)};
  TracePageOptions options;
  options.shown.layers = {0, 2};
  options.shown.heads = {1};
  options.identity = IdentityView::without;
  options.out = "p.html";
  const std::string page = trace_page(request, options);
  const json data = data_of(page);
  EXPECT_EQ(data.at("subjects").at(0).at("maps").size(), 2U);
  EXPECT_EQ(data.at("identity"), "without");
  EXPECT_NE(page.find("attnscope export-html a --identity without --layers 0,2 --heads 1 --out "
                      "p.html"),
            std::string::npos);
  options.shown.heads = {9};
  EXPECT_NE(error_of([&] { return trace_page(request, options); }).find("no map is left to show"),
            std::string::npos);
}

TEST(TracePage, RefusesMoreMapsThanABrowserHolds) {
  FigureRequest request;
  request.subjects = {random_subject("a", 1, 1, 4)};
  auto trace = std::make_shared<Trace>();
  trace->layers.resize(1);
  trace->layers[0].implied_map = ImpliedMaps(std::make_shared<const ComputedMaps>(
      Shape{12, 4096, 4096}, 1, [](std::int64_t, std::int64_t, StridedMatrixMap) {}));
  request.subjects[0].trace = trace;
  const std::string message = error_of([&] { return trace_page(request, {}); });
  EXPECT_NE(message.find("too large for one page"), std::string::npos) << message;
  EXPECT_NE(message.find("--layers"), std::string::npos) << message;
}

}  // namespace
}  // namespace attnscope
