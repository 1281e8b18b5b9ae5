// Learned hash functions compared with a transcription of EcoFormer's procedure in NumPy
// (tests/data/hash_codes/make_learned.py).
#include <gtest/gtest.h>

#include "analysis/hash_codes/learning.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

MatrixD rows_in(const nlohmann::json& numbers, std::int64_t rows) {
  const std::vector<double> values = numbers;
  return Eigen::Map<const MatrixD>(values.data(), rows,
                                   static_cast<std::int64_t>(values.size()) / rows);
}

SimilarPairs pairs_in(const nlohmann::json& example) {
  const std::int64_t tokens = example.at("tokens");
  SimilarPairs pairs{tokens, tokens, {}, {}};
  const std::vector<int> labels = example.at("labels");
  for (std::int32_t i = 0; i < tokens; ++i) {
    for (std::int32_t j = 0; j < tokens; ++j) {
      const int label = labels[static_cast<std::size_t>(i * tokens + j)];
      if (label > 0) pairs.similar.push_back({i, j});
      if (label < 0) pairs.dissimilar.push_back({i, j});
    }
  }
  return pairs;
}

class LearnedAgainstNumPy : public testing::TestWithParam<std::size_t> {};

TEST_P(LearnedAgainstNumPy, HashAndErrorsAreTheSame) {
  const nlohmann::json reference =
      read_test_data("hash_codes/learned.json").at("cases").at(GetParam());
  const bool shared = reference.at("shared");
  std::vector<HashExample> examples;
  for (const nlohmann::json& one : reference.at("examples")) {
    const std::int64_t tokens = one.at("tokens");
    examples.push_back({.queries = rows_in(one.at("queries"), tokens),
                        .keys = rows_in(one.at("keys"), tokens),
                        .shared = shared,
                        .pairs = pairs_in(one)});
  }
  HashLearningOptions options;
  options.bits = reference.at("bits");
  options.supports = reference.at("supports");
  options.pairs = reference.at("pairs");
  options.steps = reference.at("steps");
  options.rate = reference.at("rate");
  options.momentum = reference.at("momentum");
  options.seed = reference.at("seed");
  const LearnedHash learned =
      learn_hash(examples, reference.at("head").get<std::int64_t>(), options, {});

  constexpr double kAllowed = 1e-5;
  const HashFunction& function = learned.function;
  const auto greatest_difference = [](const MatrixD& found, const MatrixD& expected) {
    return (found - expected).cwiseAbs().maxCoeff();
  };
  EXPECT_LT(
      greatest_difference(function.anchors, rows_in(reference.at("anchors"), options.supports)),
      kAllowed);
  EXPECT_LT(greatest_difference(function.means, rows_in(reference.at("means"), options.supports)),
            kAllowed);
  EXPECT_LT(greatest_difference(function.weights, rows_in(reference.at("weights"), options.bits)),
            kAllowed);
  EXPECT_NEAR(learned.error_before, reference.at("error_before").get<double>(), kAllowed);
  const std::vector<double> errors = reference.at("errors");
  ASSERT_EQ(learned.error_by_bit.size(), errors.size());
  for (std::size_t bit = 0; bit < errors.size(); ++bit) {
    EXPECT_NEAR(learned.error_by_bit[bit], errors[bit], kAllowed) << "bit " << bit;
  }
  EXPECT_EQ(learned.error_after, learned.error_by_bit.back());
}

INSTANTIATE_TEST_SUITE_P(Cases, LearnedAgainstNumPy,
                         testing::Range(std::size_t{0}, std::size_t{3}));

}  // namespace
}  // namespace attnscope
