// Causal mechanisms, as in a language model: no query sees later keys.
#include <cmath>
#include <gtest/gtest.h>

#include "core/attention/mechanism.h"
#include "core/error.h"
#include "tests/support/naive_twins.h"

namespace attnscope {
namespace {

std::vector<MechanismChoice> choices() {
  const auto additive = [](std::int64_t window) {
    return MechanismChoice{"additive", {{"causal", window > 0}, {"window", window}}};
  };
  return {{"softmax", {}}, {"adder", {}}, {"linear", {}}, additive(0), additive(1), additive(9)};
}

RandomAttention data_of(std::int64_t n, unsigned seed = 5) {
  RandomAttention data(n, n, 3, 6, 5, seed);
  data.parameters.emplace("importance", random_normal({3, 6}, 8));
  return data;
}

AttentionInput causal(const RandomAttention& data) {
  AttentionInput input = data.input();
  input.causal = true;
  return input;
}

TEST(CausalLayer, IsTheWholeMapWithoutLaterKeysNormalisedAgain) {
  for (const MechanismChoice& choice : choices()) {
    for (const std::int64_t n : {1, 2, 63, 65, 130}) {
      const RandomAttention data = data_of(n);
      const AttentionInput input = causal(data);
      const auto mechanism = make_mechanism(choice);
      const Tensor map = mechanism->implied_map(input), output = mechanism->forward(input);
      for (std::int64_t head = 0; head < 3; ++head) {
        const NaiveMap whole = naive_map(choice, data.input(), head);
        for (std::int64_t i = 0; i < n; ++i) {
          double sum = 0;
          for (std::int64_t j = 0; j <= i; ++j) {
            sum += whole[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
          }
          std::vector<double> mean(5), magnitude(5);
          for (std::int64_t j = 0; j < n; ++j) {
            const double expected =
                j > i ? 0 : whole[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] / sum;
            const auto found = static_cast<double>(map.slice(head)(i, j));
            ASSERT_NEAR(found, expected, 2e-6) << to_string(choice) << " " << i << ", " << j;
            for (std::int64_t c = 0; c < 5; ++c) {
              const double term =
                  expected * static_cast<double>(data.values.matrix()(j, head * 5 + c));
              mean[static_cast<std::size_t>(c)] += term;
              magnitude[static_cast<std::size_t>(c)] += std::abs(term);
            }
          }
          for (std::int64_t c = 0; c < 5; ++c) {
            const auto at = static_cast<std::size_t>(c);
            ASSERT_NEAR(output.matrix()(i, head * 5 + c), mean[at], 4e-6 * (1 + magnitude[at]))
                << to_string(choice) << " " << i;
          }
        }
      }
    }
  }
}

TEST(CausalLayer, NeedsAsManyKeysAsQueries) {
  const RandomAttention data(4, 5, 1, 2, 2, 1);
  for (const MechanismChoice& choice : choices()) {
    EXPECT_THROW((void)make_mechanism(choice)->forward(causal(data)), Error) << to_string(choice);
  }
}

}  // namespace
}  // namespace attnscope
