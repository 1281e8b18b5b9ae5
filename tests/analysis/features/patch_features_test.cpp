#include "analysis/features/patch_features.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

/// The tokens of tests/data/features/make_patches.py.
MatrixD made_tokens(const nlohmann::json& made, const char* seed) {
  const std::int64_t n = made.at("n"), width = made.at("width");
  MatrixD tokens = raw_uniform({n, width}, made.at(seed).get<unsigned>()).matrix().cast<double>();
  tokens.array().rowwise() *= Eigen::ArrayXd::LinSpaced(width, 1, 3).transpose();
  return tokens.cast<float>().cast<double>();
}

TEST(PatchFeatures, AgreeWithNumPyAndPyTorch) {
  const nlohmann::json& made = read_test_data("features/patches.json");
  const MatrixD tokens = made_tokens(made, "seed");
  const PatchAxes axes = patch_axes(tokens);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(axes.share[k], made.at("share")[k].get<double>(), 1e-9);
  }
  for (const auto& [seed, key] :
       {std::pair("seed", "colours"), std::pair("other_seed", "other_colours")}) {
    const MatrixD colours = patch_colours(made_tokens(made, seed), axes);
    const auto expected = made.at(key).get<std::vector<double>>();
    ASSERT_EQ(colours.size(), std::ssize(expected));
    for (Eigen::Index i = 0; i < colours.size(); ++i) {
      EXPECT_NEAR(colours.data()[i], expected[static_cast<std::size_t>(i)], 1e-9) << key << i;
    }
  }
  const std::vector<double> cosines = token_cosines(tokens, made.at("token"));
  for (std::size_t i = 0; i < cosines.size(); ++i) {
    EXPECT_NEAR(cosines[i], made.at("cosines")[i].get<double>(), 1e-9) << i;
  }
}

TEST(PatchFeatures, AreGreyWithoutVariance) {
  const MatrixD tokens = MatrixD::Constant(6, 4, 0.1);
  EXPECT_EQ(patch_colours(tokens, patch_axes(tokens)), MatrixD::Constant(6, 3, 0.5));
  MatrixD along_a_line = MatrixD::Zero(6, 4);
  along_a_line.col(1) = Eigen::VectorXd::LinSpaced(6, 0, 1);
  const MatrixD colours = patch_colours(along_a_line, patch_axes(along_a_line));
  EXPECT_GT(colours(5, 0), 0.9) << "without skewness the greatest entry of the axis is positive";
  EXPECT_EQ(colours(5, 1), 0.5);
}

TEST(PatchFeatures, KeepTheirSignWhenTokensAreReversed) {
  const nlohmann::json& made = read_test_data("features/patches.json");
  const MatrixD tokens = made_tokens(made, "seed");
  const PatchAxes axes = patch_axes(tokens);
  MatrixD turned = tokens.rowwise().reverse();
  const PatchAxes other = patch_axes(turned);
  EXPECT_LT((patch_colours(tokens, axes) - patch_colours(turned, other)).norm(), 1e-9);
}

TEST(PatchFeatures, RefuseTokensWithoutAGridAndAxesOfAnotherWidth) {
  Trace trace = *attention_subject("a", {"softmax", {}}).trace;
  trace.layers[1].tokens = Tensor({50, 5});
  EXPECT_EQ(patch_tokens(trace, 1).rows(), 49) << "the class token is left out";
  trace.layers[1].tokens = Tensor({48, 5});
  EXPECT_NE(error_of([&] { return patch_tokens(trace, 1); }).find("grid"), std::string::npos);
  EXPECT_NE(error_of([] {
              const MatrixD narrow = MatrixD::Random(4, 2), wide = MatrixD::Random(4, 3);
              return patch_colours(wide, patch_axes(narrow));
            }).find("widths"),
            std::string::npos);
}

}  // namespace
}  // namespace attnscope
