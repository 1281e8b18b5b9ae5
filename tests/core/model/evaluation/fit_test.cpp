// Choices that no tensor shows, found with references that PyTorch computed.
#include "core/model/evaluation/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/architecture/architecture.h"
#include "core/architecture/model_spec_json.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/model/evaluation/self_test.h"
#include "core/text/number_text.h"
#include "tests/support/scratch_models.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// The options with the text form of their values in the model's members.
std::map<std::string, std::string> as_members(const std::map<std::string, std::string>& options) {
  std::map<std::string, std::string> members;
  for (const auto& [option, value] : options) {
    if (is_file_option(option)) {
      members[option] = value;
      continue;
    }
    ModelSpec spec;
    apply_override(spec, option, value);
    members[option] = option_text(spec, option);
  }
  return members;
}

class Fits : public testing::TestWithParam<Variation> {
 protected:
  std::filesystem::path write(bool fused, bool positions) {
    write_hashed_safetensors(folder_ / "gpt.safetensors", scratch_gpt(fused, positions));
    return folder_ / "gpt.safetensors";
  }
  const TemporaryFolder folder_;
};

TEST_P(Fits, FindTheVariationAndDescribeIt) {
  const Variation& variation = GetParam();
  const std::filesystem::path file = write(variation.fused, variation.positions);
  const auto reference = test_data(std::string("fit/") + variation.name + ".npz");
  const Fit fit = fit_model(file, reference, {});
  EXPECT_EQ(fit.first_difference(), nullptr);
  const SelfTest test = self_test(*load_model(file, {fit.options, {}}), reference);
  EXPECT_LT(test.difference, 1e-5) << in_words(test);
  const auto found = as_members(fit.options);
  for (const auto& [option, value] : as_members(variation.said)) {
    const std::string name = option == "readout.final_norm" ? "final_norm" : option;
    ASSERT_TRUE(found.contains(name)) << name;
    const std::optional<double> number = parse_number(value);
    if (number) {
      EXPECT_NEAR(parse_number(found.at(name)).value_or(0), *number, 1e-4 * *number) << name;
    } else {
      EXPECT_EQ(found.at(name), value) << name;
    }
  }
  // The description opens the file without further options.
  write_file(folder_ / "found.json", fitted_description(file, {fit.options, {}}));
  const SelfTest described = self_test(*load_model(file, {{}, folder_ / "found.json"}), reference);
  EXPECT_LT(described.difference, 1e-5) << in_words(described);
}

INSTANTIATE_TEST_SUITE_P(OfVariations, Fits, testing::ValuesIn(variations()),
                         [](const auto& at) { return std::string(at.param.name); });

using Fitting = Fits;

TEST_F(Fitting, ReportsNoFitWithTheFirstDifference) {
  const Fit fit = fit_model(write(false, true), test_data("fit/scale_of_heads.npz"), {});
  ASSERT_NE(fit.first_difference(), nullptr);
  EXPECT_EQ(fit.first_difference()->name, "layer 0, attention maps");
  EXPECT_GT(fit.first_difference()->difference, self_test_tolerance);
}

TEST_F(Fitting, FindsThetaBetweenTheUsualOnes) {
  const Fit fit = fit_model(write(false, false), test_data("fit/rotary_odd_theta.npz"), {});
  EXPECT_EQ(fit.first_difference(), nullptr);
  EXPECT_EQ(fit.options.at("layer.rotary.form"), "pair");
  EXPECT_NEAR(parse_number(fit.options.at("layer.rotary.theta")).value_or(0), 2500, 1);
}

TEST_F(Fitting, KeepsTheUsersSettings) {
  ModelOptions said;
  said.overrides = {{"scale", "none"}};
  const Fit fit = fit_model(write(false, true), test_data("fit/base.npz"), said);
  EXPECT_EQ(fit.options.at("scale"), "none");
  EXPECT_NE(fit.first_difference(), nullptr);
}

TEST_F(Fitting, GivesTheEvidenceForEachChoice) {
  const Fit fit = fit_model(write(true, true), test_data("fit/fused_heads_first.npz"), {});
  const auto rows = std::ranges::find(fit.choices, "qkv_rows", &FittedChoice::option);
  ASSERT_NE(rows, fit.choices.end());
  EXPECT_EQ(rows->value, "heads_first");
  EXPECT_EQ(rows->other, "parts_first");
  EXPECT_GT(rows->difference, 0.1);
  EXPECT_TRUE(rows->determined);
}

// The tokens of this model vary so much that the ε of its norms hardly shows beside the rounding.
TEST_F(Fitting, ReportsOtherValuesThatAgreeAsWell) {
  const Fit fit = fit_model(write(true, true), test_data("fit/several.npz"), {});
  ASSERT_EQ(fit.first_difference(), nullptr);
  const auto eps = std::ranges::find(fit.choices, "norm_eps", &FittedChoice::option);
  ASSERT_NE(eps, fit.choices.end());
  EXPECT_FALSE(eps->other.empty());
  EXPECT_FALSE(eps->determined) << eps->other << " differs by " << eps->difference;
}

TEST_F(Fitting, LinesOfPythonAreOfThatFile) {
  EXPECT_THAT(lines_for_reference(write(false, true), {}),
              AllOf(HasSubstr("torch.randint(31, (2, 12))"), HasSubstr("model.layers"),
                    HasSubstr("gpt.reference.npz")));
}

}  // namespace
}  // namespace attnscope
