// The logit lens and direct logit attribution, against PyTorch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/lens/logit_attribution.h"
#include "analysis/lens/logit_lens.h"
#include "core/error.h"
#include "tests/support/inside_models.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

constexpr double kCloseLens = 1e-5;

class LensOf : public testing::TestWithParam<const char*> {
 protected:
  const InsideModel model_{GetParam()};
};

TEST_P(LensOf, ReadsEveryDepthAsTheLast) {
  const LogitLens lens = logit_lens(model_.subject(), 100, 3);
  const MatrixD expected = model_.expected("lens");  // [depths · positions, classes]
  const auto places = static_cast<Eigen::Index>(lens.cells.front().size());
  ASSERT_EQ(std::ssize(lens.cells) * places, expected.rows());
  EXPECT_EQ(lens.depths.front(), -1);
  for (std::size_t depth = 0; depth < lens.cells.size(); ++depth) {
    for (Eigen::Index place = 0; place < places; ++place) {
      const LensCell& cell = lens.cells[depth][static_cast<std::size_t>(place)];
      const auto row = expected.row(static_cast<Eigen::Index>(depth) * places + place);
      ASSERT_EQ(std::ssize(cell.likeliest), expected.cols());
      const Eigen::RowVectorXd p = (row.array() - row.maxCoeff()).exp();
      for (const LensAnswer& answer : cell.likeliest) {
        ASSERT_NEAR(answer.logit, row(answer.index), kCloseLens);
        ASSERT_NEAR(answer.probability, p(answer.index) / p.sum(), kCloseLens);
      }
      EXPECT_NEAR(cell.target.logit, row(3), kCloseLens);
      EXPECT_GE(cell.likeliest[0].logit, cell.likeliest[1].logit);
      if (depth + 1 == lens.cells.size()) {
        EXPECT_EQ(cell.likeliest[0].index, cell.final_answer.index);
        EXPECT_NEAR(cell.divergence, 0, 1e-12);
      }
    }
  }
}

TEST_P(LensOf, SharesOfALogitAgreeWithPyTorch) {
  const LogitAttribution found = logit_attribution(model_.subject(), 3);
  EXPECT_LT(greatest_difference(found.heads, model_.expected("dla_heads")), kCloseLens);
  const MatrixD biases = model_.expected("dla_biases"), rest = model_.expected("dla_rest");
  for (std::size_t layer = 0; layer < found.rest.size(); ++layer) {
    EXPECT_NEAR(found.biases[layer], biases(0, static_cast<Eigen::Index>(layer)), kCloseLens);
    EXPECT_NEAR(found.rest[layer], rest(0, static_cast<Eigen::Index>(layer)), kCloseLens);
  }
  EXPECT_NEAR(found.embedding, model_.expected_number("dla_embedding"), kCloseLens);
  EXPECT_NEAR(found.constant, model_.expected_number("dla_constant"), kCloseLens);
  const MatrixD logits = model_.expected("logits");
  EXPECT_NEAR(found.logit, logits(logits.rows() - 1, 3), kCloseLens)
      << "all shares come to the logit";
}

INSTANTIATE_TEST_SUITE_P(Inside, LensOf, testing::Values("vit", "gpt2"),
                         [](const auto& one) { return std::string(one.param); });

TEST(Lens, RefusesUndefinedReadouts) {
  const InsideModel bert("bert");
  EXPECT_THAT(error_of([&] { return logit_attribution(bert.subject(), 0); }),
              testing::HasSubstr("the logits are not a sum over layers"));
  const InsideModel vit("vit");
  EXPECT_THAT(error_of([&] { return logit_lens(vit.subject(), 5, 99); }),
              testing::HasSubstr("the model has no such class"));
  EXPECT_THAT(error_of([&] { return logit_attribution(vit.subject(), 99); }),
              testing::HasSubstr("the model has no such class"));
  EXPECT_THAT(error_of([&] { return logit_attribution(vit.subject(), 0, 4); }),
              testing::HasSubstr("the token position cannot be chosen for a classifier"));
}

}  // namespace
}  // namespace attnscope
