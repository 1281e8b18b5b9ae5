// attnscope truncate and ablate with their figures, mixing, lens and weights, run from a shell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/cli/program.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

const std::string kSampleModels = source_folder() + "/sample_data/models/";
const std::string kTwelve = " --dataset " + source_folder() + "/sample_data/inputs/twelve.npz";
const std::string kOnTheBoot =
    " --input " + source_folder() + "/sample_data/inputs/09_ankle_boot.png";
const std::string kOnTheWords = " --input text:To-be-or-not-to-be";

nlohmann::json json_of_run(const std::string& command) {
  const ProgramRun run = run_program(command + " --json");
  EXPECT_EQ(run.status, 0) << run.errors;
  return nlohmann::json::parse(run.output);
}

TEST(TruncateCommand, CutsToPowersOfTwoWhereNoRanksAreNamed) {
  const nlohmann::json report = json_of_run("truncate " + kSampleModels + "fashion-softmax.h5" +
                                            kTwelve + " --count 1 --layers 0 --baselines");
  const nlohmann::json& series = report.at("series").at(0);
  ASSERT_EQ(series.at("outcomes").size(), 9U) << "whole, and 1, 2, 4 … 128 of 197";
  EXPECT_EQ(series["outcomes"][8].at("rank"), 128);
  EXPECT_GT(series.at("mean_null_rank"), series.at("mean_equivalent_rank"));
}

TEST(TruncateCommand, KeepsItsAnswersForAFigure) {
  const TemporaryFolder folder;
  const std::string file = (folder / "t.h5").string();
  const std::string command = "truncate " + kSampleModels + "fashion-adder-identity.h5" + kTwelve +
                              " --ranks 1,4 --cut both --rows both --out " + file;
  const ProgramRun first = run_program(command);
  EXPECT_EQ(first.status, 0) << first.errors;
  EXPECT_THAT(first.output, HasSubstr("A_r + I"));
  EXPECT_THAT(first.output, HasSubstr("(A + I)_r, rows to their sums"));
  EXPECT_THAT(run_program(command).errors, HasSubstr("holds this study already"));
  EXPECT_EQ(run_program(command + " --count 3").status, 2) << "another study's file is kept";
  const std::string csv = (folder / "f.csv").string();
  const ProgramRun figure =
      run_program("figure rank-accuracy --set file=" + file + " --out " + csv);
  EXPECT_EQ(figure.status, 0) << figure.errors;
  EXPECT_EQ(run_program("figure ablation --set file=" + file + " --out " + csv).status, 2);
}

TEST(TruncateCommand, ReportsBitsPerCharacterForTexts) {
  const nlohmann::json report = json_of_run("truncate " + kSampleModels + "shakespeare-softmax.h5" +
                                            kOnTheWords + " --ranks 1");
  EXPECT_TRUE(report.at("of_text"));
  const nlohmann::json& outcomes = report["series"][0]["outcomes"];
  EXPECT_GT(outcomes[1].at("divergence"), 0);
  EXPECT_FALSE(outcomes[0].at("bits_per_character").is_null());
  EXPECT_EQ(run_program("truncate " + kSampleModels + "shakespeare-softmax.h5 --ranks 1").status,
            2);
}

const std::string kPatchedWords = "patch " + kSampleModels +
                                  "shakespeare-softmax.h5 --input 'text:I know what you' --from "
                                  "'text:I know what wou' --answer l --against ' '";

TEST(PatchCommand, PrintsATableOfHeadsOrOfTokens) {
  const ProgramRun heads = run_program(kPatchedWords + " --layers 0-2");
  EXPECT_EQ(heads.status, 0) << heads.errors;
  EXPECT_THAT(heads.output, HasSubstr("head 3"));
  const nlohmann::json report = json_of_run(kPatchedWords + " --of residual");
  EXPECT_LT(report.at("corrupted"), 0);
  EXPECT_GT(report.at("clean"), 0);
  ASSERT_EQ(report.at("places").size(), 15U * 6U);
  for (const nlohmann::json& place : report["places"]) {
    // The only token that differs is all that the first layer can see of the other text.
    const double expected = place["position"] == 12 ? 1 : 0;
    if (place["layer"] == 0) {
      EXPECT_NEAR(place.at("effect"), expected, 1e-4) << place;
    }
    if (place["position"] < 12) {
      EXPECT_EQ(place["effect"], 0) << place;
    }
  }
  EXPECT_THAT(run_program(kPatchedWords + " --of residual").output, HasSubstr("y ← w"));
}

