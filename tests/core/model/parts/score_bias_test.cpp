// Biases of relative positions and windows, compared with PyTorch
// (tests/data/models/make_parts.py).
#include "core/model/parts/score_bias.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

using nlohmann::json;

const json& parts() { return read_test_data("models/parts.json"); }

TEST(ScoreBias, AlibisSlopesAreThoseOfBloom) {
  for (const auto& [heads, expected] : parts().at("slopes").items()) {
    const std::vector<double> found = alibi_slopes(std::stoll(heads), 8);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i].get<double>(), 1e-12) << heads << " heads, " << i;
    }
  }
}

TEST(ScoreBias, RoundsFalconsBiasesToBfloat16) {
  LayerSpec layer;
  layer.attention.heads = 2;  // slopes 1/16 and 1/256
  layer.attention.head_width = 4;
  layer.scores.causal = true;
  layer.scores.bias = ScoreBias::alibi_bfloat16;
  const ScoreTerms terms = score_terms(layer, {}, 600, {}, {});
  std::vector<float> scores(600, 1.0F);
  terms.add_bias(0, 599, scores);
  // bfloat16 has the whole numbers up to 256, then even ones, and from 512 multiples of 4.
  for (const auto& [key, rounded] : {std::pair(0, 0),
                                     {255, 255},
                                     {257, 256},
                                     {259, 260},
                                     {510, 510},
                                     {513, 512},
                                     {514, 512},
                                     {518, 520},
                                     {599, 600}}) {
    EXPECT_EQ(scores[static_cast<std::size_t>(key)], 1 + static_cast<float>(rounded) / 32) << key;
  }
}

TEST(ScoreBias, BucketsAreThoseOfT5) {
  for (const json& reference : parts().at("buckets")) {
    const std::vector<std::int64_t> expected = reference.at("of");
    for (std::int64_t distance = -300; distance <= 300; ++distance) {
      ASSERT_EQ(distance_bucket(distance, reference.at("buckets"), reference.at("furthest"),
                                !reference.at("bidirectional").get<bool>()),
                expected[static_cast<std::size_t>(distance + 300)])
          << distance << ", " << reference.at("buckets");
    }
  }
}

TEST(ScoreBias, BucketsOfVectorsAreThoseOfDeberta) {
  for (const json& reference : parts().at("signed_buckets")) {
    const std::vector<std::int64_t> expected = reference.at("of");
    for (std::int64_t distance = -600; distance <= 600; ++distance) {
      ASSERT_EQ(relative_bucket(distance, reference.at("buckets"), reference.at("furthest")),
                expected[static_cast<std::size_t>(distance + 600)])
          << distance << ", " << reference.at("buckets");
    }
  }
}

TEST(ScoreBias, BucketsOfVectorsMayHoldOneDistanceEach) {
  for (std::int64_t distance = -9; distance <= 9; ++distance) {
    EXPECT_EQ(relative_bucket(distance, 5, 0), std::clamp<std::int64_t>(distance, -5, 4));
  }
}

TEST(ScoreBias, TablesAreReadAsSwinAndBeitDo) {
  for (const json& reference : parts().at("grids")) {
    const bool with_class = reference.at("with_class");
    const TokenLayout layout{.prefix = with_class ? 1 : 0,
                             .rows = reference.at("rows"),
                             .columns = reference.at("columns")};
    const std::int64_t rows = (2 * layout.rows - 1) * (2 * layout.columns - 1);
    const Tensor table = raw_uniform({rows + (with_class ? 3 : 0), 2}, 4);
    const Tensor bias = grid_bias(table, layout);
    const std::vector<std::int64_t> index = reference.at("index");
    ASSERT_EQ(bias.size(), 2 * std::ssize(index));
    for (std::int64_t head = 0; head < 2; ++head) {
      for (std::size_t pair = 0; pair < index.size(); ++pair) {
        ASSERT_EQ(bias.data()[head * std::ssize(index) + static_cast<std::int64_t>(pair)],
                  table.matrix()(index[pair], head));
      }
    }
    EXPECT_THROW((void)grid_bias(raw_uniform({rows + 1, 2}, 4), layout), Error);
  }
}

LayerSpec layer_with(std::int64_t window, WindowForm form, bool causal) {
  LayerSpec layer;
  layer.scores.window = window;
  layer.scores.window_form = form;
  layer.scores.causal = causal;
  return layer;
}

TEST(ScoreBias, WindowsContainTheKeysOfTheirDefinition) {
  using Keys = std::pair<std::int64_t, std::int64_t>;
  const auto seen = [](std::int64_t window, WindowForm form) {
    return score_terms(layer_with(window, form, false), {}, 10, {}, {}).seen;
  };
  EXPECT_EQ(seen(3, WindowForm::before)[0], Keys(0, 1));
  EXPECT_EQ(seen(3, WindowForm::before)[9], Keys(7, 10));
  EXPECT_EQ(seen(4, WindowForm::around)[5], Keys(3, 8));
  EXPECT_EQ(seen(4, WindowForm::around)[9], Keys(7, 10));
  EXPECT_EQ(seen(4, WindowForm::chunk)[5], Keys(4, 8));
  EXPECT_EQ(seen(4, WindowForm::chunk)[9], Keys(8, 10));
}

TEST(ScoreBias, AWindowThatHidesNothingIsNoTerm) {
  EXPECT_TRUE(score_terms(layer_with(10, WindowForm::before, true), {}, 10, {}, {}).empty());
  EXPECT_FALSE(score_terms(layer_with(9, WindowForm::before, true), {}, 10, {}, {}).empty());
  EXPECT_EQ(score_terms(layer_with(9, WindowForm::before, true), {}, 10, {}, {}).names,
            "a window of 9 tokens");
}

TEST(ScoreBias, TakesTheBucketsNumberFromTheTable) {
  LayerSpec layer;
  layer.attention.heads = 2;
  layer.scores.bias = ScoreBias::buckets;
  layer.scores.buckets = 8;
  layer.scores.bucket_distance = 20;
  const Tensor table = raw_uniform({8, 2}, 6);
  const ScoreTerms terms = score_terms(layer, {}, 30, table, {});
  for (std::int64_t query = 0; query < 30; query += 7) {
    std::vector<float> scores(30, 1.0F);
    terms.add_bias(1, query, scores);
    for (std::int64_t key = 0; key < 30; ++key) {
      ASSERT_EQ(scores[static_cast<std::size_t>(key)],
                1.0F + table.matrix()(distance_bucket(key - query, 8, 20, false), 1));
    }
  }
}

}  // namespace
}  // namespace attnscope
