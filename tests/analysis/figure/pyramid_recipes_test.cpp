// Figures of layers that differ in their numbers of heads, queries and keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/figure/recipe.h"
#include "analysis/rollout/rollout.h"
#include "core/error.h"
#include "core/trace/trace.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

/// Rows that sum to one and differ from each other.
Tensor maps_of(std::int64_t heads, std::int64_t queries, std::int64_t keys) {
  Tensor maps({heads, queries, keys});
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t query = 0; query < queries; ++query) {
      double sum = 0;
      for (std::int64_t key = 0; key < keys; ++key) {
        const double weight = 1.0 + static_cast<double>((query * (head + 3) + key * 5) % 7);
        maps.slice(head)(query, key) = static_cast<float>(weight);
        sum += weight;
      }
      maps.slice(head).row(query) /= static_cast<float>(sum);
    }
  }
  return maps;
}

/// Three layers with 8 × 8, 4 × 4 and 4 × 4 tokens and one, two and two heads. The keys of the
/// first are reduced to 2 × 2.
FigureRequest pyramid() {
  auto trace = std::make_shared<Trace>();
  trace->model_name = "pyramid";
  trace->layout = {0, 8, 8};
  trace->images = {Image{16, 16, 1, std::vector<std::uint8_t>(256, 100)}};
  for (const auto& [heads, side, key_side] : {std::tuple(1, 8, 2), {2, 4, 4}, {2, 4, 4}}) {
    LayerTrace layer;
    layer.implied_map = maps_of(heads, side * side, key_side * key_side);
    layer.layout = {0, side, side};
    layer.key_layout = {0, key_side, key_side};
    trace->layers.push_back(std::move(layer));
  }
  FigureRequest request;
  Subject subject;
  subject.label = "pyramid";
  subject.trace = trace;
  request.subjects = {std::move(subject)};
  return request;
}

const HeatMap& heat_of(const Panel& panel) {
  for (const Mark& mark : panel.marks) {
    if (const auto* heat = std::get_if<HeatMap>(&mark)) return *heat;
  }
  throw std::runtime_error("no heat map");
}

TEST(PyramidFigures, MapsOfDifferentLayersStandSideBySide) {
  FigureRequest request = pyramid();
  request.settings = {{"layers", "all"}, {"heads", "all"}};
  const Figure figure = make_figure("attention-maps", request);
  ASSERT_EQ(figure.panels.size(), 5U);  // the first layer has one head
  EXPECT_EQ(heat_of(figure.panels[0]).rows, 64);
  EXPECT_EQ(heat_of(figure.panels[0]).columns, 4);
  EXPECT_EQ(heat_of(figure.panels[1]).rows, 16);
  EXPECT_FALSE(figure.panels[0].square_cells);
  EXPECT_TRUE(figure.panels[1].square_cells);
  EXPECT_THAT(figure.caption, HasSubstr("fewer keys than queries"));
}

TEST(PyramidFigures, TheOverlayFoldsEachLayersRowOnItsOwnKeys) {
  FigureRequest request = pyramid();
  request.settings = {{"layers", "all"}, {"image", false}};
  const Figure figure = make_figure("attention-overlay", request);
  ASSERT_EQ(figure.panels.size(), 3U);  // no rollout
  const HeatMap& first = heat_of(figure.panels[0]);
  const HeatMap& second = heat_of(figure.panels[1]);
  EXPECT_EQ(first.rows * first.columns, 4);
  EXPECT_EQ(second.rows * second.columns, 16);
  // Query (4, 4) of 8 × 8 lies in cell (2, 2) of 4 × 4.
  const Trace& trace = *request.subjects[0].trace;
  double sum = 0, cell = 0;
  for (std::int64_t head = 0; head < 2; ++head) {
    cell += static_cast<double>(trace.layers[1].implied_map.slice(head)(10, 3)) / 2;
  }
  for (const float value : second.values) sum += static_cast<double>(value);
  EXPECT_NEAR(sum, 16, 1e-4);
  EXPECT_NEAR(second.values[3], 16 * cell, 1e-4);
}

TEST(PyramidFigures, RolloutIsRefusedInWords) {
  FigureRequest request = pyramid();
  request.settings = {{"rollout", "yes"}};
  const Error error = refusal_of([&] { (void)make_figure("attention-overlay", request); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("rollout needs"), HasSubstr("pyramids")));
}

TEST(PyramidFigures, AveragesCurvesByRelativeRank) {
  FigureRequest request = pyramid();
  const Figure mixed = make_figure("cumulative-spectrum", request);
  EXPECT_THAT(mixed.panels.at(0).x.label, HasSubstr("relative"));
  EXPECT_EQ(mixed.panels.at(0).x.maximum, 100);
  EXPECT_THAT(mixed.caption, HasSubstr("differ in size"));
  request.settings = {{"layer", "1-2"}};
  const Figure alike = make_figure("cumulative-spectrum", request);
  EXPECT_EQ(alike.panels.at(0).x.maximum, 16);
  EXPECT_NO_THROW((void)make_figure("rank-by-layer", pyramid()));
}

TEST(SamePlace, FindsTheCellOfAnotherGrid) {
  const TokenLayout fine{0, 8, 8}, coarse{0, 2, 2}, with_class{1, 4, 4};
  EXPECT_EQ(same_place(fine, 0, coarse, 4), 0);
  EXPECT_EQ(same_place(fine, 63, coarse, 4), 3);
  EXPECT_EQ(same_place(fine, 4, coarse, 4), 1);
  EXPECT_EQ(same_place(coarse, 3, fine, 64), 54);
  EXPECT_EQ(same_place(fine, 63, with_class, 17), 16);
  EXPECT_EQ(same_place(with_class, 0, fine, 64), 0);
  EXPECT_EQ(same_place({}, 9, coarse, 4), 3);
}

}  // namespace
}  // namespace attnscope
