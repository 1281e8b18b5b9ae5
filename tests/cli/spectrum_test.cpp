// attnscope spectrum, run from a shell.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "core/trace/trace_file.h"
#include "tests/cli/program.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

const std::string kSampleFiles = source_folder() + "/sample_data/";
const std::string kSoftmax = kSampleFiles + "models/fashion-softmax.h5";
const std::string kOnBoot = " --input " + kSampleFiles + "inputs/09_ankle_boot.png";

nlohmann::json json_of(const std::string& arguments) {
  const ProgramRun run = run_program("spectrum " + arguments + " --json");
  EXPECT_EQ(run.status, 0) << run.errors;
  return nlohmann::json::parse(run.output);
}

/// A trace file of this process, removed by the destructor.
class TraceFile {
 public:
  explicit TraceFile(const Trace& trace)
      : path_(std::filesystem::temp_directory_path() /
              ("attnscope_spectrum_" + std::to_string(::getpid()) + ".h5")) {
    write_trace(path_, trace);
  }
  ~TraceFile() { std::filesystem::remove(path_); }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

Trace trace_of(Tensor map) {
  Trace trace;
  trace.model_name = "by hand";
  trace.layers.emplace_back().implied_map = std::move(map);
  return trace;
}

TEST(SpectrumCommand, JsonHoldsEveryMap) {
  const nlohmann::json report = json_of(kSoftmax + kOnBoot);
  ASSERT_EQ(report.at("maps").size(), 18U);
  for (std::size_t i = 0; i < 18; ++i) {
    const nlohmann::json& map = report["maps"][i];
    EXPECT_EQ(map.at("layer"), i / 3);
    EXPECT_EQ(map.at("head"), i % 3);
    EXPECT_EQ(map.at("identity"), false);
    const std::vector<double> values = map.at("singular_values");
    ASSERT_EQ(values.size(), 197U);
    // Equivalent and stable rank are recomputed from the singular values in the report.
    double total = 0, squares = 0, sum = 0;
    for (const double value : values) total += value, squares += value * value;
    std::int64_t rank = 0;
    while (sum / total < 0.9) sum += values[static_cast<std::size_t>(rank++)];
    EXPECT_EQ(map.at("equivalent_rank"), rank);
    EXPECT_NEAR(map.at("stable_rank"), squares / (values[0] * values[0]), 1e-9);
    EXPECT_GT(map.at("symmetry_error"), 0.0);
  }
  EXPECT_EQ(report.at("layers").size(), 6U);
  EXPECT_EQ(report.at("mean").at("maps"), 18);
}

TEST(SpectrumCommand, IdentityIsAddedOnce) {
  const nlohmann::json with = json_of(kSoftmax + kOnBoot + " --identity with");
  for (const nlohmann::json& map : with.at("maps")) {
    EXPECT_EQ(map.at("identity"), true);
  }
  const std::string adder = kSampleFiles + "models/fashion-adder-identity.h5" + kOnBoot;
  EXPECT_EQ(json_of(adder).at("maps"), json_of(adder + " --identity with").at("maps"));
}

TEST(SpectrumCommand, SeveralInputsGiveTheMean) {
  const nlohmann::json report =
      json_of(kSoftmax + kOnBoot + " --input " + kSampleFiles + "inputs/01_trouser.png");
  EXPECT_EQ(report.at("inputs").size(), 2U);
  EXPECT_EQ(report.at("maps").size(), 36U);
  EXPECT_EQ(report.at("mean").at("maps"), 36);
  double mean = 0;
  for (const nlohmann::json& map : report["maps"])
    mean += map["equivalent_rank"].get<double>() / 36;
  EXPECT_NEAR(report["mean"].at("mean_rank"), mean, 1e-9);
}

TEST(SpectrumCommand, StacksTheRowsOfAllInputs) {
  const std::string twelve = " --dataset " + kSampleFiles + "inputs/twelve.npz --stacked";
  const nlohmann::json report = json_of(kSoftmax + twelve + " --of keys --share energy");
  EXPECT_EQ(report.at("inputs").size(), 12U);
  EXPECT_EQ(report.at("stacked"), true);
  ASSERT_EQ(report.at("maps").size(), 18U);
  EXPECT_EQ(report.at("maps")[0].at("input"), "12 inputs");
  EXPECT_EQ(report.at("maps")[0].at("tokens"), 12 * 197);
  EXPECT_EQ(report.at("maps")[0].at("singular_values").size(), 16U);
  const ProgramRun maps = run_program("spectrum " + kSoftmax + twelve);
  EXPECT_EQ(maps.status, 2) << maps.output;
  EXPECT_NE(maps.errors.find("a column per channel"), std::string::npos) << maps.errors;
}

TEST(SpectrumCommand, QuartilesAreOfTheRanksOfTheMaps) {
  const nlohmann::json report = json_of(kSoftmax + kOnBoot);
  std::vector<double> ranks;
  for (const nlohmann::json& map : report.at("maps")) ranks.push_back(map.at("equivalent_rank"));
  std::ranges::sort(ranks);
  ASSERT_EQ(ranks.size(), 18U);
  // They lie at a quarter, the half and three quarters of the way from the place 0 to 17.
  const nlohmann::json& mean = report.at("mean");
  EXPECT_NEAR(mean.at("rank_lower_quartile"), 0.75 * ranks[4] + 0.25 * ranks[5], 1e-9);
  EXPECT_NEAR(mean.at("rank_median"), (ranks[8] + ranks[9]) / 2, 1e-9);
  EXPECT_NEAR(mean.at("rank_upper_quartile"), 0.25 * ranks[12] + 0.75 * ranks[13], 1e-9);
  EXPECT_LT(mean.at("rank_median"), mean.at("rank_upper_quartile"));
}

TEST(SpectrumCommand, ReportsMapsWithoutASpectrum) {
  Tensor map({3, 4, 4});
  for (std::int64_t head = 0; head < 2; ++head) map.slice(head).setIdentity();
  map.slice(1)(2, 3) = std::numeric_limits<float>::quiet_NaN();
  const TraceFile trace(trace_of(std::move(map)));
  const nlohmann::json report = json_of(trace.path());
  EXPECT_EQ(report.at("maps")[0].at("equivalent_rank"), 4);
  EXPECT_EQ(report.at("maps")[1].at("state"), "NaN or Inf in the map");
  EXPECT_TRUE(report.at("maps")[1].at("equivalent_rank").is_null());
  EXPECT_EQ(report.at("maps")[2].at("state"), "all zero");
  EXPECT_EQ(report.at("mean").at("left_out"), 2);

  const ProgramRun table = run_program("spectrum " + trace.path());
  EXPECT_EQ(table.status, 0);
  EXPECT_NE(table.output.find("NaN or Inf in the map"), std::string::npos);
  const ProgramRun csv = run_program("spectrum " + trace.path() + " --csv");
  EXPECT_EQ(csv.output.find("nan"), std::string::npos) << csv.output;
}

TEST(SpectrumCommand, DoesNotReportAnIdentityThatIsAddedNowhere) {
  Tensor map({1, 5, 4});
  map.slice(0).setConstant(0.25F);
  map.slice(0)(2, 2) = 1;
  const TraceFile trace(trace_of(std::move(map)));
  const nlohmann::json report = json_of(trace.path() + " --identity with --proposition");
  EXPECT_EQ(report.at("identity"), false);
  const nlohmann::json& found = report.at("maps")[0];
  EXPECT_EQ(found.at("identity"), false);
  EXPECT_TRUE(found.at("symmetry_error").is_null());
  for (const char* name : {"predicted_rank_with_identity", "equivalent_rank_with_identity",
                           "rank_not_lower", "closer_to_linear"}) {
    EXPECT_TRUE(found.at("proposition_1").at(name).is_null()) << name;
  }
  const ProgramRun table =
      run_program("spectrum " + trace.path() + " --identity with --proposition");
  EXPECT_NE(table.output.find("maps without I"), std::string::npos) << table.output;
  EXPECT_NE(table.output.find("not square (H + I is not defined)"), std::string::npos)
      << table.output;
  EXPECT_EQ(table.output.find("of 0 maps"), std::string::npos) << table.output;
}

TEST(SpectrumCommand, UnknownValuesAreNotZero) {
  Tensor map({1, 4, 4});
  map.slice(0)(2, 3) = std::numeric_limits<float>::quiet_NaN();
  const TraceFile trace(trace_of(std::move(map)));
  const nlohmann::json report = json_of(trace.path());
  for (const char* name : {"mean_rank", "rank_of_mean_curve", "rank_median", "rank_minimum"}) {
    EXPECT_TRUE(report.at("layers")[0].at(name).is_null()) << name;
    EXPECT_TRUE(report.at("mean").at(name).is_null()) << name;
  }
  const ProgramRun table = run_program("spectrum " + trace.path());
  EXPECT_NE(table.output.find("all     0          –"), std::string::npos) << table.output;
}

TEST(SpectrumCommand, CollapsedMapsCanBeEstimated) {
  const nlohmann::json report =
      json_of(kSoftmax + kOnBoot + " --mechanism additive --method estimated");
  const nlohmann::json exact = json_of(kSoftmax + kOnBoot + " --mechanism additive --method dense");
  ASSERT_EQ(report.at("maps").size(), 18U);
  for (std::size_t i = 0; i < 18; ++i) {
    EXPECT_EQ(report["maps"][i].at("state"), "ready");
    EXPECT_EQ(report["maps"][i].at("equivalent_rank"), exact["maps"][i].at("equivalent_rank"));
  }
}

TEST(SpectrumCommand, EstimatedRanksAreMarked) {
  const std::string on_boot = "spectrum " + kSoftmax + kOnBoot + " --layers 0 --method ";
  const ProgramRun estimated = run_program(on_boot + "estimated");
  // Each head has an equivalent and an effective rank, and a note explains the sign.
  EXPECT_THAT(estimated.output, testing::ContainsRegex("    0     0  +≈ [0-9]+ +≈ [0-9.]+ "));
  EXPECT_THAT(estimated.output, testing::HasSubstr("ranks (≈) with 95 % intervals"));
  EXPECT_THAT(estimated.output, testing::ContainsRegex("effective rank ± [0-9.e-]+, sum of sigma"));
  EXPECT_THAT(run_program(on_boot + "dense").output, testing::Not(testing::HasSubstr("≈")));
}

TEST(SpectrumCommand, CsvHasARowForEachMapAndAsManyFields) {
  const ProgramRun run = run_program("spectrum " + kSoftmax + kOnBoot + " --csv");
  ASSERT_EQ(run.status, 0) << run.errors;
  std::istringstream lines(run.output);
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 18 + 197);
    ++count;
  }
  EXPECT_EQ(count, 19);
}

