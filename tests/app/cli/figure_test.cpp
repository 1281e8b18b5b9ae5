// The subcommands figure, list figures and first-minute, run from a shell.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/app/cli/ran.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

class FigureCommand : public testing::Test {
 protected:
  [[nodiscard]] std::string out(const std::string& name) const { return (folder_ / name).string(); }

  [[nodiscard]] static std::string models() {
    return " " + samples + "models/fashion-softmax.h5 " + samples +
           "models/fashion-adder.h5 --input " + samples + "inputs/00_t_shirt.png ";
  }

  [[nodiscard]] static nlohmann::json read(const std::string& file) {
    std::ifstream in(file);
    return nlohmann::json::parse(in);
  }

  TemporaryFolder folder_;
};

TEST_F(FigureCommand, ListsFiguresWithTheirSettings) {
  const Ran ran = run(program + "list figures");
  EXPECT_EQ(ran.status, 0);
  for (const char* expected : {"cumulative-spectrum", "attention-maps", "attention-overlay",
                               "rank-by-layer", "threshold=0.9", "Adder, Fig. 2"}) {
    EXPECT_NE(ran.output.find(expected), std::string::npos) << expected;
  }
}

TEST_F(FigureCommand, ListsTheTypesOfSettingsAsJson) {
  const Ran ran = run(program + "list figures --json");
  ASSERT_EQ(ran.status, 0) << ran.output;
  const nlohmann::json figures = nlohmann::json::parse(ran.output);
  ASSERT_FALSE(figures.empty());
  for (const nlohmann::json& figure : figures) {
    for (const char* key : {"name", "title", "needs", "settings"}) {
      EXPECT_TRUE(figure.contains(key)) << figure;
    }
  }
}

TEST_F(FigureCommand, NumbersLayersFromTheGivenStart) {
  const auto ticks = [&](const std::string& words) {
    const std::string file = out("layers.json");
    const Ran ran = run(program + "figure rank-by-layer" + models() + words + " --out " + file);
    EXPECT_EQ(ran.status, 0) << ran.output;
    return read(file).at("panels").at(0).at("x").at("ticks").at(0).at("label").get<std::string>();
  };
  EXPECT_EQ(ticks(""), "0");
  EXPECT_EQ(ticks(" --layers-from 1"), "1");
}

TEST_F(FigureCommand, ItsCommandMakesTheSameFile) {
  const std::string file = out("f.json");
  const Ran ran = run(program + "figure cumulative-spectrum" + models() +
                      "--set threshold=0.8 --set layer=0,2 --width 100 --label 'S M' --label A "
                      "--out " +
                      file);
  ASSERT_EQ(ran.status, 0) << ran.output;
  EXPECT_EQ(ran.output.find(file + ": "), 0U) << ran.output;
  const nlohmann::json once = read(file);
  EXPECT_EQ(once.at("width_mm"), 100);
  EXPECT_EQ(once.at("numbers").count("equivalent_rank/S M"), 1U);
  std::string command = once.at("command");
  ASSERT_EQ(command.rfind("attnscope ", 0), 0U);
  fs::remove(file);
  ASSERT_EQ(run(program + command.substr(10)).status, 0) << command;
  EXPECT_EQ(read(file), once);
}

TEST_F(FigureCommand, LaysAMechanismOverOneModel) {
  const std::string file = out("f.json");
  const std::string model = samples + "models/fashion-softmax.h5";
  const Ran ran = run(program + "figure rank-by-layer " + model + " " + model +
                      "@adder,identity=true --set identity=as-is --input " + samples +
                      "inputs/01_trouser.png --out " + file);
  ASSERT_EQ(ran.status, 0) << ran.output;
  const nlohmann::json figure = read(file);
  ASSERT_EQ(figure.at("numbers").size(), 2U) << figure.at("numbers");
  EXPECT_NE(std::string(figure.at("caption")).find("laid over weights trained with another"),
            std::string::npos);
}

TEST_F(FigureCommand, SetReachesTheMechanismWhenTheFigureCannotTakeTheValue) {
  const std::string common = program + "figure rank-by-layer " + samples +
                             "models/fashion-softmax.h5 --mechanism adder --input " + samples +
                             "inputs/01_trouser.png --set identity=as-is ";
  const std::string plain = out("plain.json");
  const std::string with = out("with.json");
  ASSERT_EQ(run(common + "--out " + plain).status, 0);
  const Ran ran = run(common + "--set identity=true --out " + with);
  ASSERT_EQ(ran.status, 0) << ran.output;
  const auto label = [](const nlohmann::json& figure) {
    return figure.at("numbers").items().begin().key();
  };
  EXPECT_EQ(label(read(plain)).find("+ I"), std::string::npos) << label(read(plain));
  EXPECT_NE(label(read(with)).find("+ I"), std::string::npos) << label(read(with));
}