TEST(PatchCommand, PatchesPathsAndPlacesTogether) {
  const nlohmann::json paths = json_of_run(kPatchedWords + " --to 3.0.query --freeze-mlps");
  EXPECT_EQ(paths.at("places").size(), 3U * 4U);
  const nlohmann::json all =
      json_of_run(kPatchedWords + " --of residual --layers 5 --together --positions 12-14");
  EXPECT_NEAR(all.at("together").at("effect"), 1, 1e-4);
}

TEST(PatchCommand, NamesWhatDoesNotFit) {
  const std::string command = "patch " + kSampleModels + "shakespeare-softmax.h5 --input text:you ";
  EXPECT_THAT(run_program(command + "--from text:would").errors, HasSubstr("5 tokens"));
  EXPECT_THAT(run_program(command + "--from text:wou --answer the --against a").errors,
              HasSubstr("one token"));
  EXPECT_EQ(run_program(command + "--from text:wou --to 3.0.mlp").status, 2);
}

TEST(WeightsCommand, NamesAModelByItsOwnAttentionPlainly) {
  for (const char* const model : {"fashion-adder", "fashion-adder-identity", "fashion-softmax"}) {
    const ProgramRun run = run_program("weights " + kSampleModels + model + ".h5");
    EXPECT_THAT(run.output, testing::StartsWith(std::string(model) + ": W_OV")) << run.errors;
  }
  EXPECT_THAT(run_program("weights " + kSampleModels + "fashion-softmax.h5@adder").output,
              testing::StartsWith("fashion-softmax with adder"));
}

TEST(WeightsCommand, RefusesWqkWhereNothingIsMultiplied) {
  for (const char* const model : {"fashion-adder", "fashion-daft-full"}) {
    const ProgramRun run = run_program("weights " + kSampleModels + model + ".h5 --of qk");
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.errors, HasSubstr("does not score by q·k")) << model;
  }
}

TEST(LensCommand, ReportsThatAdderLayersAreNotLinear) {
  const ProgramRun run =
      run_program("lens " + kSampleModels + "fashion-adder-network.h5" + kOnTheBoot + " --by-head");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.errors, HasSubstr("adder layers, which take distances"));
}

TEST(AblateCommand, HasATableAndAFigure) {
  const TemporaryFolder folder;
  const std::string file = (folder / "a.h5").string();
  const ProgramRun run = run_program("ablate " + kSampleModels + "fashion-softmax.h5" + kTwelve +
                                     " --count 4 --by mean --out " + file);
  EXPECT_EQ(run.status, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("mean over the data set"));
  const ProgramRun figure =
      run_program("figure ablation --set file=" + file + " --out " + (folder / "a.csv").string());
  EXPECT_EQ(figure.status, 0) << figure.errors;
  EXPECT_EQ(
      run_program("ablate " + kSampleModels + "fashion-softmax.h5" + kTwelve + " --by head").status,
      2)
      << "which head is not said";
}

TEST(AblateCommand, ReportsHowOneAnswerChanges) {
  const nlohmann::json report =
      json_of_run("ablate " + kSampleModels + "fashion-softmax.h5" + kOnTheBoot +
                  " --by mechanism --other linear --answers 2");
  const nlohmann::json& answers = report["series"][0]["answers"];
  ASSERT_GE(answers.size(), 2U);
  EXPECT_EQ(answers[0].at("label"), "Ankle boot");
  EXPECT_NE(answers[0].at("logit_before"), answers[0].at("logit_after"));
}

TEST(MixingCommand, RowsOfARolloutSumToOne) {
  const nlohmann::json report = json_of_run("mixing " + kSampleModels + "fashion-softmax.h5" +
                                            kOnTheBoot + " --by alti --rollout");
  double sum = 0;
  for (const nlohmann::json& value : report["mixing"][0]["matrix"][0]) sum += value.get<double>();
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_EQ(run_program("mixing " + kSampleModels + "fashion-adder.h5" + kOnTheBoot + " --by norms")
                .status,
            0);
}

