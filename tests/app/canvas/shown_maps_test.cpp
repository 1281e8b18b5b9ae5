#include "app/canvas/shown_maps.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "tests/app/canvas/synthetic_trace.h"

namespace attnscope {
namespace {

std::vector<float> row_of(const ShownMaps& maps, std::int64_t layer, std::int64_t column,
                          std::int64_t query) {
  std::vector<float> row(static_cast<std::size_t>(maps.extent(layer, column).keys));
  maps.row(layer, column, query, 0, row);
  return row;
}

double sum(const std::vector<float>& row) {
  double total = 0;
  for (const float value : row) total += static_cast<double>(value);
  return total;
}

TEST(ShownMaps, EqualTheTraceByDefault) {
  const auto trace = banded_trace(2, 3, 17);
  const ShownMaps maps(trace, ValueSettings());
  EXPECT_EQ(maps.grid(), (AtlasGrid{2, 3}));
  EXPECT_EQ(maps.extent(1, 2), (MapExtent{17, 17}));
  EXPECT_EQ(maps.extent(2, 0), (MapExtent{0, 0}));
  for (std::int64_t q = 0; q < 17; ++q) {
    const auto row = row_of(maps, 1, 2, q);
    for (std::int64_t k = 0; k < 17; ++k) {
      EXPECT_EQ(row[static_cast<std::size_t>(k)], trace->layers[1].implied_map.slice(2)(q, k));
    }
  }
}

TEST(ShownMaps, AddAndRemoveIdentityAsMapsSeen) {
  for (const bool inside : {false, true}) {
    const auto trace = banded_trace(1, 2, 9);
    trace->identity_in_maps = inside;
    for (const IdentityView view :
         {IdentityView::as_is, IdentityView::without, IdentityView::with}) {
      ValueSettings settings;
      settings.identity = view;
      const ShownMaps maps(trace, settings);
      EXPECT_EQ(maps.identity_shown(0, 1), shows_identity(*trace, view));
      const Tensor seen = maps_seen(*trace, 0, view).whole();
      for (std::int64_t q = 0; q < 9; ++q) {
        for (std::int64_t k = 0; k < 9; ++k) {
          EXPECT_EQ(maps.value({0, 1, q, k}), seen.slice(1)(q, k));
        }
      }
    }
  }
}

TEST(ShownMaps, AddIdentityPerLayer) {
  const auto trace = banded_trace(2, 2, 9);
  trace->identity_in_maps = true;  // true for layer 0; the maps of layer 1 contain none
  trace->layers[1].identity = false;
  for (const IdentityView view : {IdentityView::as_is, IdentityView::without, IdentityView::with}) {
    ValueSettings settings;
    settings.identity = view;
    const ShownMaps maps(trace, settings);
    for (std::int64_t layer = 0; layer < 2; ++layer) {
      const Tensor seen = maps_seen(*trace, layer, view).whole();
      EXPECT_EQ(maps.identity_shown(layer, 0), has_identity(*trace, layer, view));
      for (std::int64_t q = 0; q < 9; ++q) {
        EXPECT_EQ(maps.value({layer, 0, q, q}), seen.slice(0)(q, q)) << "layer " << layer;
      }
    }
  }
}

TEST(ShownMaps, TemperatureKeepsEachRowsSum) {
  const auto trace = banded_trace(2, 2, 33);
  for (const double temperature : {0.1, 0.5, 2.0, 10.0}) {
    ValueSettings settings;
    settings.temperature = temperature;
    const ShownMaps maps(trace, settings);
    for (std::int64_t q = 0; q < 33; ++q) {
      EXPECT_NEAR(sum(row_of(maps, 1, 1, q)), 1.0, 1e-5) << "T = " << temperature;
    }
  }
}

TEST(ShownMaps, TemperatureIsThePowerOfTheRow) {
  const auto trace = banded_trace(1, 1, 21);
  ValueSettings settings;
  settings.temperature = 2.5;
  const ShownMaps maps(trace, settings);
  const auto source = trace->layers[0].implied_map.slice(0);
  double total = 0;
  for (std::int64_t k = 0; k < 21; ++k) total += std::pow(static_cast<double>(source(4, k)), 0.4);
  for (std::int64_t k = 0; k < 21; ++k) {
    const double expected = std::pow(static_cast<double>(source(4, k)), 0.4) / total;
    EXPECT_NEAR(static_cast<double>(maps.value({0, 0, 4, k})), expected, 1e-5 * expected + 1e-7);
  }
}

TEST(ShownMaps, TemperatureLeavesIdentityAlone) {
  const auto plain = banded_trace(1, 1, 12);
  const auto with_identity = banded_trace(1, 1, 12);
  for (std::int64_t i = 0; i < 12; ++i) with_identity->layers[0].implied_map.slice(0)(i, i) += 1;
  with_identity->identity_in_maps = true;
  ValueSettings settings;
  settings.temperature = 3;
  const ShownMaps a(plain, settings), b(with_identity, settings);
  for (std::int64_t q = 0; q < 12; ++q) {
    for (std::int64_t k = 0; k < 12; ++k) {
      EXPECT_NEAR(b.value({0, 0, q, k}) - (q == k ? 1.0F : 0.0F), a.value({0, 0, q, k}), 1e-5);
    }
  }
}

TEST(ShownMaps, ZeroRowsAndNaNSurviveTemperature) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto trace = synthetic_trace(1, 1, 4, [nan](auto, auto, auto q, auto k) {
    return q == 0 ? 0.0F : q == 1 && k == 2 ? nan : 0.25F;
  });
  ValueSettings settings;
  settings.temperature = 0.3;
  const ShownMaps maps(trace, settings);
  for (std::int64_t k = 0; k < 4; ++k) EXPECT_EQ(maps.value({0, 0, 0, k}), 0.0F);
  EXPECT_TRUE(std::isnan(maps.value({0, 0, 1, 2})));
  EXPECT_NEAR(maps.value({0, 0, 1, 0}), 0.25F, 1e-6);
}

TEST(ShownMaps, HeadsFuseToOneColumn) {
  const auto trace = synthetic_trace(
      1, 3, 5, [](auto, auto h, auto q, auto k) { return static_cast<float>(h * (q + 1) - k); });
  for (const auto& [fusion, head_factor] :
       {std::pair(HeadFusion::mean, 1), std::pair(HeadFusion::maximum, 2),
        std::pair(HeadFusion::minimum, 0)}) {
    ValueSettings settings;
    settings.head_fusion = fusion;
    const ShownMaps maps(trace, settings);
    EXPECT_EQ(maps.grid(), (AtlasGrid{1, 1}));
    EXPECT_FLOAT_EQ(maps.value({0, 0, 3, 1}), static_cast<float>(head_factor * 4 - 1));
  }
}

TEST(ShownMaps, PrefixTokensAreLeftOutOfRowsAndColumns) {
  const auto trace = banded_trace(1, 1, 10);
  ValueSettings settings;
  settings.hide_prefix_tokens = true;
  const ShownMaps maps(trace, settings);
  EXPECT_EQ(maps.extent(0, 0), (MapExtent{9, 9}));
  EXPECT_EQ(maps.query_of(0, 0), 1);
  EXPECT_EQ(maps.column_of(0, 0), -1);
  EXPECT_EQ(maps.value({0, 0, 0, 0}), trace->layers[0].implied_map.slice(0)(1, 1));
}

TEST(ShownMaps, SpecialTokensOfATextAreLeftOutWhereverTheyStand) {
  const auto trace = synthetic_trace(
      1, 2, 6,
      [](auto, auto h, auto q, auto k) { return static_cast<float>(100 * h + 10 * q + k); }, 0);
  trace->layout.texts = {"[CLS]", "a", "[SEP]", "b", "c", "[SEP]"};
  trace->layout.special = {0, 2, 5};
  ValueSettings settings;
  settings.hide_prefix_tokens = true;
  const ShownMaps maps(trace, settings);
  EXPECT_EQ(maps.extent(0, 0), (MapExtent{3, 3}));
  std::vector<float> row(3);
  maps.row(0, 1, 1, 0, row);
  EXPECT_EQ(row, (std::vector<float>{131, 133, 134}));
  EXPECT_EQ(maps.value({0, 0, 2, 1}), 43);
  EXPECT_EQ(maps.key_of(0, 2), 4);
  EXPECT_EQ(maps.row_of(0, 3), 1);
  EXPECT_EQ(maps.row_of(0, 2), -1);
  settings.head_fusion = HeadFusion::mean;
  EXPECT_EQ(ShownMaps(trace, settings).value({0, 0, 0, 2}), 64);
  // If all tokens are special, hiding them would leave an empty map, and all are shown.
  trace->layout.special = {0, 1, 2, 3, 4, 5};
  EXPECT_EQ(ShownMaps(trace, settings).extent(0, 0), (MapExtent{6, 6}));
}

/// A trace of an encoder layer of 4 tokens, a decoder layer of 3 and a cross-attention layer with
/// maps [3, 4].
std::shared_ptr<Trace> two_texts() {
  auto trace = std::make_shared<Trace>();
  const TokenLayout read{.texts = {"un", "deux", "trois", "</s>"}, .special = {3}};
  const TokenLayout written{.texts = {"<s>", "one", "two"}, .special = {0}};
  trace->layout = read;
  const auto add = [&](LayerKind kind, const TokenLayout& queries, const TokenLayout& keys) {
    LayerTrace& layer = trace->layers.emplace_back();
    layer.kind = kind;
    layer.layout = queries;
    layer.key_layout = keys;
    const std::int64_t rows = std::ssize(queries.texts), columns = std::ssize(keys.texts);
    layer.implied_map = Tensor({1, rows, columns});
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      layer.implied_map.data()[i] = static_cast<float>(10 * (i / columns) + i % columns);
    }
  };
  add(LayerKind::encoder, read, read);
  add(LayerKind::decoder, written, written);
  add(LayerKind::cross, written, read);
  return trace;
}

