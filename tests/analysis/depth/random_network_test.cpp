#include "analysis/depth/random_network.h"

#include <cmath>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/analysis/matrix/softmax_cases.h"

namespace attnscope {
namespace {

TEST(RandomNetworks, AgreeWithNumPy) {
  const nlohmann::json expected = read_test_data("random_network/random_network.json");
  const nlohmann::json& shape = expected.at("shape");
  for (const nlohmann::json& made : expected.at("cases")) {
    const RandomNetwork network{
        .mechanism = {made.at("mechanism"), {}},
        .depth = shape.at("depth"),
        .width = shape.at("width"),
        .heads = shape.at("heads"),
        .tokens = shape.at("tokens"),
        .skip = made.at("skip"),
        .mlp = made.at("mlp"),
        .norm = value_of(network_norm_names, made.at("norm").get<std::string>(), "norm"),
        .causal = made.at("causal")};
    const auto found = random_networks(network, 2);
    for (std::size_t seed = 0; seed < 2; ++seed) {
      ASSERT_EQ(found[seed].size(), 4U);
      for (std::size_t depth = 0; depth < 4; ++depth) {
        const nlohmann::json& numbers = made.at("seeds")[seed][depth];
        for (const NetworkMeasure& measure : network_measures()) {
          const double value = found[seed][depth].*measure.value;
          const std::string where = made.dump().substr(0, 60) + std::string(measure.name) + " " +
                                    std::to_string(seed) + " " + std::to_string(depth);
          if (depth == 0 && measure.of_maps) {
            EXPECT_TRUE(std::isnan(value)) << where;
            continue;
          }
          EXPECT_NEAR(value, numbers.at(std::string(measure.name)).get<double>(), 1e-5) << where;
        }
      }
    }
  }
}

// Attention alone turns all tokens alike within a few layers; with a skip connection they stay
// apart (Dong et al. 2021).
TEST(RandomNetworks, SkipConnectionsKeepTokensApart) {
  RandomNetwork network{.depth = 12, .mlp = false, .norm = NetworkNorm::none};
  network.skip = 0;
  const auto alone = random_networks(network, 2);
  EXPECT_LT(alone[0].back().residual, 1e-3);
  EXPECT_GT(alone[0].back().cosine, 0.999);
  EXPECT_EQ(alone[0].back().token_rank, 1);
  network.skip = 1;
  const auto with_skip = random_networks(network, 2);
  EXPECT_GT(with_skip[0].back().residual, 0.1);
  // A deeper network begins with the shallower one.
  network.depth = 14;
  EXPECT_EQ(random_networks(network, 1)[0][12].cosine, with_skip[0][12].cosine);
}

TEST(RandomNetworks, SeedsAreSummedUpWhereTheyAreKnown) {
  std::vector<std::vector<NetworkDepth>> networks(3, std::vector<NetworkDepth>(1));
  networks[0][0].cosine = 0.25;
  networks[2][0].cosine = 0.75;
  const NetworkMeasure& cosine = network_measures()[4];
  ASSERT_EQ(cosine.name, "cosine");
  const OverSeeds found = over_seeds(networks, 0, cosine);
  EXPECT_EQ(found.mean, 0.5);
  EXPECT_EQ(found.least, 0.25);
  EXPECT_EQ(found.greatest, 0.75);
  EXPECT_TRUE(std::isnan(over_seeds(networks, 0, network_measures()[0]).mean));
}

TEST(RandomNetworks, RefusesWhatCannotBe) {
  EXPECT_THROW((void)random_networks({.width = 10, .heads = 4}, 1), Error);
  EXPECT_THROW((void)random_networks({.mechanism = {"linformer", {}}, .causal = true}, 1), Error);
  EXPECT_THROW((void)random_networks({}, 1, 1.5), Error);
}

}  // namespace
}  // namespace attnscope
