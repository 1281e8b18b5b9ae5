// Adder attention compared with PyTorch.
#include <cmath>
#include <gtest/gtest.h>

#include "core/attention/kernels/l1_distance.h"
#include "core/attention/mechanism.h"
#include "core/attention/score_blocks.h"
#include "tests/support/naive_attention.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

constexpr double kTolerance = 1e-5;

class AdderAgainstPyTorch : public testing::TestWithParam<std::size_t> {
 protected:
  AdderAgainstPyTorch()
      : reference_(read_test_data("attention/adder.json").at("cases").at(GetParam())),
        data_(1, 1, reference_.at("heads"), 1, 1, 0) {
    const std::int64_t n = reference_.at("n");
    const std::int64_t width = data_.heads * reference_.at("width").get<std::int64_t>();
    const unsigned seed = reference_.at("seed");
    data_.queries = raw_uniform({n, width}, seed);
    data_.keys = raw_uniform({n, width}, seed + 1);
    data_.values = raw_uniform({n, width}, seed + 2);
  }

  void expect_equal(const Tensor& found, const char* name) const {
    const std::vector<double> expected = reference_.at(name);
    ASSERT_EQ(found.size(), static_cast<std::int64_t>(expected.size()));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(found.values()[i], expected[i], kTolerance * std::max(1.0, std::abs(expected[i])))
          << name << " at " << i;
    }
  }

  nlohmann::json reference_;
  RandomAttention data_;
};

TEST_P(AdderAgainstPyTorch, DistancesEqualCdist) {
  const AttentionInput input = data_.input();
  const std::int64_t n = input.queries.rows();
  Tensor distances({input.heads, n, n});
  for (std::int64_t head = 0; head < input.heads; ++head) {
    l1_distances(head_columns(input.queries, input.heads, head),
                 PackedRows(head_columns(input.keys, input.heads, head)), 1.0F,
                 {distances.data() + head * n * n, n, n, Eigen::OuterStride<>(n)});
  }
  expect_equal(distances, "cdist");
}

TEST_P(AdderAgainstPyTorch, MapAndOutputAreTheSame) {
  const auto plain = make_mechanism({"adder", {}});
  const auto identity = make_mechanism({"adder", {{"identity", true}}});
  expect_equal(plain->implied_map(data_.input()), "map");
  expect_equal(plain->forward(data_.input()), "output");
  expect_equal(identity->forward(data_.input()), "output_with_identity");
}

INSTANTIATE_TEST_SUITE_P(Cases, AdderAgainstPyTorch, testing::Values(0, 1, 2));

TEST(Adder, ScaleIsTheDeviationOfTheoremOne) {
  // For d = 64, √d_a is 6.820: the weights of keys at distances 0 and 3.2 have the ratio
  // e^(3.2/6.820).
  RandomAttention data(2, 2, 1, 64, 1, 0);
  data.queries = Tensor({2, 64});
  data.keys = Tensor({2, 64});
  data.keys.matrix().row(1).setConstant(0.05F);
  const Tensor map = make_mechanism({"adder", {}})->implied_map(data.input());
  const double ratio = static_cast<double>(map.data()[0]) / static_cast<double>(map.data()[1]);
  EXPECT_NEAR(3.2 / std::log(ratio), 6.820, 5e-4);
}

TEST(Adder, QueriesTooFarFromAllKeysAreRefused) {
  RandomAttention data(3, 3, 1, 4, 2, 7);
  for (Eigen::Index key = 0; key < 3; ++key) {
    data.keys.matrix().row(key).setConstant(static_cast<float>(key));
  }
  const auto adder = make_mechanism({"adder", {}});
  // The distances to k and k + 1 still differ in float32: neighbours are 4/√d_a = 2.3460 apart,
  // with √d_a = 1.70506.
  data.queries.matrix().setConstant(1e4F);
  const Tensor map = adder->implied_map(data.input());
  for (Eigen::Index key = 0; key < 2; ++key) {
    EXPECT_NEAR(std::log(map.slice(0)(0, key + 1) / map.slice(0)(0, key)), 2.3460, 0.02);
  }
  data.queries.matrix().setConstant(1e18F);  // in float32 1e18 − k is 1e18
  const std::string refused = "cannot tell the keys apart";
  const auto holds = [&](const std::string& said) {
    EXPECT_NE(said.find(refused), std::string::npos) << said;
  };
  holds(error_of([&] { return adder->implied_map(data.input()); }));
  holds(error_of([&] { return adder->forward(data.input()); }));
  holds(error_of([&] { return adder->forward_with_map(data.input()).output; }));
  // If one key is near the query, the rounding of the other distances does not matter.
  data.keys.matrix().row(2).setConstant(1e18F);
  const Tensor near = adder->implied_map(data.input());
  EXPECT_EQ(near.slice(0)(1, 2), 1.0F);
  // A later key does not count, because the causal mask hides it.
  AttentionInput causal = data.input();
  causal.causal = true;
  holds(error_of([&] { return adder->forward(causal); }));
}

TEST(Adder, IdentityMappingAddsOnlyTheDiagonal) {
  const RandomAttention data(6, 6, 1, 4, 3, 41);
  const Tensor without = make_mechanism({"adder", {}})->implied_map(data.input());
  const Tensor with = make_mechanism({"adder", {{"identity", true}}})->implied_map(data.input());
  for (std::int64_t i = 0; i < 6; ++i) {
    for (std::int64_t j = 0; j < 6; ++j) {
      EXPECT_EQ(with.slice(0)(i, j), without.slice(0)(i, j) + (i == j ? 1.0F : 0.0F));
    }
  }
}

}  // namespace
}  // namespace attnscope