TEST(ShownMaps, SpecialTokensOfTwoTextsAreLeftOutEachInItsMaps) {
  const auto trace = two_texts();
  EXPECT_EQ(ShownMaps(trace, ValueSettings()).extent(2, 0), (MapExtent{3, 4}));
  ValueSettings settings;
  settings.hide_prefix_tokens = true;
  const ShownMaps maps(trace, settings);
  EXPECT_EQ(maps.extent(0, 0), (MapExtent{3, 3}));
  EXPECT_EQ(maps.extent(1, 0), (MapExtent{2, 2}));
  EXPECT_EQ(maps.extent(2, 0), (MapExtent{2, 3}));
  EXPECT_EQ(row_of(maps, 0, 0, 2), (std::vector<float>{20, 21, 22}));
  EXPECT_EQ(row_of(maps, 1, 0, 0), (std::vector<float>{11, 12}));
  EXPECT_EQ(row_of(maps, 2, 0, 1), (std::vector<float>{20, 21, 22}));
  EXPECT_EQ(maps.query_of(2, 0), 1);
  EXPECT_EQ(maps.key_of(2, 0), 0);
  EXPECT_EQ(maps.row_of(2, 0), -1);
  EXPECT_EQ(maps.column_of(2, 3), -1);
  EXPECT_EQ(maps.column_of(2, 2), 2);
  // If all queries are special tokens, all of them are shown.
  trace->layers[2].layout.special = {0, 1, 2};
  EXPECT_EQ(ShownMaps(trace, settings).extent(2, 0), (MapExtent{3, 3}));
}

