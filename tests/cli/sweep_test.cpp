// attnscope sweep from a shell, and after it was killed or interrupted.
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/cli/program.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

const std::string kData = source_folder() + "/tests/data/sweep/";
const std::string kArguments = " '" + kData +
                               "model.npz' --model-heads 2 --option crop_fraction=1" +
                               " --dataset '" + kData + "images.npz' --checkpoint-seconds 0 --out ";

/// Starts the sweep and kills it after `time`; true if it had already ended.
bool killed_after(std::chrono::microseconds time, const std::string& out) {
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    const std::string model = kData + "model.npz", images = kData + "images.npz";
    execl(built_program().c_str(), "attnscope", "sweep", model.c_str(), "--model-heads", "2",
          "--option", "crop_fraction=1", "--dataset", images.c_str(), "--checkpoint-seconds", "0",
          "--out", out.c_str(), nullptr);
    _exit(127);
  }
  std::this_thread::sleep_for(time);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status);
}

TEST(SweepCommand, HasTheSameBytesAfterTwentyKills) {
  using Clock = std::chrono::steady_clock;
  TemporaryFolder folder;
  const std::string whole = (folder.path() / "whole.h5").string();
  const Clock::time_point start = Clock::now();
  const ProgramRun run = run_program("sweep" + kArguments + "'" + whole + "'");
  ASSERT_EQ(run.status, 0) << run.errors;
  const auto duration = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start);

  std::mt19937 random(20);
  std::uniform_int_distribution<std::int64_t> point(1, duration.count());
  int resumed = 0;
  for (int i = 0; i < 20; ++i) {
    const std::filesystem::path out = folder.path() / ("part" + std::to_string(i) + ".h5");
    killed_after(std::chrono::microseconds(point(random)), out.string());
    std::filesystem::path unfinished = out;
    unfinished += ".unfinished";
    resumed += std::filesystem::exists(unfinished);
    const ProgramRun rest = run_program("sweep" + kArguments + "'" + out.string() + "'");
    ASSERT_EQ(rest.status, 0) << rest.errors;
    EXPECT_EQ(read_bytes(out), read_bytes(whole)) << "killed the " << i << "th time";
    EXPECT_FALSE(std::filesystem::exists(unfinished));
  }
  RecordProperty("resumed_in_the_middle", resumed);
}

/// Starts the sweep and interrupts it after `time` like Ctrl-C; returns the status of waitpid().
int interrupted_after(std::chrono::milliseconds time, const std::string& command,
                      const std::string& errors) {
  const pid_t child = fork();
  if (child == 0) {
    dup2(open(errors.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), STDERR_FILENO);
    execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), nullptr);
    _exit(127);
  }
  std::this_thread::sleep_for(time);
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(SweepCommand, KeepsFinishedWorkAndNamesTheResumeCommand) {
  TemporaryFolder folder;
  const std::string out = (folder.path() / "r.h5").string();
  const std::string err = (folder.path() / "err").string();
  // The next checkpoint is an hour away, so that only the interruption can save the work done.
  const std::string command = "'" + built_program() + "' sweep '" + source_folder() +
                              "/sample_data/models/fashion-softmax.h5' --dataset '" + kData +
                              "images.npz' --checkpoint-seconds 3600 --out '" + out + "'";
  // The time of the first input depends on the machine.
  std::chrono::milliseconds time(500);
  do {
    const int status = interrupted_after(time, command, err);
    time *= 2;
    ASSERT_LT(time, std::chrono::minutes(2))
        << "it ends by the signal itself, or has no input done";
    if (WIFSIGNALED(status)) continue;  // the program had not started yet
    ASSERT_EQ(WEXITSTATUS(status), 130) << read_bytes(err);
    ASSERT_THAT(read_bytes(err), testing::HasSubstr("the same command resumes"));
    EXPECT_FALSE(std::filesystem::exists(out));
  } while (!std::filesystem::exists(out + ".unfinished"));
  EXPECT_THAT(read_bytes(err), testing::HasSubstr("of 96 inputs"));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_THAT(entry.path().filename().string(), testing::Not(testing::HasSubstr(".part")));
  }
}

TEST(SweepCommand, ReportsThatNothingIsLeftToDo) {
  TemporaryFolder folder;
  const std::string arguments =
      "sweep" + kArguments + "'" + (folder.path() / "r.h5").string() + "' --count 5";
  ASSERT_EQ(run_program(arguments).status, 0);
  const ProgramRun again = run_program(arguments);
  EXPECT_EQ(again.status, 0);
  EXPECT_THAT(again.errors, testing::HasSubstr("holds this sweep already"));
  EXPECT_THAT(again.output, testing::HasSubstr("rank"));
}

TEST(SweepCommand, ReportsItsResult) {
  TemporaryFolder folder;
  const std::string out = (folder.path() / "r.h5").string();
  const ProgramRun run = run_program("sweep" + kArguments + "'" + out + "' --count 20 --json");
  ASSERT_EQ(run.status, 0) << run.errors;
  const auto json = nlohmann::json::parse(run.output);
  EXPECT_EQ(json["items"], 96);
  EXPECT_EQ(json["seed"], 0);
  EXPECT_EQ(json["series"][0]["layers"].size(), 2U);
  EXPECT_EQ(json["series"][0]["layers"][0]["maps"], 40);
  const ProgramRun text = run_program("sweep" + kArguments + "'" + out + "' --count 20");
  EXPECT_THAT(text.output, testing::HasSubstr("20 of 96 inputs, spread evenly (seed 0)"));
  const std::string picture = (folder.path() / "ranks.svg").string();
  const ProgramRun figure =
      run_program("figure sweep-ranks --set file='" + out + "' --out '" + picture + "'");
  EXPECT_EQ(figure.status, 0) << figure.errors;
  EXPECT_THAT(read_bytes(picture), testing::HasSubstr("equivalent rank"));
}

TEST(SweepCommand, ReportsErrorsInOneLine) {
  const ProgramRun nowhere = run_program("sweep" + kArguments + "/nowhere/r.h5");
  EXPECT_EQ(nowhere.status, 1);
  EXPECT_THAT(nowhere.errors, testing::HasSubstr("/nowhere"));
  const ProgramRun view = run_program("sweep" + kArguments + "r.h5 --identity none");
  EXPECT_EQ(view.status, 2);
  EXPECT_THAT(view.errors, testing::HasSubstr("known: as-is"));
}

}  // namespace
}  // namespace attnscope
