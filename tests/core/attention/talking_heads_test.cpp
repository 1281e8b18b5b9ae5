// Talking heads: comparison with PyTorch, and its own properties. mechanism_test.cpp checks the
// requirements of all mechanisms.
#include <gtest/gtest.h>

#include "core/attention/mechanism.h"
#include "core/error.h"
#include "tests/support/naive_attention.h"
#include "tests/support/near.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

std::unique_ptr<const Mechanism> talking_heads() { return make_mechanism({"talking-heads", {}}); }

/// All four tensors with random values.
NamedTensors mixings(std::int64_t heads, unsigned seed) {
  NamedTensors tensors;
  tensors.emplace("proj_l", raw_uniform({heads, heads}, seed));
  tensors.emplace("proj_l_bias", raw_uniform({heads}, seed + 1));
  tensors.emplace("proj_w", raw_uniform({heads, heads}, seed + 2));
  tensors.emplace("proj_w_bias", raw_uniform({heads}, seed + 3));
  return tensors;
}

TEST(TalkingHeads, MapsAndOutputsAgreeWithPyTorch) {
  for (const nlohmann::json& reference : read_test_data("attention/talking_heads.json")["cases"]) {
    const std::int64_t n = reference["n"], heads = reference["heads"], width = reference["width"];
    const unsigned seed = reference["seed"];
    RandomAttention data = raw_attention(n, heads, width, seed);
    data.parameters = mixings(heads, seed + 3);
    // The sums have up to 70 values with weights of up to a few units.
    expect_values(talking_heads()->forward(data.input()), reference["output"], 5e-5, "output");
    const Tensor map = talking_heads()->implied_map(data.input());
    const std::vector<double> row = reference["map_row"];
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t j = 0; j < n; ++j) {
        ASSERT_NEAR(map.slice(head)(n / 2, j), row[static_cast<std::size_t>(head * n + j)], 1e-5)
            << "head " << head << ", key " << j;
      }
    }
  }
}

TEST(TalkingHeads, EqualSoftmaxWithIdentityMixing) {
  const RandomAttention data(40, 33, 3, 8, 8, 7);
  const Tensor map = talking_heads()->implied_map(data.input());
  const Tensor expected = make_mechanism({"softmax", {}})->implied_map(data.input());
  EXPECT_LT((map.matrix() - expected.matrix()).cwiseAbs().maxCoeff(), 1e-6F);
}

TEST(TalkingHeads, ExchangeHeadsByAPermutation) {
  RandomAttention data(9, 9, 2, 4, 4, 7);
  const Tensor plain = talking_heads()->implied_map(data.input());
  data.parameters.emplace("proj_w", Tensor({2, 2}, {0, 1, 1, 0}));
  const Tensor exchanged = talking_heads()->implied_map(data.input());
  EXPECT_EQ(exchanged.slice(0), plain.slice(1));
  EXPECT_EQ(exchanged.slice(1), plain.slice(0));
}

TEST(TalkingHeads, GiveHiddenKeysNoWeight) {
  RandomAttention data(70, 70, 3, 4, 4, 7);
  data.parameters = mixings(3, 5);
  AttentionInput input = data.input();
  ScoreTerms terms;
  terms.seen.assign(70, {3, 60});
  input.terms = &terms;
  const Tensor map = talking_heads()->implied_map(input);
  for (std::int64_t head = 0; head < 3; ++head) {
    EXPECT_TRUE((map.slice(head).leftCols(3).array() == 0).all());
    EXPECT_TRUE((map.slice(head).rightCols(10).array() == 0).all());
    EXPECT_TRUE((map.slice(head).middleCols(3, 57).array() != 0).all());
  }
}

TEST(TalkingHeads, RefuseAMixingOfOtherHeads) {
  RandomAttention data(5, 5, 3, 3, 3, 7);
  data.parameters.emplace("proj_l", raw_uniform({2, 2}, 1));
  EXPECT_THROW((void)talking_heads()->forward(data.input()), Error);
}

}  // namespace
}  // namespace attnscope
