// attnscope spectrum --of, --centred and --baselines, and attnscope components, run from a shell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

#include "analysis/matrix/analysed_matrix.h"
#include "core/input/input.h"
#include "core/model/subject.h"
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

TEST(MatrixKind, KeepsTheBoundsOfRealModels) {
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

TEST(MatrixKind, SpectraWithAddedTermsAgreeWithTheAnalysis) {
  // tests/analysis/matrix/added_test.cpp compares these spectra with PyTorch.
  Subject subject;
  subject.model = load_model(kVit);
  subject.mechanism = subject.model->spec().mechanism;
  const Input shoe = open_input(kSampleSet + "inputs/09_ankle_boot.png");
  TraceRequest request;
  request.queries_keys_values = request.tokens = true;
  subject.trace =
      std::make_shared<const Trace>(subject.model->run(shoe, subject.mechanism, request, {}));
  const auto values_of = [&subject](const MatrixChoice& analysed) {
    const auto spectra = spectra_of(subject, analysed, {.layers = {3}});
    return spectra.at(0).singular_values;
  };
  const nlohmann::json with =
      json_printed("spectrum " + kVit + kOnShoe + " --layers 3 --of output --added residual");
  const nlohmann::json without =
      json_printed("spectrum " + kVit + kOnShoe + " --layers 3 --of output");
  EXPECT_EQ(with.at("added"), "residual");
  ASSERT_EQ(with.at("maps").size(), 1U);
  const auto expect_values = [](const nlohmann::json& printed, const auto& expected) {
    const auto values = printed["maps"][0]["singular_values"].get<std::vector<double>>();
    EXPECT_THAT(values, testing::Pointwise(testing::DoubleNear(1e-9 * values.at(0)), expected));
  };
  expect_values(with, values_of({MatrixKind::output, false, Added::residual}));
  expect_values(without, values_of({MatrixKind::output}));
  const std::string daft = "spectrum " + kSampleSet + "models/fashion-daft-conv.h5" + kOnShoe +
                           " --channel 0 --layers 0 --added ";
  const nlohmann::json apart = json_printed(daft + "without-convolution");
  for (const nlohmann::json& map : apart.at("maps")) {
    EXPECT_EQ(map.at("equivalent_rank"), 1) << "what all queries see alike";
  }
  const nlohmann::json together = json_printed(daft + "convolution");
  for (const nlohmann::json& map : together.at("maps")) {
    EXPECT_GT(map.at("equivalent_rank"), 1);
  }
}

TEST(Baselines, StandNextToEveryTableOfRanks) {
  const nlohmann::json spectrum =
      json_printed("spectrum " + kVit + kOnShoe + " --layers 0 --baselines");
  const nlohmann::json& layer = spectrum.at("layers").at(0);
  double sum = 0;
  for (const nlohmann::json& map : spectrum.at("maps")) {
    sum += map.at("baselines").at("rank_over_null").get<double>() / 3;
  }
  EXPECT_NEAR(layer.at("mean_rank_over_null").get<double>(), sum, 1e-9);
  const nlohmann::json heads =
      json_printed("heads " + kVit + kOnShoe + " --layers 0 --baselines").at("subjects").at(0);
  const nlohmann::json compared =
      json_printed("compare " + kVit + " " + kVit + "@adder" + kOnShoe + " --baselines");
  for (std::size_t head = 0; head < 3; ++head) {
    const nlohmann::json& map = spectrum["maps"][head]["baselines"];
    EXPECT_EQ(heads.at("heads").at(head).at("null_rank"), map.at("null_rank"));
    EXPECT_EQ(heads["heads"][head].at("rank_over_null"), map.at("rank_over_null"));
    EXPECT_EQ(compared.at("compared").at(0).at("maps").at(head).at("reference_rank_over_null"),
              map.at("rank_over_null"));
  }
  EXPECT_THAT(run_program("spectrum " + kVit + kOnShoe + " --layers 0 --baselines").output,
              HasSubstr("rank / null"));
  EXPECT_THAT(run_program("heads " + kVit + kOnShoe + " --layers 0 --baselines").output,
              HasSubstr("rank/null"));
}

TEST(EqualEntropy, StandsNextToEveryTableOfRanks) {
  const nlohmann::json spectrum =
      json_printed("spectrum " + kVit + kOnShoe + " --layers 0 --at-entropy 0.6");
  EXPECT_EQ(spectrum.at("at_entropy"), 0.6);
  const nlohmann::json heads =
      json_printed("heads " + kVit + kOnShoe + " --layers 0 --at-entropy 0.6").at("subjects").at(0);
  const nlohmann::json compared =
      json_printed("compare " + kVit + "@adder " + kVit + kOnShoe + " --at-entropy 0.6");
  for (std::size_t head = 0; head < 3; ++head) {
    const nlohmann::json& map = spectrum["maps"][head];
    EXPECT_GT(map.at("rank_at_entropy").get<double>(), 1);
    for (const char* const key : {"rank_at_entropy", "entropy_temperature"}) {
      EXPECT_EQ(heads.at("heads").at(head).at(key), map.at(key));
    }
    const nlohmann::json& beside = compared.at("compared").at(0).at("maps").at(head);
    EXPECT_EQ(beside.at("rank_at_entropy"), map.at("rank_at_entropy"));
    EXPECT_EQ(beside.at("equal_entropy"), 0.6);
  }
  for (const std::string command : {"spectrum ", "heads "}) {
    EXPECT_THAT(run_program(command + kVit + kOnShoe + " --layers 0 --at-entropy 0.6").output,
                HasSubstr("rank at"));
  }
  EXPECT_THAT(
      run_program("compare " + kVit + " " + kVit + "@adder" + kOnShoe + " --at-entropy reference")
          .output,
      HasSubstr("is the reference's; ref./H: the reference's rank there"));
  for (const std::string refused :
       {"--at-entropy 0", "--at-entropy 1.5", "--at-entropy 0.5 --of scores"}) {
    EXPECT_NE(run_program("spectrum " + kVit + kOnShoe + " " + refused).status, 0) << refused;
    EXPECT_NE(run_program("compare " + kVit + " " + kVit + kOnShoe + " " + refused).status, 0);
  }
  EXPECT_THAT(run_program("heads " + kVit + "@performer" + kOnShoe + " --at-entropy 0.5").errors,
              HasSubstr("performer attention has no temperature"));
}

TEST(RelevanceCommand, AttributesEachClassToTokens) {
  const nlohmann::json list =
      json_printed("relevance " + kVit + kOnShoe + " --targets 7,9").at("relevance");
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].at("target"), 7);
  EXPECT_EQ(list[0].at("tokens").size(), 197U);
  EXPECT_GE(list[0]["tokens"][0].get<double>(), 1) << "the class token has its own";
  EXPECT_NE(list[0]["tokens"], list[1]["tokens"]);
  const nlohmann::json text =
      json_printed("relevance " + kLanguageModel + kOnText + " --place 4").at("relevance");
  EXPECT_EQ(text.at(0).at("place"), 4);
  EXPECT_EQ(text[0].at("tokens").at(5), 0) << "what comes later is not seen";
  const nlohmann::json hashed =
      json_printed("relevance " + kSampleSet + "models/fashion-hash.h5" + kOnShoe).at("relevance");
  EXPECT_EQ(hashed.at(0).at("tokens").size(), 197U) << "gradients pass learned codes";
  EXPECT_THAT(
      run_program("relevance " + kSampleSet + "models/shakespeare-fastformer.h5" + kOnText).errors,
      HasSubstr("gradients are not implemented"));
}