TEST(SpectrumCommand, ThePropositionStandsNextToTheExactValues) {
  const nlohmann::json report = json_of(kSoftmax + kOnBoot + " --proposition");
  for (const nlohmann::json& map : report.at("maps")) {
    const nlohmann::json& effect = map.at("proposition_1");
    const std::vector<double> without = effect.at("singular_values_without_identity");
    const std::vector<double> predicted = effect.at("predicted_singular_values");
    for (std::size_t t = 0; t < without.size(); ++t) EXPECT_EQ(predicted[t], without[t] + 1);
    EXPECT_GE(effect.at("equivalent_rank_with_identity"), map.at("equivalent_rank"));
    EXPECT_EQ(effect.at("rank_not_lower"), true);
    EXPECT_EQ(effect.at("share_is_concave"), true);
  }
}

TEST(SpectrumCommand, EveryChannelHasItsSpectra) {
  const std::string daft = kSampleFiles + "models/fashion-daft-conv.h5" + kOnBoot;
  const nlohmann::json of_mean = json_of(daft);
  EXPECT_EQ(of_mean.at("channels"), "mean of 16 channels");
  EXPECT_EQ(of_mean.at("maps")[0].at("channel"), "mean");
  const nlohmann::json third = json_of(daft + " --channel 2");
  EXPECT_EQ(third.at("channels"), "channel 2 of 16");
  const nlohmann::json all = json_of(daft + " --channel all");
  ASSERT_EQ(all.at("maps").size(), 16 * third.at("maps").size());
  double mean = 0;
  for (const nlohmann::json& map : all["maps"]) mean += map.at("equivalent_rank").get<double>();
  EXPECT_NEAR(all.at("mean").at("mean_rank").get<double>(),
              mean / static_cast<double>(all["maps"].size()), 1e-9);
  for (std::size_t i = 0; i < third["maps"].size(); ++i) {
    const nlohmann::json& map = all["maps"][2 * third["maps"].size() + i];
    EXPECT_EQ(map.at("channel"), 2);
    EXPECT_EQ(map.at("singular_values"), third["maps"][i].at("singular_values"));
  }
  const ProgramRun csv = run_program("spectrum " + daft + " --channel 1 --csv");
  EXPECT_NE(csv.output.find("input,layer,head,channel,identity"), std::string::npos);
  const ProgramRun wrong = run_program("spectrum " + daft + " --channel 16");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.errors.find("0 to 15"), std::string::npos) << wrong.errors;
  EXPECT_EQ(run_program("spectrum " + daft + " --channel first").status, 2);
  EXPECT_EQ(json_of(kSoftmax + kOnBoot + " --channel 2").at("channels"), nullptr);
}

