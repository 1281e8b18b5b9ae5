// attnscope heads, run from a shell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kHeadSamples = source_folder() + "/sample_data/";
const std::string kSoftmaxVit = kHeadSamples + "models/fashion-softmax.h5";
const std::string kAdderVit = kHeadSamples + "models/fashion-adder-identity.h5";
const std::string kOnABoot = " --input " + kHeadSamples + "inputs/09_ankle_boot.png";

TEST(HeadsCommand, JsonHoldsEveryHeadAndNothingUnknownAsZero) {
  const ProgramRun run =
      run_program("heads " + kSoftmaxVit + " " + kAdderVit + kOnABoot + " --json");
  ASSERT_EQ(run.status, 0) << run.errors;
  const nlohmann::json report = nlohmann::json::parse(run.output);
  ASSERT_EQ(report.at("subjects").size(), 2U);
  for (const nlohmann::json& subject : report["subjects"]) {
    EXPECT_EQ(subject.at("distance_unit"), "pixels");
    ASSERT_EQ(subject.at("heads").size(), 18U);
    for (const nlohmann::json& head : subject["heads"]) {
      EXPECT_TRUE(head.at("previous_token").is_null()) << "patches are no sequence";
      EXPECT_GT(head.at("output_norm"), 0);
      EXPECT_GT(head.at("normalised_entropy"), 0);
      EXPECT_LE(head.at("normalised_entropy"), 1);
      EXPECT_LT(head.at("distance"), 40);  // images are 28 × 28 pixels
    }
  }
  EXPECT_EQ(report["subjects"][0]["heads"][0]["identity_removed"], false);
  EXPECT_EQ(report["subjects"][1]["heads"][0]["identity_removed"], true);
}

TEST(HeadsCommand, TheTableLeavesOutColumnsThatNoHeadHas) {
  const ProgramRun run = run_program("heads " + kSoftmaxVit + kOnABoot);
  ASSERT_EQ(run.status, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("distance"));
  EXPECT_THAT(run.output, HasSubstr("in pixels"));
  EXPECT_THAT(run.output, Not(HasSubstr("previous")));
  EXPECT_THAT(run.output, HasSubstr("sinks (α > 0.3)"));
}

TEST(HeadsCommand, DistancesOfATextAreInTokens) {
  const ProgramRun run = run_program("heads " + kHeadSamples +
                                     "models/shakespeare-softmax.h5 --input "
                                     "text:To-be-or-not-to-be --csv --layers 0");
  ASSERT_EQ(run.status, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("model,input,layer,head,state,causal"));
  EXPECT_THAT(run.output, HasSubstr(",0,0,ready,true,false,tokens,"));
}

TEST(HeadsCommand, PrintsTablesAsMarkdownAndLatex) {
  const std::string heads = "heads " + kSoftmaxVit + kOnABoot + " --layers 0 --heads 0";
  const ProgramRun markdown = run_program(heads + " --format markdown");
  ASSERT_EQ(markdown.status, 0) << markdown.errors;
  EXPECT_THAT(markdown.output,
              testing::StartsWith("### fashion-softmax, 09_ankle_boot.png\n\n| layer | head | "));
  EXPECT_THAT(markdown.output, HasSubstr("\n| 0 | 0 | "));
  const ProgramRun latex = run_program(heads + " --format latex");
  ASSERT_EQ(latex.status, 0) << latex.errors;
  EXPECT_THAT(latex.output,
              testing::StartsWith("% fashion-softmax, 09_ankle_boot.png\n\\begin{tabular}{rr"));
  EXPECT_THAT(latex.output, HasSubstr("\n  0 & 0 & "));
  EXPECT_EQ(run_program(heads + " --format csv").output, run_program(heads + " --csv").output);
  EXPECT_EQ(run_program(heads + " --format json").output, run_program(heads + " --json").output);
  EXPECT_EQ(run_program(heads + " --format latex --csv").status, 2);
  EXPECT_EQ(run_program(heads + " --format yaml").status, 2);
}

TEST(HeadsCommand, RefusesSharesOutOfRange) {
  EXPECT_EQ(run_program("heads " + kSoftmaxVit + kOnABoot + " --sink 1").status, 2);
  EXPECT_THAT(run_program("heads " + kSoftmaxVit + kOnABoot + " --mass 0").errors,
              HasSubstr("mass"));
}

}  // namespace
}  // namespace attnscope