TEST(ShownMaps, BlockMeansAreMeansOfBlocks) {
  const auto trace = synthetic_trace(
      1, 1, 7, [](auto, auto, auto q, auto k) { return static_cast<float>(10 * q + k); });
  const ShownMaps maps(trace, ValueSettings());
  const auto means = maps.block_means(0, 0, 1, 0, 7, 0, 7);
  ASSERT_EQ(means.size(), 16U);
  EXPECT_FLOAT_EQ(means[0], 5.5F);    // mean of 0, 1, 10 and 11
  EXPECT_FLOAT_EQ(means[3], 11.0F);   // mean of 6 and 16: blocks at the edge have two cells
  EXPECT_FLOAT_EQ(means[15], 66.0F);  // the block in the corner has one cell
  EXPECT_EQ(maps.block_means(0, 0, 0, 2, 3, 1, 4), (std::vector<float>{21, 22, 23}));
}

TEST(ShownMaps, LayersThatWereNotRecordedHaveNoMaps) {
  const auto trace = banded_trace(3, 2, 8);
  trace->layers[1].implied_map = Tensor();
  ValueSettings settings;
  settings.temperature = 2;
  const ShownMaps maps(trace, settings);
  EXPECT_EQ(maps.grid(), (AtlasGrid{3, 2}));
  EXPECT_EQ(maps.extent(1, 0), (MapExtent{0, 0}));
  EXPECT_EQ(maps.extent(2, 0), (MapExtent{8, 8}));
}

}  // namespace
}  // namespace attnscope
