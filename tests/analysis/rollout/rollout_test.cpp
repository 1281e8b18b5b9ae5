#include "analysis/rollout/rollout.h"

#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "core/error.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

Trace random_trace(std::int64_t layers, std::int64_t heads, std::int64_t tokens, float row_sum) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(0.01F, 1.0F);
  Trace trace;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    Tensor maps({heads, tokens, tokens});
    for (std::int64_t row = 0; row < heads * tokens; ++row) {
      float sum = 0;
      float* values = maps.data() + row * tokens;
      for (std::int64_t key = 0; key < tokens; ++key) sum += values[key] = uniform(random);
      for (std::int64_t key = 0; key < tokens; ++key) values[key] *= row_sum / sum;
    }
    LayerTrace recorded;
    recorded.implied_map = std::move(maps);
    trace.layers.push_back(std::move(recorded));
  }
  return trace;
}

TEST(Rollout, RowsSumToOne) {
  const Tensor reach = attention_rollout(random_trace(4, 3, 17, 1));
  for (std::int64_t row = 0; row < 17; ++row) {
    EXPECT_NEAR(reach.matrix().row(row).sum(), 1, 1e-5);
  }
}

TEST(Rollout, OneLayerIsHalfTheMeanMapAndHalfTheIdentity) {
  const Trace trace = random_trace(1, 2, 5, 1);
  const Tensor reach = attention_rollout(trace);
  const Tensor& maps = trace.layers[0].implied_map.whole();
  for (std::int64_t i = 0; i < 5; ++i) {
    for (std::int64_t j = 0; j < 5; ++j) {
      const float mean = (maps.slice(0)(i, j) + maps.slice(1)(i, j)) / 2;
      EXPECT_NEAR(reach.matrix()(i, j), mean / 2 + (i == j ? 0.5F : 0.0F), 1e-6);
    }
  }
}

TEST(Rollout, LaterLayersMultiplyFromTheLeft) {
  const Trace both = random_trace(2, 1, 6, 1);
  Trace second;
  second.layers.push_back(both.layers[1]);
  const Matrix first_reach = attention_rollout(both, 1).matrix();
  const Matrix expected = Matrix(attention_rollout(second).matrix()) * first_reach;
  EXPECT_TRUE(attention_rollout(both).matrix().isApprox(expected, 1e-5F));
}

TEST(Rollout, DoesNotDependOnTheSumOfRows) {
  const Tensor one = attention_rollout(random_trace(3, 2, 9, 1));
  const Tensor scaled = attention_rollout(random_trace(3, 2, 9, 0.25F));
  EXPECT_TRUE(one.matrix().isApprox(scaled.matrix(), 1e-5F));
}

TEST(Rollout, PassesOnTokensOfRowsWithoutAttention) {
  Trace trace = random_trace(1, 1, 4, 1);
  trace.layers[0].implied_map.slice(0).row(2).setZero();
  trace.layers[0].implied_map.slice(0)(3, 0) = std::numeric_limits<float>::quiet_NaN();
  const Tensor reach = attention_rollout(trace);
  for (std::int64_t key = 0; key < 4; ++key) {
    EXPECT_EQ(reach.matrix()(2, key), key == 2 ? 1.0F : 0.0F);
    EXPECT_EQ(reach.matrix()(3, key), key == 3 ? 1.0F : 0.0F);
  }
}

/// Rollouts compared with tests/data/rollout/make_rollout.py, which applies the definition in
/// NumPy.
class RolloutReference : public testing::TestWithParam<bool> {
 protected:
  static nlohmann::json reference() {
    std::ifstream in(source_folder() + "/tests/data/rollout/rollout.json");
    return nlohmann::json::parse(in);
  }

  /// The maps of the file, with I added if the parameter is true.
  static Trace recorded(const nlohmann::json& json) {
    Trace trace;
    trace.identity_in_maps = GetParam();
    trace.layout = {1, 2, 3};
    for (const auto& layer : json.at("maps")) {
      const auto heads = static_cast<std::int64_t>(layer.size());
      const auto tokens = static_cast<std::int64_t>(layer.at(0).size());
      LayerTrace one;
      one.implied_map = Tensor({heads, tokens, tokens});
      for (std::int64_t h = 0; h < heads; ++h) {
        for (std::int64_t i = 0; i < tokens; ++i) {
          for (std::int64_t j = 0; j < tokens; ++j) {
            const auto value = layer.at(static_cast<std::size_t>(h))
                                   .at(static_cast<std::size_t>(i))
                                   .at(static_cast<std::size_t>(j))
                                   .get<float>();
            one.implied_map.slice(h)(i, j) = value + (GetParam() && i == j ? 1.0F : 0.0F);
          }
        }
      }
      trace.layers.push_back(std::move(one));
    }
    return trace;
  }
};

TEST_P(RolloutReference, AgreesWithNumPyForEveryFusion) {
  const nlohmann::json json = reference();
  const Trace trace = recorded(json);
  const std::pair<const char*, RolloutFusion> fusions[] = {{"mean", RolloutFusion::mean},
                                                           {"maximum", RolloutFusion::maximum},
                                                           {"minimum", RolloutFusion::minimum}};
  for (const auto& [name, fusion] : fusions) {
    const Tensor reach = attention_rollout(trace, RolloutOptions{.fusion = fusion});
    const auto expected = json.at(name).get<std::vector<std::vector<double>>>();
    ASSERT_EQ(std::ssize(expected), reach.extent(0));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      for (std::size_t j = 0; j < expected.size(); ++j) {
        const auto row = static_cast<std::int64_t>(i);
        const auto column = static_cast<std::int64_t>(j);
        EXPECT_NEAR(reach.matrix()(row, column), expected[i][j], 1e-6) << name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutIdentity, RolloutReference, testing::Bool());

TEST(Rollout, NamesTheLayerWithoutMaps) {
  Trace trace = random_trace(2, 1, 4, 1);
  trace.layers[1].implied_map = Tensor();
  const Error error =
      refusal_of([&] { (void)attention_rollout(trace); }, testing::Message() << "no error");
  EXPECT_EQ(error.subject(), "layer 2");
}

}  // namespace
}  // namespace attnscope