TEST(CompareOf, SpectraRanksAndDistancesFollowTheChosenMatrix) {
  const std::string two = "compare " + kVit + " " + kVit + "@adder" + kOnShoe;
  const nlohmann::json seen = json_printed(two + " --of seen-by-values --centred");
  EXPECT_EQ(seen.at("of"), "seen-by-values");
  EXPECT_EQ(seen.at("centred"), true);
  EXPECT_EQ(seen.at("added"), "none");
  const nlohmann::json& compared = seen.at("compared").at(0);
  EXPECT_THAT(compared.at("left_out").get<std::string>(), HasSubstr("no divergences"));
  const nlohmann::json spectrum =
      json_printed("spectrum " + kVit + kOnShoe + " --of seen-by-values --centred");
  ASSERT_EQ(compared.at("maps").size(), spectrum.at("maps").size());
  for (std::size_t i = 0; i < spectrum["maps"].size(); ++i) {
    const nlohmann::json& map = compared["maps"][i];
    EXPECT_EQ(map.at("reference_equivalent_rank"), spectrum["maps"][i].at("equivalent_rank"));
    EXPECT_TRUE(map.at("js_divergence_bits").is_null());
    EXPECT_FALSE(map.at("frobenius_distance").is_null());
  }
  const nlohmann::json output = json_printed(two + " --of output");
  EXPECT_TRUE(output.at("compared").at(0).at("maps").at(0).at("head").is_null());
  EXPECT_FALSE(output["compared"][0]["maps"][0].at("frobenius_distance").is_null())
      << "the same weights";
  const std::string others = "compare " + kVit + " " + kSampleSet + "models/fashion-adder.h5" +
                             kOnShoe + " --of head-output";
  EXPECT_THAT(run_program(others).output, HasSubstr("columns are channels of other weights"));
  EXPECT_THAT(run_program(others).output, HasSubstr("of: head outputs A V"));
  EXPECT_THAT(run_program(two + " --of output --csv").output,
              HasSubstr("identity,of,centred,added"));
  EXPECT_EQ(run_program(two + " --of scores --identity with").status, 2);
  EXPECT_EQ(run_program(two + " --of scores --baselines").status, 2);
  EXPECT_EQ(run_program(two + " --of output --match-heads").status, 2);
  EXPECT_EQ(run_program(two + " --added residual").status, 2);
}

