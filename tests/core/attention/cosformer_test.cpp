// cosFormer: comparison with PyTorch, and its own properties. mechanism_test.cpp checks the
// requirements of all mechanisms.
#include <gtest/gtest.h>

#include "core/attention/mechanism.h"
#include "core/error.h"
#include "tests/support/naive_attention.h"
#include "tests/support/near.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

std::unique_ptr<const Mechanism> cosformer(std::int64_t span) {
  return make_mechanism({"cosformer", {{"span", span}}});
}

TEST(CosFormer, OutputsAgreeWithPyTorch) {
  for (const nlohmann::json& reference : read_test_data("attention/cosformer.json").at("cases")) {
    const std::int64_t n = reference.at("n"), heads = reference.at("heads"),
                       width = reference.at("width");
    const unsigned seed = reference.at("seed");
    RandomAttention data = raw_attention(n, heads, width, seed);
    const auto expect = [&](const char* name, std::int64_t span, bool causal) {
      AttentionInput input = data.input();
      input.causal = causal;
      expect_values(cosformer(span)->forward(input), reference.at(name), 1e-5, name);
    };
    expect("whole", 0, false);
    expect("causal", n, true);
    expect("wide", 3 * n, false);
  }
}

TEST(CosFormer, NearTokensCountMore) {
  RandomAttention data(40, 40, 1, 4, 4, 7);
  data.queries.matrix().setOnes();
  data.keys.matrix().setOnes();
  const Tensor map = cosformer(0)->implied_map(data.input());
  for (std::int64_t j = 1; j < 40; ++j) {
    EXPECT_LT(map.slice(0)(0, j), map.slice(0)(0, j - 1));
  }
  EXPECT_LT(map.slice(0)(0, 39), 0.06F * map.slice(0)(0, 0)) << "cos falls to 0 at M";
}

TEST(CosFormer, ARowWithoutAPositiveChannelIsZero) {
  RandomAttention data(5, 5, 1, 3, 3, 7);
  data.queries.matrix().row(2).setConstant(-1.0F);
  EXPECT_EQ(cosformer(0)->implied_map(data.input()).slice(0).row(2).norm(), 0.0F);
  EXPECT_EQ(cosformer(0)->forward(data.input()).matrix().row(2).norm(), 0.0F);
}

TEST(CosFormer, MoreTokensThanItSpansAreRefused) {
  const RandomAttention data(30, 30, 1, 3, 3, 7);
  const Error error = refusal_of([&] { (void)cosformer(29)->forward(data.input()); });
  EXPECT_EQ(error.subject(), "cosformer span");
  EXPECT_EQ(error.remedy_text(), "set span=30");
}

}  // namespace
}  // namespace attnscope