TEST(MixingCommand, NamesAllHeadsInEveryFormatButJson) {
  const std::string mixing =
      "mixing " + kSampleModels + "fashion-softmax.h5" + kOnTheBoot + " --layers 0";
  EXPECT_THAT(run_program(mixing + " --csv").output,
              testing::StartsWith("model,layer,head,query,key,value\nfashion-softmax,0,all,0,0,"));
  EXPECT_THAT(
      run_program(mixing + " --format markdown").output,
      testing::StartsWith(
          "### fashion-softmax\n\n| layer | head | mixing ratio | own share | strongest keys "
          "|\n|--:|--:|--:|--:|---|\n| 0 | all | "));
  EXPECT_TRUE(json_of_run(mixing)["mixing"][0].at("head").is_null());
}

TEST(LensCommand, EndsAtTheModelsOwnAnswer) {
  const ProgramRun run = run_program("lens " + kSampleModels + "fashion-softmax.h5" + kOnTheBoot);
  EXPECT_EQ(run.status, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("Ankle boot"));
  const nlohmann::json report = json_of_run("lens " + kSampleModels + "shakespeare-softmax.h5" +
                                            kOnTheWords + " --by-head --target 5");
  const nlohmann::json& one = report["models"][0];
  double sum = one["embedding"].get<double>() + one["constant"].get<double>();
  for (const nlohmann::json& layer : one["layers"]) {
    sum += layer["bias"].get<double>() + layer["rest"].get<double>();
    for (const nlohmann::json& head : layer["heads"]) sum += head.get<double>();
  }
  EXPECT_NEAR(sum, one["logit"].get<double>(), 1e-9);
}

TEST(WeightsCommand, ReportsRanksWithoutAnInput) {
  const nlohmann::json report =
      json_of_run("weights " + kSampleModels + "fashion-softmax.h5 --of qk");
  for (const nlohmann::json& head : report["models"][0]["heads"]) {
    EXPECT_LE(std::abs(head.at("copying").get<double>()), 1);
    EXPECT_LE(std::abs(head.at("directionality").get<double>()), 1);
    EXPECT_NEAR(head.at("symmetry").get<double>(), 0.5, 0.5);
    EXPECT_FALSE(head.at("singular_values").empty());
  }
  const nlohmann::json ov = json_of_run("weights " + kSampleModels + "fashion-softmax.h5");
  EXPECT_TRUE(ov["models"][0]["heads"][0].at("symmetry").is_null()) << "not of W_OV";
}

TEST(WeightsCommand, ListsTheStrongestPairsOfHeads) {
  const std::string command =
      "weights " + kSampleModels + "shakespeare-softmax.h5 --of k-composition";
  const ProgramRun run = run_program(command + " --top 3");
  EXPECT_THAT(run.output, HasSubstr("the strongest 3 of 240 pairs")) << run.errors;
  const nlohmann::json pairs = json_of_run(command)["models"][0]["pairs"];
  EXPECT_EQ(pairs.size(), 240U);
  const nlohmann::json of_heads = json_of_run(command + " --heads 1,2")["models"][0]["pairs"];
  EXPECT_EQ(of_heads.size(), 60U);
}

TEST(WeightsCommand, PrintsOneRowPerMatrixAndNarrowText) {
  const std::string command = "weights " + kSampleModels + "fashion-softmax.h5 --of matrices";
  const std::string minus = " --minus " + kSampleModels + "fashion-hash.h5";
  const std::string csv = run_program(command + minus + " --csv").output;
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 6 * 6) << csv;
  for (const std::string& text :
       {run_program(command + minus).output,
        run_program("weights " + kSampleModels + "shakespeare-softmax.h5 --of qk").output}) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto characters = std::ranges::count_if(
          line, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; });
      EXPECT_LE(characters, 100) << line;
    }
  }
}

TEST(WeightsCommand, RefusesWhatItsRowsAreNot) {
  const std::string model = "weights " + kSampleModels + "fashion-softmax.h5";
  EXPECT_THAT(run_program(model + " --of matrices --heads 0").errors, HasSubstr("--heads"));
  EXPECT_THAT(run_program(model + " --minus " + kSampleModels + "fashion-hash.h5").errors,
              HasSubstr("expected --of matrices"));
  const ProgramRun run =
      run_program(model + " --of matrices --minus " + kSampleModels + "shakespeare-softmax.h5");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.errors, HasSubstr("shakespeare-softmax.h5: layer 0, query: the matrices differ"));
}

}  // namespace
}  // namespace attnscope
