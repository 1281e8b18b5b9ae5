// Terms that models add to scores, and masks, compared with PyTorch and with the equations.
#include "core/attention/score_terms.h"

#include <cmath>
#include <gtest/gtest.h>

#include "core/attention/mechanism.h"
#include "core/error.h"
#include "tests/support/naive_attention.h"
#include "tests/support/near.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

using Keys = std::pair<std::int64_t, std::int64_t>;

std::vector<Keys> seen_keys(const std::string& form, std::int64_t window, std::int64_t n) {
  std::vector<Keys> seen;
  for (std::int64_t i = 0; i < n && !form.empty(); ++i) {
    if (form == "before") seen.emplace_back(std::max<std::int64_t>(i - window + 1, 0), i + 1);
    if (form == "around") {
      seen.emplace_back(std::max<std::int64_t>(i - window / 2, 0), std::min(i + window / 2 + 1, n));
    }
    if (form == "chunk") {
      seen.emplace_back(i / window * window, std::min((i / window + 1) * window, n));
    }
  }
  return seen;
}

class ScoreTermsBesidePyTorch : public testing::TestWithParam<std::size_t> {};

TEST_P(ScoreTermsBesidePyTorch, MapsAndOutputsAreTheSame) {
  const nlohmann::json reference =
      read_test_data("attention/score_terms.json").at("cases").at(GetParam());
  const std::int64_t n = reference.at("n"), heads = reference.at("heads"),
                     key_heads = reference.at("key_heads"), width = reference.at("width");
  const unsigned seed = reference.at("seed");
  const Tensor queries = raw_uniform({n, heads * width}, seed);
  const Tensor keys = raw_uniform({n, key_heads * width}, seed + 1);
  const Tensor values = raw_uniform({n, key_heads * width}, seed + 2);
  ScoreTerms terms;
  terms.soft_cap = reference.at("cap");
  if (reference.at("bias")) terms.add_bias = bias_of(raw_uniform({heads, n, n}, seed + 3));
  terms.seen = seen_keys(reference.at("form"), reference.at("window"), n);
  if (reference.at("sinks")) {
    const Tensor sinks = raw_uniform({heads}, seed + 4);
    terms.sinks.assign(sinks.values().begin(), sinks.values().end());
  }
  const AttentionInput input{.queries = queries.matrix(),
                             .keys = keys.matrix(),
                             .values = values.matrix(),
                             .heads = heads,
                             .causal = reference.at("causal"),
                             .key_heads = key_heads,
                             .terms = &terms};
  const auto mechanism = make_mechanism({reference.at("mechanism").get<std::string>(), {}});
  expect_values(mechanism->implied_map(input), reference.at("map"), 1e-5, "map");
  expect_values(mechanism->forward(input), reference.at("output"), 1e-5, "output");
}

INSTANTIATE_TEST_SUITE_P(Cases, ScoreTermsBesidePyTorch,
                         testing::Range(std::size_t{0}, std::size_t{10}));

/// The map of one head [N][M] from scores with a cap, a bias and a sink, by the equations.
NaiveMap with_terms(const NaiveMap& plain, double cap, const Tensor& bias, std::int64_t head,
                    const std::vector<Keys>& seen, double sink) {
  NaiveMap map = plain;
  for (std::size_t i = 0; i < map.size(); ++i) {
    double sum = std::exp(sink);
    for (std::size_t j = 0; j < map[i].size(); ++j) {
      const auto key = static_cast<std::int64_t>(j);
      const bool hidden = key < seen[i].first || key >= seen[i].second;
      const double score =
          cap * std::tanh(plain[i][j] / cap) + bias.slice(head)(static_cast<Eigen::Index>(i), key);
      map[i][j] = hidden ? 0 : std::exp(score);
      sum += map[i][j];
    }
    for (double& weight : map[i]) weight /= sum;
  }
  return map;
}

TEST(ScoreTerms, EqualTheEquationsAtOddSizes) {
  for (const std::int64_t n : {1, 2, 63, 65, 130}) {
    const std::int64_t heads = 2, width = 7;
    const RandomAttention data(n, n, heads, width, 5, 3);
    const Tensor bias = random_normal({1, n, n}, 9);  // one bias for all heads
    ScoreTerms terms;
    terms.soft_cap = 1.25;
    terms.add_bias = bias_of(bias);
    terms.seen = seen_keys("around", 9, n);
    terms.sinks = {0.5F, -3};
    AttentionInput input = data.input();
    input.terms = &terms;
    const Tensor map = make_mechanism({"softmax", {}})->implied_map(input);
    for (std::int64_t head = 0; head < heads; ++head) {
      NaiveMap scores(static_cast<std::size_t>(n),
                      std::vector<double>(static_cast<std::size_t>(n)));
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          double product = 0;
          for (std::int64_t c = head * width; c < (head + 1) * width; ++c) {
            product += static_cast<double>(data.queries.matrix()(i, c)) * data.keys.matrix()(j, c);
          }
          scores[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] =
              product / std::sqrt(static_cast<double>(width));
        }
      }
      const NaiveMap expected = with_terms(scores, 1.25, bias, 0, terms.seen,
                                           terms.sinks[static_cast<std::size_t>(head)]);
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          ASSERT_NEAR(map.slice(head)(i, j),
                      expected[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)], 1e-5)
              << n << " tokens, head " << head << ", " << i << ", " << j;
        }
      }
    }
  }
}

TEST(ScoreTerms, AWindowAsLongAsTheTextHasNoEffect) {
  const RandomAttention data(20, 20, 2, 4, 4, 7);
  ScoreTerms terms;
  terms.seen = seen_keys("around", 40, 20);
  AttentionInput input = data.input();
  const auto mechanism = make_mechanism({"adder", {}});
  const Tensor plain = mechanism->implied_map(input);
  input.terms = &terms;
  EXPECT_TRUE(std::ranges::equal(plain.values(), mechanism->implied_map(input).values()));
}

TEST(ScoreTerms, HeadsOfKeysMustDivideThoseOfQueries) {
  const RandomAttention data(4, 4, 4, 6, 6, 7);
  AttentionInput input = data.input();
  input.key_heads = 3;
  EXPECT_THROW((void)make_mechanism({"softmax", {}})->forward(input), Error);
}

}  // namespace
}  // namespace attnscope
