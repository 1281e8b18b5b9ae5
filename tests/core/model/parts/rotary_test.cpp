// Rotary positions compared with PyTorch (tests/data/models/make_parts.py).
#include "core/model/parts/rotary.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

#include "core/error.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

using nlohmann::json;

RotarySpec spec_of(const json& reference) {
  RotarySpec rotary;
  rotary.form = reference.at("form") == "half" ? Rotary::half : Rotary::pair;
  rotary.width = reference.at("width");
  rotary.theta = reference.at("theta");
  const std::string scaling = reference.at("scaling");
  for (const auto& [name, value] :
       {std::pair("linear", RotaryScaling::linear), std::pair("dynamic", RotaryScaling::dynamic),
        std::pair("llama3", RotaryScaling::llama3), std::pair("yarn", RotaryScaling::yarn),
        std::pair("longrope", RotaryScaling::longrope)}) {
    if (scaling == name) rotary.scaling = value;
  }
  rotary.factor = reference.value("factor", 1.0);
  rotary.trained_context = reference.value("context", 0);
  rotary.low_frequency = reference.value("low", 1.0);
  rotary.high_frequency = reference.value("high", 4.0);
  rotary.short_factors = reference.value("short", std::vector<double>{});
  rotary.long_factors = reference.value("long", std::vector<double>{});
  return rotary;
}

TEST(Rotary, RotatesAsPyTorchDoes) {
  const json references = read_test_data("models/parts.json").at("rotary");
  ASSERT_EQ(references.size(), 11U);
  for (const json& reference : references) {
    const std::int64_t heads = reference.at("heads"), each = reference.at("each"),
                       tokens = reference.at("tokens");
    Tensor rows = raw_uniform({tokens, heads * each}, reference.at("seed"));
    RotaryTurns(spec_of(reference), each, tokens, {}, {}).apply(rows, heads);
    const std::vector<double> expected = reference.at("turned");
    ASSERT_EQ(rows.size(), std::ssize(expected));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(rows.values()[i], expected[i], 1e-5)
          << reference.at("scaling") << ", seed " << reference.at("seed") << " at " << i;
    }
  }
}

/// The time, row and column of a token in a text with pictures.
std::vector<std::int64_t> time_and_cell(std::int64_t token,
                                        const std::vector<TokenCells>& pictures) {
  const PlaceInText at = rotary_place(token, pictures);
  return {at.time, at.row, at.column};
}

