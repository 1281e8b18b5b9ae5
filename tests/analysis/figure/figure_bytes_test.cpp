#include "analysis/figure/figure_bytes.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>

#include "analysis/figure/text_export.h"
#include "core/error.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

/// A figure with a mark of every kind, and every optional member.
Figure every_mark() {
  Figure figure;
  figure.name = "every";
  figure.title = "A ⊙ B";
  figure.caption = "τ = 0.9";
  figure.command = "attnscope figure every";
  figure.models = {"a.h5", "b.h5"};
  figure.numbers = {{"rank/a", {25, std::nan("")}}, {"none", {}}};
  figure.colour_scales.resize(2);
  figure.colour_scales[1].bar_area = 1;
  figure.areas = {{0, 0, 40, 30, "left"}, {40, 0, 40, 30}};
  figure.table = Table{{"model", "rank"}, {{"a", "25"}, {"", "7"}}, 1};
  Panel panel;
  panel.area = 1;
  panel.legend = LegendPosition::below;
  panel.x.minimum = -1e-300;
  panel.x.ticks = {{0.5, "half"}};
  panel.keys = {{"layer", "3"}};
  const Colour red{255, 0, 0, 128};
  panel.marks = {Line{"line", {1, 2}, {3, INFINITY}, red, LineStyle::dotted, MarkerShape::cross},
                 Band{"band", {1}, {2}, {3}, red},
                 PointMark{1, 2, "mark", red, false},
                 Rule{0.9, false, "rule", red},
                 HeatMap{1, 2, {0.25F, std::nanf("")}, 1, 0.5, red},
                 Picture{Image{2, 1, 3, {1, 2, 3, 4, 5, 6}}},
                 Bars{"bars", {1, 2}, {3, 4}, 0.5, red},
                 TextMark{1, 2, "text", red, TextAlign::start}};
  figure.panels = {panel, Panel{}};
  return figure;
}

TEST(FigureBytes, AreReadAsTheSameFigure) {
  const std::string bytes = figure_as_bytes(every_mark());
  EXPECT_TRUE(holds_figure(bytes));
  const Figure read = figure_of_bytes(bytes);
  EXPECT_EQ(figure_as_json(read), figure_as_json(every_mark()));
  EXPECT_EQ(figure_as_bytes(read), bytes);
}

TEST(FigureBytes, AreRefusedWhereverTheyEnd) {
  const std::string bytes = figure_as_bytes(every_mark());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW((void)figure_of_bytes(std::string_view(bytes).substr(0, size)), Error) << size;
  }
  EXPECT_THROW((void)figure_of_bytes(bytes + "x"), Error);
}

TEST(FigureBytes, AreRefusedOrReadWhenAnyByteDiffers) {
  const std::string bytes = figure_as_bytes(every_mark());
  std::size_t refused = 0;
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    for (const int flip : {0x01, 0x40, 0xFF}) {
      std::string changed = bytes;
      changed[place] = static_cast<char>(changed[place] ^ flip);
      try {
        (void)figure_of_bytes(changed);
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, bytes.size() / 2);
}

TEST(FigureBytes, AreRefusedIfSizesAndIndicesDoNotFit) {
  const auto is_refused = [](const auto& change) {
    Figure figure = every_mark();
    change(figure);
    try {
      (void)figure_of_bytes(figure_as_bytes(figure));
    } catch (const Error& error) {
      return error.kind() == ErrorKind::damaged;
    }
    return false;
  };
  EXPECT_FALSE(is_refused([](Figure&) {}));
  const auto mark = [](Figure& f, std::size_t index) -> Mark& { return f.panels[0].marks[index]; };
  EXPECT_TRUE(is_refused([&](Figure& f) { std::get<Line>(mark(f, 0)).y.pop_back(); }));
  EXPECT_TRUE(is_refused([&](Figure& f) { std::get<Band>(mark(f, 1)).low.pop_back(); }));
  EXPECT_TRUE(is_refused([&](Figure& f) { std::get<HeatMap>(mark(f, 4)).rows = 2; }));
  EXPECT_TRUE(is_refused([&](Figure& f) { std::get<HeatMap>(mark(f, 4)).rows = -1; }));
  EXPECT_TRUE(is_refused([&](Figure& f) { std::get<HeatMap>(mark(f, 4)).colour_scale = 2; }));
  EXPECT_TRUE(is_refused([&](Figure& f) { std::get<Picture>(mark(f, 5)).image.height = 9; }));
  EXPECT_TRUE(is_refused([&](Figure& f) { std::get<Bars>(mark(f, 6)).heights.pop_back(); }));
  EXPECT_TRUE(is_refused([](Figure& f) { f.panels[0].area = 2; }));
  EXPECT_TRUE(is_refused([](Figure& f) { f.panels[0].row = 1'000'000'000; }));
  EXPECT_TRUE(is_refused([](Figure& f) { f.colour_scales[1].bar_area = 2; }));
  EXPECT_TRUE(is_refused([](Figure& f) { f.table->rows[0].pop_back(); }));
  EXPECT_TRUE(is_refused([](Figure& f) { f.width_mm = std::nan(""); }));
}

TEST(FigureBytes, NamesAnotherVersion) {
  std::string bytes = figure_as_bytes(every_mark());
  bytes.insert(bytes.find('\n'), "-old");
  EXPECT_TRUE(holds_figure(bytes));
  const Error error = refusal_of([&] { (void)figure_of_bytes(bytes); });
  EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  EXPECT_NE(error.found_text().find("-old"), std::string::npos);
}

}  // namespace
}  // namespace attnscope