TEST(HeadsOfCommand, OnlyRanksFollowTheChosenMatrix) {
  const std::string command = "heads " + kVit + kOnShoe + " --layers 2";
  const nlohmann::json plain = json_printed(command).at("subjects").at(0).at("heads");
  const nlohmann::json report = json_printed(command + " --of norm-weighted");
  EXPECT_EQ(report.at("of"), "norm-weighted");
  const nlohmann::json weighted = report.at("subjects").at(0).at("heads");
  const nlohmann::json spectrum =
      json_printed("spectrum " + kVit + kOnShoe + " --layers 2 --of norm-weighted").at("maps");
  ASSERT_EQ(weighted.size(), spectrum.size());
  for (std::size_t head = 0; head < weighted.size(); ++head) {
    EXPECT_EQ(weighted[head].at("equivalent_rank"), spectrum[head].at("equivalent_rank"));
    EXPECT_EQ(weighted[head].at("entropy"), plain[head].at("entropy"));
    EXPECT_TRUE(weighted[head].at("rank_without_sinks").is_null());
  }
  const std::string text = run_program(command + " --of norm-weighted").output;
  EXPECT_THAT(text, HasSubstr("rank of norm-weighted"));
  EXPECT_THAT(text, HasSubstr("of the norm-weighted attention maps"));
  EXPECT_THAT(run_program(command + " --of scores --csv").output, HasSubstr(",of,centred,added\n"));
  EXPECT_EQ(run_program(command + " --of tokens").status, 2);
  EXPECT_EQ(run_program(command + " --of scores --baselines").status, 2);
}

TEST(ComponentsOfCommand, NamesRowsAndColumns) {
  const std::string command = "components " + kVit + kOnShoe + " --layers 1 --components 2";
  const nlohmann::json report = json_printed(command + " --of values");
  EXPECT_EQ(report.at("rows"), "keys");
  EXPECT_EQ(report.at("columns"), "channels");
  const nlohmann::json& first = report.at("subjects").at(0).at("maps").at(0).at("components").at(0);
  EXPECT_EQ(first.at("keys").size(), 197U);
  EXPECT_EQ(first.at("channels").size(), 16U);
  const nlohmann::json spectrum =
      json_printed("spectrum " + kVit + kOnShoe + " --layers 1 --of values").at("maps");
  EXPECT_NEAR(first.at("sigma").get<double>(),
              spectrum.at(0).at("singular_values").at(0).get<double>(), 1e-5);
  EXPECT_TRUE(json_printed(command + " --of tokens")
                  .at("subjects")
                  .at(0)
                  .at("maps")
                  .at(0)
                  .at("head")
                  .is_null());
  EXPECT_THAT(run_program(command + " --of output").output, HasSubstr("channels; queries using"));
  EXPECT_THAT(run_program(command + " --of scores").output, HasSubstr("of: scores before bias"));
  EXPECT_THAT(run_program(command + " --of values --csv").output,
              HasSubstr("of,index,value,analysed,centred,added"));
  EXPECT_EQ(run_program(command + " --of scores --identity both").status, 2);
  EXPECT_EQ(run_program(command + " --of output --heads 0").status, 2);
}

TEST(MatrixKind, RefusesUndefinedMatrices) {
  EXPECT_THAT(run_program("spectrum " + kVit + kOnShoe + " --added residual").errors,
              HasSubstr("added to outputs, not to maps"));
  EXPECT_THAT(run_program("spectrum " + kVit + kOnShoe + " --added convolution").errors,
              HasSubstr("adds no convolution"));
  EXPECT_THAT(run_program("spectrum " + kLanguageModel + kOnText + " --of log-map").errors,
              HasSubstr("not above 0"));
  EXPECT_EQ(run_program("spectrum " + kVit + kOnShoe + " --of scores --identity with").status, 2);
  EXPECT_EQ(run_program("spectrum " + kVit + kOnShoe + " --of output --heads 0").status, 2);
  EXPECT_EQ(run_program("spectrum " + kVit + kOnShoe + " --of values --baselines").status, 2);
}

TEST(MatrixKind, OutputsAndTokensHaveOneMatrixPerLayer) {
  const nlohmann::json report = json_printed("spectrum " + kVit + kOnShoe + " --of output");
  ASSERT_EQ(report.at("maps").size(), 6U);
  EXPECT_TRUE(report["maps"][0].at("head").is_null());
  EXPECT_THAT(run_program("spectrum " + kVit + kOnShoe + " --of tokens").output,
              HasSubstr("  all "));
}

TEST(SpectrumBaselines, StandNextToEachMap) {
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
  EXPECT_THAT(csv.output,
              testing::StartsWith("model,input,layer,head,identity,component,sigma,share,"
                                  "share_of_squares,of,token,value\n"));
  EXPECT_THAT(csv.output, HasSubstr(",query,"));
  EXPECT_THAT(
      run_program("components " + kVit + kOnShoe + " --heads 0 --format markdown").output,
      HasSubstr("\n| layer | head | I | k | sigma | of sum | of squares | keys read; queries "
                "using |\n|--:|--:|--:|--:|--:|--:|--:|---|\n| 0 | 0 | no | 1 | "));
  EXPECT_EQ(run_program("components " + kVit + kOnShoe + " --heads 9").status, 2);
}

}  // namespace
}  // namespace attnscope
