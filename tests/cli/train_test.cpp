// attnscope train, from the shell.
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/cli/program.h"
#include "tests/support/paths.h"
#include "tests/support/small_data_set.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

class Train : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }
  /// A small run, with these settings besides or instead.
  [[nodiscard]] std::string small(const std::map<std::string, std::string>& more = {}) const {
    std::map<std::string, std::string> settings = more;
    settings.insert({{"dataset", data_},
                     {"patch", "2"},
                     {"width", "12"},
                     {"model-heads", "2"},
                     {"depth", "2"},
                     {"warm-up", "5"},
                     {"rate", "0.01"},
                     {"batch", "12"},
                     {"checkpoints", "3"},
                     {"probes", "2"},
                     {"save-every", "5"}});
    std::string line;
    for (const auto& [flag, value] : settings)
      line.append(" --").append(flag).append(" ").append(value);
    return line;
  }

  /// Starts a run and kills it after so many milliseconds, as `kill -9` does.
  static void kill_after(std::vector<std::string> arguments, int milliseconds) {
    arguments.insert(arguments.begin(), built_program());
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      ::execv(pointers.front(), pointers.data());
      ::_exit(127);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
  }

  TemporaryFolder folder_, sources_;
  std::string data_ = write_small_data_set(sources_).string();
};

TEST_F(Train, LeavesModelsThatOpenAndALog) {
  const ProgramRun trained = run_program(
      "train" + small() + " --steps 20 --mechanism adder,identity=true --out " + path("run"));
  ASSERT_EQ(trained.status, 0) << trained.errors;
  EXPECT_THAT(trained.output, testing::AllOf(HasSubstr("20 steps"), HasSubstr("24 test images")));
  const ProgramRun spectrum = run_program("spectrum " + path("run/step-000020.h5") + " --input " +
                                          data_ + "/t10k-images-idx3-ubyte#3 --json");
  ASSERT_EQ(spectrum.status, 0) << spectrum.errors;
  EXPECT_THAT(spectrum.output, HasSubstr("identity=true"));
  const ProgramRun again = run_program("train" + small() + " --out " + path("run"));
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.errors, HasSubstr("--resume"));
}

TEST_F(Train, ARecipeIsPrintedWholeAndReadAgain) {
  const ProgramRun printed = run_program("train" + small() + " --seed 7 --print-recipe");
  ASSERT_EQ(printed.status, 0) << printed.errors;
  EXPECT_EQ(nlohmann::json::parse(printed.output).at("seed"), 7);
  (void)folder_.write("recipe.json", printed.output);
  const ProgramRun again = run_program("train " + path("recipe.json") + " --seed 8 --print-recipe");
  nlohmann::json expected = nlohmann::json::parse(printed.output);
  expected["seed"] = 8;
  EXPECT_EQ(nlohmann::json::parse(again.output), expected);
}

TEST_F(Train, BadSettingsAreRefusedBeforeAnythingIsMade) {
  const std::array<std::string, 3> cases[] = {{"batch", "0", "1 to 65536"},
                                              {"mechanism", "hash", "adder, linear, softmax"},
                                              {"patch", "4", "patch"},
                                              {"dataset", "/nowhere", "/nowhere"}};
  for (const auto& [flag, value, part] : cases) {
    const ProgramRun refused =
        run_program("train" + small({{flag, value}}) + " --out " + path("run"));
    EXPECT_NE(refused.status, 0) << flag;
    EXPECT_THAT(refused.errors, HasSubstr(part)) << flag;
    EXPECT_FALSE(std::filesystem::exists(path("run"))) << flag;
  }
}

TEST_F(Train, KilledTenTimesItEndsWithTheSameBytes) {
  const std::string settings = small() + " --steps 1500 --out ";
  ASSERT_EQ(run_program("train" + settings + path("a/run")).status, 0);
  const ProgramRun recipe = run_program("train" + settings + path("b/run") + " --print-recipe");
  (void)folder_.write("recipe.json", recipe.output);
  kill_after({"train", path("recipe.json"), "--out", path("b/run")}, 150);
  if (!std::filesystem::exists(path("b/run/recipe.json"))) {
    std::filesystem::create_directories(path("b/run"));
    (void)folder_.write("b/run/recipe.json", recipe.output);
  }
  for (int i = 0; i < 9; ++i) {
    kill_after({"train", "--out", path("b/run"), "--resume"}, 90 + 37 * (i * 5 % 9));
  }
  const ProgramRun ended = run_program("train --resume --out " + path("b/run"));
  ASSERT_EQ(ended.status, 0) << ended.errors;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path("a/run"))) {
    const auto other = std::filesystem::path(path("b/run")) / entry.path().filename();
    EXPECT_EQ(read_bytes(entry.path()), read_bytes(other)) << other;
    ++files;
  }
  EXPECT_EQ(files, 7);
}

}  // namespace
}  // namespace attnscope