TEST(Rotary, PlacesGoOnFromTheLongerSideOfAPicture) {
  const TokenCells picture{.first = 2, .rows = 2, .columns = 3};
  const auto place = [&](std::int64_t token) { return time_and_cell(token, {picture}); };
  EXPECT_EQ(place(1), (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(place(2), (std::vector<std::int64_t>{2, 2, 2}));
  EXPECT_EQ(place(4), (std::vector<std::int64_t>{2, 2, 4}));
  EXPECT_EQ(place(7), (std::vector<std::int64_t>{2, 3, 4}));
  EXPECT_EQ(place(8), (std::vector<std::int64_t>{5, 5, 5}));
  EXPECT_EQ(place(10), (std::vector<std::int64_t>{7, 7, 7}));
}

TEST(Rotary, PlacesGoOnAfterEachPicture) {
  // The places of upstream's get_rope_index for 1 text token, 2 × 3, 1 text token, 4 × 2, 1 token.
  const std::vector<TokenCells> pictures = {{1, 2, 3}, {8, 4, 2}};
  const auto place = [&](std::int64_t token) { return time_and_cell(token, pictures); };
  EXPECT_EQ(place(6), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(place(7), (std::vector<std::int64_t>{4, 4, 4}));
  EXPECT_EQ(place(8), (std::vector<std::int64_t>{5, 5, 5}));
  EXPECT_EQ(place(15), (std::vector<std::int64_t>{5, 8, 6}));
  EXPECT_EQ(place(16), (std::vector<std::int64_t>{9, 9, 9}));
}

TEST(Rotary, UndoRestoresWhatWasRotated) {
  const Tensor given = raw_uniform({40, 32}, 9);
  for (const Rotary form : {Rotary::half, Rotary::pair}) {
    const RotarySpec rotary{.form = form,
                            .width = 12,
                            .scaling = RotaryScaling::yarn,
                            .factor = 4,
                            .trained_context = 16};
    const RotaryTurns turns(rotary, 16, 40, {}, {});
    Tensor rows = given;
    turns.apply(rows, 2);
    EXPECT_GT((rows.matrix() - given.matrix()).norm(), 1);
    turns.undo(rows, 2);
    EXPECT_LT((rows.matrix() - given.matrix()).cwiseAbs().maxCoeff(), 1e-6);
  }
}

TEST(Rotary, KeepsScoresOfEqualDistances) {
  const Tensor vectors = raw_uniform({1, 16}, 3);
  Tensor queries({40, 16}), keys({40, 16});
  for (std::int64_t i = 0; i < 40; ++i) {
    queries.matrix().row(i) = vectors.matrix().row(0);
    keys.matrix().row(i) = vectors.matrix().row(0).reverse();
  }
  for (const Rotary form : {Rotary::half, Rotary::pair}) {
    Tensor q = queries, k = keys;
    const RotaryTurns turns({.form = form}, 16, 40, {}, {});
    turns.apply(q, 1);
    turns.apply(k, 1);
    const float first = q.matrix().row(7).dot(k.matrix().row(0));
    for (std::int64_t i = 0; i + 7 < 40; ++i) {
      ASSERT_NEAR(q.matrix().row(i + 7).dot(k.matrix().row(i)), first, 1e-4) << i;
    }
  }
}

TEST(Rotary, LeavesPrefixTokensOfPatchesUnrotated) {
  const TokenLayout layout{.prefix = 3, .rows = 2, .columns = 4};
  const Tensor before = raw_uniform({11, 16}, 5);
  Tensor rows = before;
  RotaryTurns({.form = Rotary::half, .grid = RotaryGrid::patches, .theta = 100}, 8, 11, layout, {})
      .apply(rows, 2);
  for (std::int64_t token = 0; token < 3; ++token) {
    EXPECT_TRUE(rows.matrix().row(token) == before.matrix().row(token));
  }
  // Patch (1, 2) has row centre 0.5 and column centre 0.25. The periods are 1 and 10, rows first.
  const double angles[] = {2 * std::numbers::pi * 0.5, 2 * std::numbers::pi * 0.05,
                           2 * std::numbers::pi * 0.25, 2 * std::numbers::pi * 0.025};
  for (std::int64_t i = 0; i < 4; ++i) {
    const double a = before.matrix()(9, i), b = before.matrix()(9, i + 4);
    EXPECT_NEAR(rows.matrix()(9, i), a * std::cos(angles[i]) - b * std::sin(angles[i]), 1e-5);
    EXPECT_NEAR(rows.matrix()(9, i + 4), b * std::cos(angles[i]) + a * std::sin(angles[i]), 1e-5);
  }
}

TEST(Rotary, ScalesCellsToTheTrainedGrid) {
  const TokenLayout layout{.prefix = 1, .rows = 2, .columns = 4};
  const Tensor before = raw_uniform({9, 8}, 6);
  const auto turned = [&](std::int64_t trained_side) {
    Tensor rows = before;
    const RotarySpec rotary{.form = Rotary::pair,
                            .grid = RotaryGrid::cells,
                            .theta = 100,
                            .trained_side = trained_side};
    RotaryTurns(rotary, 8, 9, layout, {}).apply(rows, 1);
    return rows;
  };
  EXPECT_TRUE(turned(16).matrix().row(0) == before.matrix().row(0));
  // Patch (1, 3) is in row 1 of 2 and column 3 of 4. The periods are 1 and 10, rows first.
  const auto expect = [&](const Tensor& rows, double row, double column) {
    const double angles[] = {row, row / 10, column, column / 10};
    for (std::int64_t i = 0; i < 4; ++i) {
      const double a = before.matrix()(8, 2 * i), b = before.matrix()(8, 2 * i + 1);
      EXPECT_NEAR(rows.matrix()(8, 2 * i), a * std::cos(angles[i]) - b * std::sin(angles[i]), 1e-5);
      EXPECT_NEAR(rows.matrix()(8, 2 * i + 1), b * std::cos(angles[i]) + a * std::sin(angles[i]),
                  1e-5);
    }
  };
  expect(turned(0), 1, 3);
  expect(turned(16), 8, 12);
}

TEST(Rotary, LongropeNeedsAFactorForEachPair) {
  const RotarySpec rotary{.form = Rotary::half,
                          .scaling = RotaryScaling::longrope,
                          .trained_context = 10,
                          .short_factors = {1, 1}};
  EXPECT_THROW((void)rotary_frequencies(rotary, 8, 5), Error);
  EXPECT_NO_THROW((void)rotary_frequencies(rotary, 4, 5));
}

}  // namespace
}  // namespace attnscope
