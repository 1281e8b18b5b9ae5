// Mixing of tokens, compared with PyTorch.
#include "analysis/mixing/mixing.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/depth/token_flow.h"
#include "core/error.h"
#include "tests/support/inside_models.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

constexpr double kClose = 1e-5;

class MixingOf : public testing::TestWithParam<const char*> {
 protected:
  const InsideModel model_{GetParam()};

  [[nodiscard]] double scale(const std::string& array) const {
    return std::max(1.0, model_.expected(array).cwiseAbs().maxCoeff());
  }
};

TEST_P(MixingOf, AgreesWithPyTorch) {
  const std::pair<Mixing, const char*> all[] = {{Mixing::head_norms, "head_norms"},
                                                {Mixing::norms, "norms"},
                                                {Mixing::block_norms, "block_norms"},
                                                {Mixing::globenc, "globenc"},
                                                {Mixing::alti, "alti"}};
  for (const auto& [mixing, name] : all) {
    const MatrixD found = mixing_of(model_.subject(), 1, mixing, 1);
    EXPECT_LT(greatest_difference(found, model_.expected(name)), kClose * scale(name)) << name;
  }
}

TEST_P(MixingOf, RatiosAndRolloutsAgreeWithPyTorch) {
  const std::vector<double> ratios = mixing_ratios(model_.subject(), 1);
  const MatrixD expected = model_.expected("ratios");
  ASSERT_EQ(std::ssize(ratios), expected.cols());
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    EXPECT_NEAR(ratios[i], expected(0, static_cast<Eigen::Index>(i)), kClose);
  }
  for (const auto& [mixing, name] :
       {std::pair{Mixing::alti, "alti_rollout"}, std::pair{Mixing::globenc, "globenc_rollout"}}) {
    const Tensor found = mixing_rollout(model_.subject(), mixing);
    EXPECT_LT(greatest_difference(found.matrix().cast<double>(), model_.expected(name)), kClose)
        << name;
  }
}

TEST_P(MixingOf, ValueZeroingAgreesWithPyTorch) {
  EXPECT_LT(
      greatest_difference(value_zeroing(model_.subject(), 1), model_.expected("value_zeroing")),
      kClose);
}

TEST_P(MixingOf, LayerUpdatesAgreeWithPyTorch) {
  const std::vector<TokenFlow> flows = token_flow(model_.subject());
  const MatrixD expected = model_.expected("flow");
  ASSERT_EQ(std::ssize(flows), expected.rows());
  for (Eigen::Index row = 0; row < expected.rows(); ++row) {
    const TokenFlow& flow = flows[static_cast<std::size_t>(row)];
    EXPECT_EQ(flow.layer, row - 1);
    const double found[] = {flow.similarity, flow.centred_norm, flow.norm, flow.greatest_norm,
                            flow.update,     flow.attention,    flow.mlp};
    for (Eigen::Index column = 0; column < 7; ++column) {
      const double want = expected(row, column);
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(found[column])) << row << ", " << column;
      } else {
        EXPECT_NEAR(found[column], want, kClose * std::max(1.0, want)) << row << ", " << column;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Inside, MixingOf, testing::Values("vit", "bert", "gpt2"),
                         [](const auto& one) { return std::string(one.param); });

TEST(Mixing, RefusesUndefinedMixings) {
  const InsideModel model("vit");
  EXPECT_THAT(error_of([&] { return mixing_of(model.subject(), 2, Mixing::norms); }),
              testing::HasSubstr("the trace has no such layer"));
  EXPECT_THAT(error_of([&] { return mixing_of(model.subject(), 0, Mixing::head_norms, 3); }),
              testing::HasSubstr("the layer has no such head"));
  EXPECT_THAT(error_of([&] { return mixing_rollout(model.subject(), Mixing::norms); }),
              testing::HasSubstr("rollout needs a measure that includes the residual"));
  Subject trace = model.subject();
  trace.model = nullptr;
  EXPECT_THAT(error_of([&] { return mixing_of(trace, 0, Mixing::norms); }),
              testing::HasSubstr("a trace does not hold the weights"));
  Subject bare = model.subject();
  bare.trace = std::make_shared<const Trace>(
      bare.model->run(*bare.input, bare.mechanism, TraceRequest{}, {}));
  EXPECT_THAT(error_of([&] { return mixing_of(bare, 0, Mixing::norms); }),
              testing::HasSubstr("were not recorded"));
}

TEST(Mixing, SharesAreMeansOverRowsThatHaveThem) {
  MatrixD mixing(3, 3);
  mixing << 3, 1, 0,  //
      0, 0, 0,        // row 1 has no shares
      1, 0, 1;
  const MixingShares shares = mixing_shares(mixing);
  EXPECT_DOUBLE_EQ(shares.own, 0.625);
  EXPECT_THAT(shares.keys, testing::ElementsAre(0.625, 0.125, 0.25));
  const MixingShares none = mixing_shares(MatrixD::Zero(2, 2));
  EXPECT_TRUE(std::isnan(none.own));
  EXPECT_TRUE(none.keys.empty());
}

}  // namespace
}  // namespace attnscope
