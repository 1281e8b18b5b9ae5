// attnscope spectrum --of, --centred and --baselines, and attnscope components, as a user runs
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

const std::string kSampleSet = source_folder() + "/sample_data/";
const std::string kVit = kSampleSet + "models/fashion-softmax.h5";
const std::string kLanguageModel = kSampleSet + "models/shakespeare-softmax.h5";
const std::string kOnShoe = " --input " + kSampleSet + "inputs/09_ankle_boot.png";
const std::string kOnText = " --input text:To-be-or-not-to-be";

nlohmann::json json_printed(const std::string& command) {
  const ProgramRun run = run_program(command + " --json");
  EXPECT_EQ(run.status, 0) << run.errors;
  return nlohmann::json::parse(run.output);
}

TEST(SpectrumOf, KeepsTheBoundsOfRealModels) {
  for (const char* of : {"scores", "log-map", "seen-by-values"}) {
    const nlohmann::json report =
        json_printed("spectrum " + kVit + kOnShoe + " --layers 0,5 --of " + of);
    EXPECT_EQ(report.at("of"), of);
    ASSERT_EQ(report.at("maps").size(), 6U);
    for (const nlohmann::json& map : report["maps"]) {
      ASSERT_FALSE(map.at("rank_bound").is_null()) << of;
      EXPECT_LE(map.at("numerical_rank"), map.at("rank_bound")) << of;
    }
  }
}

TEST(SpectrumOf, RefusesWhatCannotBeHad) {
  EXPECT_THAT(run_program("spectrum " + kVit + kOnShoe + " --of norm-weighted").errors,
              HasSubstr("W_O"));
  EXPECT_THAT(run_program("spectrum " + kLanguageModel + kOnText + " --of log-map").errors,
              HasSubstr("not above 0"));
  EXPECT_EQ(run_program("spectrum " + kVit + kOnShoe + " --of scores --identity with").status, 2);
  EXPECT_EQ(run_program("spectrum " + kVit + kOnShoe + " --of output --heads 0").status, 2);
  EXPECT_EQ(run_program("spectrum " + kVit + kOnShoe + " --of values --baselines").status, 2);
}

TEST(SpectrumOf, OutputsAndTokensAreOnesOfALayer) {
  const nlohmann::json report = json_printed("spectrum " + kVit + kOnShoe + " --of output");
  ASSERT_EQ(report.at("maps").size(), 6U);
  EXPECT_TRUE(report["maps"][0].at("head").is_null());
  EXPECT_THAT(run_program("spectrum " + kVit + kOnShoe + " --of tokens").output,
              HasSubstr("  all "));
}

TEST(SpectrumBaselines, StandBesideEachMap) {
  const nlohmann::json report =
      json_printed("spectrum " + kLanguageModel + kOnText + " --layers 0 --baselines");
  for (const nlohmann::json& map : report.at("maps")) {
    const nlohmann::json& baselines = map.at("baselines");
    EXPECT_TRUE(baselines.at("causal"));
    EXPECT_NEAR(baselines.at("rank_over_null"),
                map.at("equivalent_rank").get<double>() / baselines.at("null_rank").get<double>(),
                1e-12);
    EXPECT_LE(baselines.at("block_rank"), baselines.at("block_extent"));
  }
  const ProgramRun table = run_program("spectrum " + kVit + kOnShoe + " --layers 0 --baselines");
  EXPECT_THAT(table.output, HasSubstr("rank /"));
  const ProgramRun csv =
      run_program("spectrum " + kVit + kOnShoe + " --layers 0 --centred --baselines --csv");
  EXPECT_THAT(csv.output, HasSubstr(",rank_over_null,"));
  EXPECT_THAT(csv.output, HasSubstr(",map,true,"));
}

TEST(ComponentsCommand, PrintsTableAndCsv) {
  const ProgramRun table = run_program("components " + kVit + kOnShoe + " --layers 5 --heads 0");
  EXPECT_EQ(table.status, 0) << table.errors;
  EXPECT_THAT(table.output, HasSubstr("keys read"));
  const ProgramRun csv =
      run_program("components " + kVit + kOnShoe + " --heads 0 --components 1 --csv");
  EXPECT_THAT(csv.output, HasSubstr(",query,"));
  EXPECT_EQ(run_program("components " + kVit + kOnShoe + " --heads 9").status, 2);
}

}  // namespace
}  // namespace attnscope