TEST(SpectrumCommand, TakesTheShareOfSquaresOnRequest) {
  const std::string first = kSoftmax + kOnBoot + " --layers 0 --heads 0 --share energy";
  const nlohmann::json json = json_of(first);
  EXPECT_EQ(json.at("share"), "energy");
  const auto values = json.at("maps")[0].at("singular_values").get<std::vector<double>>();
  double all = 0, sum = 0;
  for (const double value : values) all += value * value;
  std::int64_t rank = 0;
  while (sum < 0.9 * all) {
    sum += std::pow(values[static_cast<std::size_t>(rank)], 2);
    ++rank;
  }
  EXPECT_EQ(json.at("maps")[0].at("equivalent_rank"), rank);
  EXPECT_THAT(run_program("spectrum " + first).output, testing::HasSubstr("hold 0.9 of Σσ²"));
  EXPECT_EQ(run_program("spectrum " + first + " --share cubes").status, 2);
}

TEST(SpectrumCommand, WrongUsageNamesARemedy) {
  const ProgramRun no_input = run_program("spectrum " + kSoftmax);
  EXPECT_EQ(no_input.status, 2);
  EXPECT_NE(no_input.errors.find("--input"), std::string::npos);
  EXPECT_EQ(run_program("spectrum " + kSoftmax + kOnBoot + " --threshold 0").status, 2);
  EXPECT_EQ(run_program("spectrum " + kSoftmax + kOnBoot + " --json --csv").status, 2);
  Tensor map({1, 2, 2});
  map.slice(0).setIdentity();
  const TraceFile trace(trace_of(std::move(map)));
  EXPECT_EQ(run_program("spectrum " + trace.path() + " --mechanism adder").status, 2);
  EXPECT_EQ(run_program("spectrum " + trace.path() + kOnBoot).status, 2);
}

