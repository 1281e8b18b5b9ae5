// attnscope train, from the shell.
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "core/trace/trace_file.h"
#include "tests/cli/program.h"
#include "tests/support/paths.h"
#include "tests/support/small_data_set.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

class Train : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }
  /// Options of a small run; `more` adds or replaces settings.
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

  /// Starts a run and kills it after the given time, like `kill -9`.
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

TEST_F(Train, WritesItsModelUnderTheNameAsked) {
  const std::string model = path("little.h5");
  const ProgramRun run = run_program("train" + small({{"steps", "6"}}) + " --out " + path("run") +
                                     " --model " + model);
  ASSERT_EQ(run.status, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr(model + " opens as any model"));
  const ProgramRun opened = run_program("inspect " + model);
  EXPECT_EQ(opened.status, 0) << opened.errors;
  EXPECT_THAT(opened.output, HasSubstr("little"));
}

TEST_F(Train, FlagsCompleteAnIncompleteRecipe) {
  const std::string recipe = path("part.json");
  std::ofstream(recipe) << R"({"width": 24, "model_heads": 4})";
  const ProgramRun whole =
      run_program("train " + recipe + " --dataset " + data_ + " --print-recipe");
  ASSERT_EQ(whole.status, 0) << whole.errors;
  EXPECT_THAT(whole.output, HasSubstr("\"width\": 24"));
  const ProgramRun alone = run_program("train " + recipe + " --print-recipe");
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.errors, HasSubstr("a recipe needs a data set"));
}

TEST_F(Train, RefusesAnUnwritableModelFileBeforeTraining) {
  const ProgramRun run = run_program("train" + small() + " --out " + path("run") + " --model " +
                                     path("nowhere/little.h5"));
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.errors, HasSubstr("the folder of the file does not exist"));
  EXPECT_FALSE(std::filesystem::exists(path("run")));
}

TEST_F(Train, AStudyEndsWithManyModels) {
  const ProgramRun run = run_program("train --study adder-parts --dataset " + data_ + " --out " +
                                     path("study") + " --model " + path("one.h5"));
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.errors, HasSubstr("a study writes one model per run"));
  EXPECT_FALSE(std::filesystem::exists(path("study")));
}

TEST_F(Train, StepsBecomeAFilmAndAStrip) {
  ASSERT_EQ(run_program("train" + small() +
                        " --steps 20 --coarse-patch 6 --coarse-steps 10 --out " + path("run"))
                .status,
            0);
  const std::string figure = "figure attention-maps " + path("run/step-000000.h5") + " " +
                             path("run/step-000010.h5") + " " + path("run/step-000020.h5") +
                             " --layers 1 --input " + data_ + "/t10k-images-idx3-ubyte#3 ";
  const ProgramRun film = run_program(figure + "--film 300 --dpi 60 --out " + path("film.png"));
  ASSERT_EQ(film.status, 0) << film.errors;
  EXPECT_THAT(film.output, HasSubstr("3 pictures, 300 ms"));
  const std::string bytes = read_bytes(path("film.png"));
  EXPECT_EQ(bytes.substr(bytes.find("acTL") + 4, 4), std::string("\0\0\0\3", 4));
  const ProgramRun strip =
      run_program(figure + "--set columns=subjects --out " + path("strip.svg"));
  ASSERT_EQ(strip.status, 0) << strip.errors;
  EXPECT_THAT(read_bytes(path("strip.svg")), HasSubstr("step 20"));
  const ProgramRun refused = run_program(figure + "--film 300 --out " + path("film.pdf"));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors, HasSubstr("one opaque animated .png"));
}

TEST_F(Train, ClassifiersOfTextsAreTestedAndOpen) {
  const std::string texts = write_small_texts(sources_).string();
  const ProgramRun trained = run_program("train" + small({{"dataset", texts}, {"context", "16"}}) +
                                         " --steps 60 --mechanism adder --out " + path("run"));
  ASSERT_EQ(trained.status, 0) << trained.errors;
  EXPECT_THAT(trained.output, testing::AllOf(HasSubstr("60 steps"), HasSubstr("6 test texts")));
  const ProgramRun spectrum =
      run_program("spectrum " + path("run/step-000060.h5") + " --input " + texts + "#3 --json");
  ASSERT_EQ(spectrum.status, 0) << spectrum.errors;
  EXPECT_THAT(spectrum.output, HasSubstr("adder"));
}

