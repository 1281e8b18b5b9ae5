// attnscope compare, run from a shell.
#include <cstdio>
#include <filesystem>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/program.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

const std::string kModels = source_folder() + "/sample_data/models/";
const std::string kInputs = source_folder() + "/sample_data/inputs";
const std::string kPair = kModels + "fashion-softmax.h5 " + kModels + "fashion-adder.h5";
const std::string kOfBoot = " --input " + kInputs + "/09_ankle_boot.png";

TEST(CompareCommand, MarkdownHasATableForEachComparedModel) {
  const ProgramRun run = run_program("compare " + kPair + kOfBoot + " --format markdown");
  ASSERT_EQ(run.status, 0) << run.errors;
  EXPECT_TRUE(run.output.starts_with("### fashion-adder, fashion-softmax\n\n| layer | head | JS |"))
      << run.output;
  EXPECT_NE(run.output.find("\n| 0 | 0 | "), std::string::npos) << run.output;
}

TEST(CompareCommand, TextJsonAndCsvHoldTheSameNumbers) {
  const ProgramRun json_run = run_program("compare " + kPair + kOfBoot + " --json");
  ASSERT_EQ(json_run.status, 0) << json_run.errors;
  const auto json = nlohmann::json::parse(json_run.output);
  EXPECT_EQ(json.at("reference"), "fashion-softmax");
  const auto& compared = json.at("compared").at(0);
  const auto& map = compared.at("maps").at(4);
  const double bits = map.at("js_divergence_bits");
  EXPECT_GT(bits, 0);
  EXPECT_LT(bits, 1);
  EXPECT_EQ(map.at("row_js_divergence_bits").size(), 197U);
  EXPECT_EQ(
      map.at("rank_difference").get<double>(),
      map.at("equivalent_rank").get<double>() - map.at("reference_equivalent_rank").get<double>());
  for (const auto& layer : compared.at("layers")) {
    EXPECT_GT(layer.at("cka").get<double>(), 0);
    EXPECT_LE(layer.at("cka").get<double>(), 1);
  }

  const ProgramRun csv = run_program("compare " + kPair + kOfBoot + " --csv");
  ASSERT_EQ(csv.status, 0) << csv.errors;
  std::istringstream lines(csv.output);
  std::string header, line;
  std::getline(lines, header);
  EXPECT_TRUE(header.starts_with("subject,reference,layer,head,")) << header;
  for (int i = 0; i < 5; ++i) std::getline(lines, line);
  std::istringstream cells(line);
  std::vector<std::string> row;
  for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
  EXPECT_EQ(row.at(0), "fashion-adder");
  EXPECT_EQ(std::stod(row.at(7)), bits);

  const ProgramRun text = run_program("compare " + kPair + kOfBoot);
  ASSERT_EQ(text.status, 0) << text.errors;
  char shown[32];
  std::snprintf(shown, sizeof shown, "%.4f", bits);
  EXPECT_NE(text.output.find(shown), std::string::npos) << text.output;
  EXPECT_NE(text.output.find("layers by index, heads by index"), std::string::npos);
}

TEST(CompareCommand, CountsAgreementOverADataSet) {
  // The data set has two class folders with two images each.
  const TemporaryFolder folder;
  for (const char* file : {"07_sneaker.png", "10_sneaker.png"}) {
    std::filesystem::create_directories(folder / "a");
    std::filesystem::copy(kInputs + "/" + file, folder / "a" / file);
  }
  for (const char* file : {"08_bag.png", "03_dress.png"}) {
    std::filesystem::create_directories(folder / "b");
    std::filesystem::copy(kInputs + "/" + file, folder / "b" / file);
  }
  const ProgramRun run = run_program("compare " + kPair + " " + kModels +
                                     "fashion-softmax.h5@adder --match-heads --dataset " +
                                     folder.path().string() + " --count 3 --json");
  ASSERT_EQ(run.status, 0) << run.errors;
  const auto json = nlohmann::json::parse(run.output);
  EXPECT_EQ(json.at("compared").size(), 2U);
  const auto& compared = json.at("compared").at(0);
  EXPECT_EQ(compared.at("items"), 3);
  EXPECT_EQ(compared.at("predictions").at("items"), 3);
  EXPECT_TRUE(compared.at("maps").at(0).contains("js_divergence_bits_standard_deviation"));
  EXPECT_EQ(json.at("heads"), "matched");
}

TEST(CompareCommand, AModelMayRunOnAnInputOfItsOwn) {
  const std::string model = kModels + "fashion-softmax.h5";
  const ProgramRun own = run_program("compare " + model + " " + model + "@,input=" + kInputs +
                                     "/03_dress.png --input " + kInputs + "/08_bag.png --json");
  const ProgramRun both = run_program("compare " + model + " --input " + kInputs +
                                      "/08_bag.png --input " + kInputs + "/03_dress.png --json");
  ASSERT_EQ(own.status, 0) << own.errors;
  ASSERT_EQ(both.status, 0) << both.errors;
  const auto maps = [](const ProgramRun& run) {
    return nlohmann::json::parse(run.output).at("compared").at(0).at("maps");
  };
  EXPECT_EQ(maps(own), maps(both));
  EXPECT_NE(own.output.find("fashion-softmax on 03_dress.png"), std::string::npos);

  const ProgramRun refused =
      run_program("compare " + model + " " + model + "@,input=" + kInputs +
                  "/03_dress.png --dataset " + source_folder() + "/tests/data/sweep/images.npz");
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.errors.find("all models must run on the same input"), std::string::npos)
      << refused.errors;
}

TEST(CompareCommand, ReportsErrors) {
  const auto refused = [](const std::string& arguments, const std::string& text, int status = 2) {
    const ProgramRun run = run_program("compare " + arguments);
    EXPECT_EQ(run.status, status) << arguments;
    EXPECT_NE(run.errors.find(text), std::string::npos) << run.errors;
  };
  refused(kModels + "fashion-softmax.h5" + kOfBoot, "a reference and another model");
  refused(kPair, "needs an input");
  refused(kPair + kOfBoot + " --align size", "index, depth");
  refused(kPair + kOfBoot + " --identity maybe", "as-is, without, with");
  refused(kPair + kOfBoot + " --dataset x", "--input or --dataset");
  refused(kPair + kOfBoot + " --threshold 2", "threshold");
}

TEST(CompareCommand, BothViewsOfTheIdentityEqualSeparateRuns) {
  const auto maps = [](const std::string& view, std::size_t index) {
    const ProgramRun run = run_program("compare " + kPair + kOfBoot + " --json --identity " + view);
    EXPECT_EQ(run.status, 0) << run.errors;
    return nlohmann::json::parse(run.output).at("compared").at(index).at("maps");
  };
  EXPECT_EQ(maps("both", 0), maps("without", 0));
  EXPECT_EQ(maps("both", 1), maps("with", 0));
}

}  // namespace
}  // namespace attnscope
