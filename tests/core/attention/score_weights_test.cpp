// Attention with weights other than a softmax's: comparison with PyTorch and the authors' entmax,
// and properties of their own. mechanism_test.cpp checks the requirements of all mechanisms.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "core/attention/kernels/entmax_rows.h"
#include "core/attention/mechanism.h"
#include "core/error.h"
#include "tests/support/naive_attention.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

constexpr float kNotSeen = -std::numeric_limits<float>::infinity();

// Whole and causal maps, a window, sharp scores, and scores so small that all have weight.
TEST(ScoreWeights, MapsAndOutputsAreThoseOfPyTorchAndEntmax) {
  for (const nlohmann::json& reference :
       read_test_data("attention/score_weights.json").at("cases")) {
    const std::string name = reference.at("mechanism");
    SCOPED_TRACE(name);
    expect_reference(*make_mechanism({name, {}}), reference);
  }
}

TEST(ScoreWeights, RowsComputedOnRequestAreThoseOfTheMap) {
  const RandomAttention data(70, 70, 2, 4, 4, 7);
  AttentionInput input = data.input();
  input.causal = true;
  for (const char* const name :
       {"sigmoid", "relu", "ssmax", "sparsemax", "entmax", "differential"}) {
    const auto mechanism = make_mechanism({name, {}});
    const Tensor map = mechanism->implied_map(input);
    const MapRows rows = mechanism->map_rows(input);
    for (std::int64_t head = 0; head < 2; ++head) {
      Matrix found(70, 70);
      rows(head, 0, {found.data(), 70, 70, Eigen::OuterStride<>(70)});
      EXPECT_LT((found - map.slice(head)).cwiseAbs().maxCoeff(), 1e-6F) << name;
    }
  }
}

TEST(ScoreWeights, OnlyASoftmaxTakesTheSinksOfAModel) {
  const RandomAttention data(6, 6, 2, 4, 4, 7);
  AttentionInput input = data.input();
  ScoreTerms terms;
  terms.sinks = {0.0F, 1.0F};
  input.terms = &terms;
  for (const char* const name : {"sigmoid", "relu", "sparsemax", "entmax", "differential"}) {
    const Error error = refusal_of(
        [&] {
          static_cast<void>(make_mechanism({name, {}})->forward(input));
        },
        testing::Message() << name);
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find(std::string(name) + " attention"), std::string::npos)
        << error.what();
  }
  // ln 6 = 1 / 0.558: with that factor it is the model's own softmax with sinks.
  const auto scalable = make_mechanism({"ssmax", {{"factor", 1 / std::log(6.0)}}});
  const Tensor expected = make_mechanism({"softmax", {}})->implied_map(input);
  const Tensor found = scalable->implied_map(input);
  for (std::size_t i = 0; i < expected.values().size(); ++i) {
    ASSERT_NEAR(found.values()[i], expected.values()[i], 1e-6);
  }
}

TEST(EntmaxRows, HiddenAndDistantScoresHaveNoWeight) {
  for (const int power : {1, 2}) {
    Matrix rows(2, 5);
    rows << 3, 0.5F, kNotSeen, 2.9F, -40, kNotSeen, kNotSeen, -7, kNotSeen, kNotSeen;
    entmax_rows({rows.data(), 2, 5, Eigen::OuterStride<>(5)}, power);
    EXPECT_EQ(rows(0, 2), 0);
    EXPECT_EQ(rows(0, 4), 0);
    EXPECT_GT(rows(0, 0), rows(0, 3));
    EXPECT_NEAR(rows.row(0).sum(), 1, 1e-6);
    EXPECT_EQ(rows.row(1), (Eigen::RowVectorXf(5) << 0, 0, 1, 0, 0).finished());
  }
}

TEST(EntmaxRows, EqualScoresOfManyKeysSumToOne) {
  for (const int power : {1, 2}) {
    for (const std::int64_t keys : {1, 15, 16, 17, 4097}) {
      Matrix row = Matrix::Constant(1, keys, 1e4F);
      entmax_rows({row.data(), 1, keys, Eigen::OuterStride<>(keys)}, power);
      EXPECT_NEAR(row.cast<double>().sum(), 1, 1e-5) << keys;
      EXPECT_EQ(row.minCoeff(), row.maxCoeff()) << keys;
    }
  }
}

TEST(EntmaxRows, ARowWithoutAMaximumIsNotANumber) {
  for (const int power : {1, 2}) {
    Matrix rows(3, 3);
    rows << 1, std::numeric_limits<float>::quiet_NaN(), 2, 1, -kNotSeen, 2, kNotSeen, kNotSeen,
        kNotSeen;
    entmax_rows({rows.data(), 3, 3, Eigen::OuterStride<>(3)}, power);
    EXPECT_TRUE(rows.array().isNaN().all()) << rows;
  }
}

}  // namespace
}  // namespace attnscope
