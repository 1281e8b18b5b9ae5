#include "analysis/depth/rank_over_depth.h"

#include <cmath>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/naive_attention.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

TEST(RankOneResidual, AgreesWithNumPyForTokens) {
  for (const nlohmann::json& expected : read_test_data("depth/depth.json").at("tokens")) {
    Tensor tokens = raw_uniform({expected.at("n"), expected.at("d")}, expected.at("seed"));
    for (float& value : tokens.values()) value += expected.at("offset").get<float>();
    Trace trace;
    trace.embedded = tokens;
    trace.layers.emplace_back().tokens = tokens;
    const RankOverDepth depth = rank_over_depth(trace, IdentityView::as_is);
    EXPECT_TRUE(depth.maps.empty());
    ASSERT_EQ(depth.tokens.size(), 2U);
    EXPECT_EQ(depth.tokens[0].layer, -1);
    EXPECT_EQ(depth.tokens[1].layer, 0);
    for (const TokenDepth& at : depth.tokens) {
      EXPECT_NEAR(at.residual.frobenius, expected.at("frobenius"), 1e-12);
      EXPECT_NEAR(at.residual.composite, expected.at("composite"), 1e-12);
      EXPECT_NEAR(at.spectrum.effective_rank, expected.at("effective_rank"), 1e-6);
      EXPECT_EQ(at.spectrum.equivalent_rank, expected.at("equivalent_rank").get<std::int64_t>());
    }
  }
}

TEST(RankOneResidual, AgreesWithNumPyForMaps) {
  for (const nlohmann::json& expected : read_test_data("depth/depth.json").at("maps")) {
    const std::int64_t n = expected.at("n");
    Trace trace;
    trace.layers.emplace_back().implied_map =
        kernel_map(n, expected.at("width"), expected.at("power"), expected.at("seed"))
            .reshaped({1, n, n});
    const RankOverDepth depth = rank_over_depth(trace, IdentityView::as_is);
    ASSERT_EQ(depth.maps.size(), 1U);
    EXPECT_NEAR(depth.maps[0].residual.frobenius, expected.at("frobenius"), 1e-9);
    EXPECT_NEAR(depth.maps[0].residual.composite, expected.at("composite"), 1e-9);
    EXPECT_NEAR(depth.maps[0].spectrum.effective_rank, expected.at("effective_rank"), 1e-5);
  }
}

TEST(RankOverDepth, FactorsGiveTheResidualOfTheirProduct) {
  const MatrixD left = random_normal({30, 4}, 1).matrix().cast<double>();
  const MatrixD right = random_normal({20, 4}, 2).matrix().cast<double>();
  const RankOneResidual whole = rank_one_residual(MatrixD(left * right.transpose()));
  const RankOneResidual factored = rank_one_residual(left, right);
  EXPECT_NEAR(factored.frobenius, whole.frobenius, 1e-12);
  EXPECT_TRUE(std::isnan(factored.composite));
}

TEST(RankOverDepth, EqualRowsHaveNoResidual) {
  const MatrixD alike = random_normal({1, 9}, 3).matrix().cast<double>().replicate(12, 1);
  EXPECT_NEAR(rank_one_residual(alike).frobenius, 0, 1e-15);
  MatrixD centred = random_normal({12, 9}, 4).matrix().cast<double>();
  centred = (centred.rowwise() - centred.colwise().mean()).eval();
  EXPECT_NEAR(rank_one_residual(centred).frobenius, 1, 1e-12);
}

TEST(RankOverDepth, SpectraThatAreKnownAreTaken) {
  const Subject subject = attention_subject("a", {"softmax", {}});
  std::vector<MapSpectrum> known = spectra_of(*subject.trace, IdentityView::as_is);
  known[2].effective_rank = 1234;
  const RankOverDepth depth = rank_over_depth(*subject.trace, IdentityView::as_is, {}, {}, &known);
  ASSERT_EQ(depth.maps.size(), known.size());
  EXPECT_EQ(depth.maps[2].spectrum.effective_rank, 1234);
  EXPECT_GT(depth.maps[2].residual.frobenius, 0);
}

TEST(RankOverDepth, RefusesUnrecordedTokensAndAcceptsZero) {
  Trace trace;
  trace.layers.emplace_back();
  EXPECT_THROW((void)rank_over_depth(trace, IdentityView::as_is), Error);
  trace.layers[0].tokens = Tensor({4, 3});
  const RankOverDepth depth = rank_over_depth(trace, IdentityView::as_is);
  ASSERT_EQ(depth.tokens.size(), 1U);
  EXPECT_EQ(depth.tokens[0].spectrum.state, SpectrumState::zero);
  EXPECT_EQ(depth.tokens[0].residual.frobenius, 0);
}

}  // namespace
}  // namespace attnscope