TEST_F(Train, LeavesModelsThatOpenAndALog) {
  const ProgramRun trained = run_program(
      "train" + small() + " --steps 20 --mechanism adder,identity=true --out " + path("run"));
  ASSERT_EQ(trained.status, 0) << trained.errors;
  EXPECT_THAT(trained.output, testing::AllOf(HasSubstr("20 steps"), HasSubstr("24 test images"),
                                             HasSubstr("test loss"), HasSubstr("\n      20 ")));
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
  const std::array<std::string, 3> cases[] = {
      {"batch", "0", "1 to 65536"},
      {"mechanism", "hash", "codes=sign"},
      {"mechanism", "reformer", "linear, linformer, mamba2"},
      {"patch", "4", "patch"},
      {"from", "/nowhere.h5", "/nowhere.h5"},
      {"dataset", "/nowhere", "/nowhere"}};
  for (const auto& [flag, value, part] : cases) {
    const ProgramRun refused =
        run_program("train" + small({{flag, value}}) + " --out " + path("run"));
    EXPECT_NE(refused.status, 0) << flag;
    EXPECT_THAT(refused.errors, HasSubstr(part)) << flag;
    EXPECT_FALSE(std::filesystem::exists(path("run"))) << flag;
  }
}

TEST_F(Train, AStudyTrainsAndListsAllItsVariants) {
  const std::string settings =
      small({{"depth", "1"}, {"patch", "3"}, {"probes", "1"}, {"warm-up", "1"}}) + " --steps 4";
  const ProgramRun refused = run_program("train --study adder-rank" + settings +
                                         " --mechanism adder --out " + path("study"));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors, HasSubstr("--mechanism"));
  EXPECT_FALSE(std::filesystem::exists(path("study")));
  const ProgramRun trained =
      run_program("train --study adder-rank --seeds 2" + settings + " --out " + path("study"));
  ASSERT_EQ(trained.status, 0) << trained.errors;
  EXPECT_THAT(
      trained.output,
      testing::AllOf(HasSubstr("± standard deviations over seeds (of the sample: n − 1)"),
                     testing::ContainsRegex("rank of mean +mean rank +at 0.8 ln n +entropy"),
                     testing::ContainsRegex("\nadder layers, adder \\+ I +2 +4 ± 0 +"
                                            "[0-9.]+ ± [0-9.]+ +0 +[0-9.]+ ± [0-9.]+"),
                     HasSubstr("At equal steps, 4:"), HasSubstr("At equal accuracy")));
  const ProgramRun again = run_program("train --resume --out " + path("study"));
  EXPECT_EQ(again.output, trained.output);
  const ProgramRun drawn = run_program("figure over-training --set folder=" + path("study") +
                                       " --out " + path("over.csv"));
  ASSERT_EQ(drawn.status, 0) << drawn.errors;
  EXPECT_THAT(read_bytes(path("over.csv")), HasSubstr("multiplicative, softmax"));
}

TEST_F(Train, AStudyTrainsSomeOfItsVariants) {
  const std::string settings =
      small({{"depth", "1"}, {"patch", "3"}, {"probes", "1"}, {"warm-up", "1"}}) +
      " --steps 2 --out " + path("some");
  const ProgramRun unknown =
      run_program("train --study adder-rank --only softmax,performer" + settings);
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.errors, testing::AllOf(HasSubstr("performer"), HasSubstr("adder-softmax"),
                                             HasSubstr("multiplicative-adder-identity")));
  const ProgramRun alone = run_program("train --only softmax" + settings);
  EXPECT_THAT(alone.errors, HasSubstr("only a study has variants"));
  const ProgramRun needs = run_program("train --study daft-conversion" + settings);
  EXPECT_EQ(needs.status, 2);
  EXPECT_THAT(needs.errors, HasSubstr("--from"));
  EXPECT_FALSE(std::filesystem::exists(path("some")));
  const ProgramRun trained =
      run_program("train --study adder-rank --seeds 1 --only softmax" + settings);
  ASSERT_EQ(trained.status, 0) << trained.errors;
  EXPECT_THAT(trained.output,
              testing::AllOf(HasSubstr("At equal steps, 2:"), HasSubstr("\nadder layers, softmax "),
                             testing::Not(HasSubstr("adder + I"))));
  EXPECT_FALSE(std::filesystem::exists(path("some/adder-adder-seed1")));
  EXPECT_EQ(run_program("train --resume --out " + path("some")).output, trained.output);
}