TEST(SpectrumCommand, BothViewsOfTheIdentityStandNextToEachOther) {
  const std::string adder =
      kSampleFiles + "models/fashion-adder-identity.h5" + kOnBoot + " --layers 0";
  const nlohmann::json both = json_of(adder + " --identity both");
  // Each part equals a separate report, even if the maps of the model contain I.
  EXPECT_EQ(both.at("without").at("maps"), json_of(adder + " --identity without").at("maps"));
  EXPECT_EQ(both.at("with").at("maps"), json_of(adder + " --identity with").at("maps"));
  EXPECT_EQ(both["without"]["maps"][0].at("identity"), false);
  EXPECT_EQ(both["with"]["maps"][0].at("identity"), true);
  const ProgramRun csv = run_program("spectrum " + adder + " --identity both --csv");
  EXPECT_EQ(std::count(csv.output.begin(), csv.output.end(), '\n'), 7) << "a header and six maps";
}

TEST(SpectrumCommand, LayersAndHeadsAreSelections) {
  const nlohmann::json some = json_of(kSoftmax + kOnBoot + " --layers 1,4-5 --heads 0,2");
  ASSERT_EQ(some.at("maps").size(), 6U);
  const nlohmann::json all = json_of(kSoftmax + kOnBoot);
  for (const nlohmann::json& map : some["maps"]) {
    const std::size_t index = map["layer"].get<std::size_t>() * 3 + map["head"].get<std::size_t>();
    EXPECT_EQ(map, all["maps"][index]);
  }
  const ProgramRun none = run_program("spectrum " + kSoftmax + kOnBoot + " --heads 7");
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.errors.find("--model-heads"), std::string::npos) << none.errors;
  for (const char* wrong : {"--layers 3-1", "--layers x", "--heads 1,", "--heads -1"}) {
    EXPECT_EQ(run_program("spectrum " + kSoftmax + kOnBoot + " " + wrong).status, 2) << wrong;
  }
}

TEST(SpectrumCommand, CsvHoldsThePropositionToo) {
  const std::string common = kSoftmax + kOnBoot + " --layers 0 --proposition";
  const nlohmann::json effect = json_of(common).at("maps")[1].at("proposition_1");
  std::istringstream lines(run_program("spectrum " + common + " --csv").output);
  const auto fields = [&lines] {
    std::string line;
    std::getline(lines, line);
    std::istringstream stream(line);
    std::vector<std::string> row;
    for (std::string field; std::getline(stream, field, ',');) row.push_back(field);
    return row;
  };
  const std::vector<std::string> header = fields();
  (void)fields();
  const std::vector<std::string> row = fields();
  const auto value = [&](const std::string& name) {
    const auto place = std::find(header.begin(), header.end(), name);
    return place == header.end() ? std::string("no such column")
                                 : row.at(static_cast<std::size_t>(place - header.begin()));
  };
  EXPECT_EQ(value("rank_with_identity"),
            std::to_string(effect["equivalent_rank_with_identity"].get<std::int64_t>()));
  EXPECT_EQ(value("predicted_rank_with_identity"),
            std::to_string(effect["predicted_rank_with_identity"].get<std::int64_t>()));
  EXPECT_EQ(value("rank_not_lower"), effect["rank_not_lower"].get<bool>() ? "true" : "false");
}

}  // namespace
}  // namespace attnscope