TEST_F(FigureCommand, WrongUsageIsStatusTwoAndWritesNothing) {
  const std::string file = out("f.pdf");
  const std::pair<std::string, std::string> wrong[] = {
      {"figure pie" + models() + "--out " + file, "cumulative-spectrum"},
      {"figure rank-by-layer" + models() + "--set colour=red --out " + file, "measure"},
      {"figure rank-by-layer" + models() + "--set measure=1 --out " + file, "equivalent"},
      {"figure rank-by-layer" + models() + "--out " + out("f.gif"), ".pdf, .svg"},
      {"figure rank-by-layer" + models() + "--width 5 --out " + file, "20 to 1000"},
      {"figure rank-by-layer" + models() + "--label one --out " + file, "--label"},
      {"figure rank-by-layer --out " + file, "no model"}};
  for (const auto& [arguments, expected] : wrong) {
    const Ran ran = run(program + arguments);
    EXPECT_EQ(ran.status, 2) << arguments << "\n" << ran.output;
    EXPECT_NE(ran.output.find(expected), std::string::npos) << ran.output;
    EXPECT_TRUE(fs::is_empty(folder_.path())) << arguments;
  }
}

TEST_F(FigureCommand, ExitsWithOneForAMissingFolder) {
  const Ran ran = run(program + "figure rank-by-layer" + models() + "--out " + out("no/f.pdf"));
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(FigureCommand, FirstMinuteWritesFourFiguresAndTheTable) {
  const Ran ran = run(program + "first-minute --out " + out("minute"));
  ASSERT_EQ(ran.status, 0) << ran.output;
  for (const char* name :
       {"cumulative-spectrum", "rank-by-layer", "attention-maps", "attention-overlay"}) {
    for (const char* extension : {".pdf", ".png"}) {
      EXPECT_GT(fs::file_size(folder_ / "minute" / (std::string(name) + extension)), 2000U);
    }
  }
  EXPECT_NE(ran.output.find("fashion-softmax"), std::string::npos);
  EXPECT_NE(ran.output.find("A + I"), std::string::npos);
  // The table prints the numbers of the figure.
  const std::string file = out("f.json");
  ASSERT_EQ(run(program + "figure cumulative-spectrum" + models() + "--out " + file).status, 0);
  const nlohmann::json numbers = read(file).at("numbers");
  std::istringstream lines(ran.output.substr(ran.output.find("fashion-softmax")));
  std::string model;
  double without = 0, with = 0;
  lines >> model >> without >> with;
  EXPECT_EQ(numbers.at("equivalent_rank/fashion-softmax").at(0), without);
  EXPECT_EQ(numbers.at("equivalent_rank/fashion-softmax + I").at(0), with);
}

TEST_F(FigureCommand, DaftShowsItsBiasesAndKeys) {
  const std::string daft =
      " " + samples + "models/fashion-daft-full.h5 --input " + samples + "inputs/00_t_shirt.png ";
  Ran ran = run(program + "figure position-bias" + daft + "--out " + out("bias.json"));
  ASSERT_EQ(ran.status, 0) << ran.output;
  nlohmann::json figure = read(out("bias.json"));
  ASSERT_EQ(figure.at("panels").size(), 6U);
  // Biases are parameters: the figure needs no input, and another one does.
  const std::string alone = " " + samples + "models/fashion-daft-full.h5 --out ";
  ran = run(program + "figure position-bias" + alone + out("alone.json"));
  ASSERT_EQ(ran.status, 0) << ran.output;
  nlohmann::json without = read(out("alone.json"));
  EXPECT_EQ(without.at("panels").at(0).at("marks"), figure.at("panels").at(0).at("marks"));
  EXPECT_EQ(without.at("caption").get<std::string>().find("t_shirt"), std::string::npos);
  EXPECT_NE(figure.at("caption").get<std::string>().find("t_shirt"), std::string::npos);
  ran = run(program + "figure key-maps" + alone + out("keys.pdf"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.output.find("needs an input to run on"), std::string::npos) << ran.output;
  ran = run(program + "figure position-bias --set show=query --set query=class" + daft + "--out " +
            out("query.pdf"));
  ASSERT_EQ(ran.status, 0) << ran.output;
  EXPECT_GT(fs::file_size(out("query.pdf")), 1000U);
  ran = run(program + "figure position-bias --set show=numbers" + daft + "--out " +
            out("numbers.csv"));
  ASSERT_EQ(ran.status, 0) << ran.output;
  std::ifstream file(out("numbers.csv"));
  const std::string table{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(table.find("Entropy"), std::string::npos) << table;
  ran = run(program + "figure key-maps --set channels=0-3" + daft + "--out " + out("keys.json"));
  ASSERT_EQ(ran.status, 0) << ran.output;
  EXPECT_EQ(read(out("keys.json")).at("panels").size(), 24U);
  ran = run(program + "figure position-bias" + models() + "--out " + out("none.pdf"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.output.find("daft-full"), std::string::npos) << ran.output;
}

TEST_F(FigureCommand, AChannelIsChosenForAllModelsOrForOne) {
  const std::string file = samples + "models/fashion-daft-full.h5";
  const std::string input = " --input " + samples + "inputs/00_t_shirt.png ";
  const std::string figure = "figure attention-maps --set layers=0 --set ranks=no ";
  const auto maps_of = [&](const std::string& arguments, const std::string& name) {
    const Ran ran = run(program + figure + arguments + input + "--out " + out(name));
    EXPECT_EQ(ran.status, 0) << ran.output;
    return read(out(name)).at("panels");
  };
  const nlohmann::json by_flag = maps_of("--channel 5 " + file, "flag.json");
  const nlohmann::json by_model = maps_of(file + "@daft-full,channel=5", "model.json");
  const nlohmann::json mean = maps_of(file, "mean.json");
  EXPECT_EQ(by_flag, by_model);
  EXPECT_NE(by_flag, mean);
}

}  // namespace
}  // namespace attnscope
