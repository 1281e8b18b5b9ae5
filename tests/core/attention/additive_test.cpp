// Additive attention: extreme importances, windows, and the recurrence.
#include <cmath>
#include <gtest/gtest.h>
#include <span>

#include "core/attention/additive_state.h"
#include "core/attention/mechanism.h"
#include "core/error.h"
#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

std::unique_ptr<const Mechanism> additive(bool causal, std::int64_t window) {
  return make_mechanism({"additive", {{"causal", causal}, {"window", window}}});
}

/// Data for one head of width 1 whose keys are the logits themselves.
RandomAttention with_logits(const std::vector<float>& logits, std::int64_t width) {
  const auto n = static_cast<std::int64_t>(logits.size());
  RandomAttention data(n, n, 1, 1, width, 3);
  data.keys = Tensor({n, 1}, logits);
  data.parameters.emplace("importance", Tensor({1, 1}, {1.0F}));
  return data;
}

TEST(Additive, LogitsOfEightyNeitherOverflowNorCancel) {
  // After a token of e^80 leaves the window, the remaining sum must be right to rounding.
  std::vector<float> logits;
  for (int i = 0; i < 200; ++i) logits.push_back(i % 37 == 5 ? 80.0F : i % 11 == 0 ? -80.0F : 0.1F);
  for (int i = 0; i < 50; ++i) logits.push_back(-80.0F);
  for (const std::int64_t window : {0, 1, 3, 16, 50, 249, 250, 300}) {
    const RandomAttention data = with_logits(logits, 3);
    const Tensor output = additive(true, window)->forward(data.input());
    const NaiveMap map = naive_additive_map(data.input(), 0, true, window);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      for (std::int64_t c = 0; c < 3; ++c) {
        double expected = 0, magnitude = 0;
        for (std::size_t j = 0; j < logits.size(); ++j) {
          const double term = map[i][j] * static_cast<double>(data.values.matrix()(
                                              static_cast<Eigen::Index>(j), c));
          expected += term;
          magnitude += std::abs(term);
        }
        // Sums use double, and the result is rounded to float32 once.
        ASSERT_NEAR(output.matrix()(static_cast<Eigen::Index>(i), c), expected, 0x1p-23 * magnitude)
            << "window " << window << ", token " << i;
      }
    }
  }
}

TEST(Additive, AWindowOfAllTokensEqualsNoWindow) {
  RandomAttention data(70, 70, 2, 8, 5, 9);
  const Tensor all = additive(true, 0)->implied_map(data.input());
  EXPECT_EQ(additive(true, 70)->implied_map(data.input()).matrix(), all.matrix());
  EXPECT_EQ(additive(true, 1000000000)->implied_map(data.input()).matrix(), all.matrix());
}

TEST(Additive, AWindowOfOneIsTheTokenItself) {
  RandomAttention data(20, 20, 2, 8, 5, 9);
  EXPECT_EQ(additive(true, 1)->forward(data.input()).matrix(), data.input().values);
}

TEST(Additive, TheRecurrenceEqualsThePrefix) {
  const RandomAttention data = with_logits(std::vector<float>(60, 0.5F), 4);
  for (const std::int64_t window : {0, 1, 7, 60}) {
    AdditiveState state(4, window);
    std::vector<float> mean(4);
    for (std::int64_t t = 1; t <= 60; ++t) {
      const std::span<const float> value(data.values.data() + 4 * (t - 1), 4);
      state.push(data.keys.matrix()(t - 1, 0), value, mean);
      RandomAttention prefix = data;
      prefix.queries = Tensor({t, 1});
      prefix.keys = Tensor({t, 1}, std::vector<float>(static_cast<std::size_t>(t), 0.5F));
      prefix.values = Tensor({t, 4});
      prefix.values.matrix() = data.values.matrix().topRows(t);
      const Tensor output = additive(true, window)->forward(prefix.input());
      for (std::int64_t c = 0; c < 4; ++c) {
        EXPECT_EQ(output.matrix()(t - 1, c), mean[static_cast<std::size_t>(c)]);
      }
    }
  }
}

TEST(Additive, UsesTheFirstQueryWithoutImportanceVectors) {
  RandomAttention data(9, 9, 2, 4, 3, 5);
  const Tensor what_if = additive(false, 0)->implied_map(data.input());
  const Tensor softmax = make_mechanism({"softmax", {}})->implied_map(data.input());
  for (std::int64_t head = 0; head < 2; ++head) {
    for (std::int64_t i = 0; i < 9; ++i) {
      for (std::int64_t j = 0; j < 9; ++j) {
        EXPECT_NEAR(what_if.slice(head)(i, j), softmax.slice(head)(0, j), 1e-6);
      }
    }
  }
}

TEST(Additive, ImportanceIsItsQuantity) {
  RandomAttention data(9, 9, 2, 4, 3, 5);
  const auto mechanism = additive(false, 0);
  const NamedTensors quantities = mechanism->quantities(data.input());
  const Tensor map = mechanism->implied_map(data.input());
  for (std::int64_t head = 0; head < 2; ++head) {
    EXPECT_EQ(quantities.at("importance").matrix().row(head), map.slice(head).row(0));
  }
  EXPECT_EQ(quantities.at("logits").shape(), (Shape{2, 9}));
}

TEST(Additive, LogitsHaveTheBiasUnderTheRootOfTheWidth) {
  // A bias per head changes no map, so that only the recorded logits show where it is added.
  RandomAttention data(7, 7, 2, 4, 3, 5);
  const Tensor vectors({2, 4}, {0.5F, -1, 2, 0.25F, 1, 3, -0.5F, -2});
  data.parameters.emplace("importance", vectors);
  data.parameters.emplace("importance_bias", Tensor({2}, {3.0F, -1.5F}));
  const Tensor logits = additive(false, 0)->quantities(data.input()).at("logits");
  for (std::int64_t head = 0; head < 2; ++head) {
    for (std::int64_t j = 0; j < 7; ++j) {
      double product = head == 0 ? 3.0 : -1.5;
      for (std::int64_t c = 0; c < 4; ++c) {
        product += static_cast<double>(vectors.matrix()(head, c)) *
                   static_cast<double>(data.keys.matrix()(j, 4 * head + c));
      }
      EXPECT_NEAR(logits.matrix()(head, j), product / 2, 1e-5);
    }
  }
}

TEST(Additive, RefusesInvalidArguments) {
  EXPECT_THROW((void)additive(false, 4), Error);
  EXPECT_THROW((void)additive(true, -2), Error);
  const RandomAttention wide(3, 5, 1, 2, 2, 1);
  EXPECT_THROW((void)additive(true, 0)->forward(wide.input()), Error);
  RandomAttention data(3, 3, 2, 2, 2, 1);
  data.parameters.emplace("importance", Tensor({2, 3}));
  EXPECT_THROW((void)additive(false, 0)->forward(data.input()), Error);
}

}  // namespace
}  // namespace attnscope