TEST_F(Train, ReportsMultiplicativeBlocksAsSoftmaxAttention) {
  const ProgramRun trained =
      run_program("train" + small({{"mechanism", "adder,identity=true"}, {"arithmetic", "adder"}}) +
                  " --multiplicative-layers 0 --steps 10 --model " + path("model.h5") + " --out " +
                  path("run"));
  ASSERT_EQ(trained.status, 0) << trained.errors;
  const ProgramRun inspected = run_program("inspect " + path("model.h5"));
  EXPECT_THAT(inspected.output, testing::ContainsRegex("layer 0 +softmax"));
  EXPECT_THAT(inspected.output, testing::Not(testing::ContainsRegex("layer 1 +softmax")));
  // In a trace, the rows of the multiplicative layer sum to 1.
  const ProgramRun traced = run_program("trace " + path("model.h5") + " --input " + data_ +
                                        "#0 --out " + path("trace.h5"));
  ASSERT_EQ(traced.status, 0) << traced.errors;
  const Trace trace = read_trace(path("trace.h5"));
  ASSERT_EQ(trace.layers.size(), 2U);
  for (const std::int64_t layer : {0, 1}) {
    const MatrixD map =
        trace.layers[static_cast<std::size_t>(layer)].implied_map.head(0).cast<double>();
    EXPECT_EQ(has_identity(trace, layer), layer == 1);
    EXPECT_NEAR(map.row(0).sum(), layer == 1 ? 2 : 1, 1e-5);
  }
}

TEST_F(Train, H5pyReadsTheLogWhileItGrows) {
  const char* const python = "/usr/bin/python3";
  if (std::system("/usr/bin/python3 -c 'import h5py' 2>/dev/null") != 0) {
    GTEST_SKIP() << python << " has no h5py";
  }
  const std::string script = folder_
                                 .write("watch.py", R"(
import sys, time, h5py
log, last = sys.argv[1], int(sys.argv[2])
seen, until = [], time.time() + 120
while (not seen or seen[-1] < last) and time.time() < until:
    try:
        with h5py.File(log) as file:
            steps, losses = file["steps/step"][:], file["steps/loss"][:]
    except (FileNotFoundError, KeyError):
        continue  # before the first step
    assert len(steps) == len(losses) and list(steps) == list(range(1, len(steps) + 1))
    if not seen or seen[-1] != len(steps):
        seen.append(len(steps))
assert seen == sorted(seen) and seen[-1] == last, seen
print(len(seen))
)")
                                 .string();
  const std::string watch = std::string(python) + " " + script + " " + path("run/log.h5") +
                            " 400 > " + path("seen.txt") + " 2>&1 & echo $! > " + path("watcher");
  ASSERT_EQ(std::system(watch.c_str()), 0);
  const ProgramRun trained =
      run_program("train" + small({{"checkpoints", "1"}, {"test-items", "4"}}) +
                  " --steps 400 --out " + path("run"));
  ASSERT_EQ(trained.status, 0) << trained.errors;
  std::string seen;
  for (int i = 0; i < 300 && seen.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    seen = read_bytes(path("seen.txt"));
  }
  // The file was read in more than one state, and each state was valid.
  EXPECT_GT(std::atoi(seen.c_str()), 1) << seen;
}

// Closing a terminal sends SIGHUP.
TEST_F(Train, SavesFinishedWorkOnAHangUp) {
  const std::string script = folder_
                                 .write("hang_up.sh", R"(
run="$1"; shift
"$@" --out "$run" >/dev/null 2>"$run.errors" &
until [ -e "$run/step-000000.h5" ]; do sleep 0.1; done
sleep 0.5
kill -HUP $!
wait $!
)")
                                 .string();
  const int status =
      std::system(("timeout 60 bash " + script + " " + path("run") + " " + built_program() +
                   " train --steps 100000" + small({{"save-every", "100000"}}))
                      .c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_TRUE(std::filesystem::exists(path("run/state.npz")));
  EXPECT_THAT(read_bytes(path("run.errors")), HasSubstr("--resume continues"));
}

TEST_F(Train, HasTheSameBytesAfterTenKills) {
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
