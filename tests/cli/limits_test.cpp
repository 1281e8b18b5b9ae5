// Endless streams, signals and memory limits.
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <vector>

#include "core/platform/openblas.h"
#include "tests/cli/program.h"
#include "tests/support/paths.h"
#include "tests/support/sanitized.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kSampleModel = source_folder() + "/sample_data/models/fashion-softmax.h5";

class Limits : public testing::Test {
 protected:
  /// Runs `command` in a shell for at most a minute. $A is the program, and $TMPDIR a folder of
  /// this test.
  [[nodiscard]] ProgramRun shell(const std::string& command) const {
    fs::create_directories(folder_ / "tmp");
    (void)folder_.write("command.sh", command);
    const std::string all = "A='" + built_program() + "' TMPDIR='" + (folder_ / "tmp").string() +
                            "' QT_QPA_PLATFORM=offscreen timeout 60 bash '" +
                            (folder_ / "command.sh").string() + "' >'" +
                            (folder_ / "out").string() + "' 2>'" + (folder_ / "err").string() + "'";
    const int status = std::system(all.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_bytes(folder_ / "out"),
            read_bytes(folder_ / "err")};
  }
  [[nodiscard]] bool left_nothing() const { return fs::is_empty(folder_ / "tmp"); }

  TemporaryFolder folder_;
};

TEST_F(Limits, RefusesAnEndlessText) {
  const ProgramRun run = shell("yes | \"$A\" inspect -");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.errors, HasSubstr("standard input is too long to be kept"));
  EXPECT_THAT(run.errors, HasSubstr("at most 16777216 bytes"));
  EXPECT_TRUE(left_nothing());
}

TEST_F(Limits, ASignalRemovesTheCopyOfStandardInput) {
  for (const char* const signal : {"INT", "TERM", "HUP"}) {
    // The signal arrives while the program waits for the rest of its input.
    const ProgramRun run = shell(
        "set -m; mkfifo \"$TMPDIR/../pipe\"; exec 3<>\"$TMPDIR/../pipe\"; \"$A\" inspect - <&3 & "
        "echo a "
        ">&3\n"
        "until ls \"$TMPDIR\" | grep -q attnscope; do sleep 0.1; done; sleep 0.3\n"
        "kill -" +
        std::string(signal) + " $!; wait $!; rm \"$TMPDIR/../pipe\"\n");
    EXPECT_TRUE(left_nothing()) << signal;
  }
  const ProgramRun pipe = shell("\"$A\" inspect - --json <'" + kSampleModel +
                                "' | head -c 10 >/dev/null; echo ${PIPESTATUS[0]}");
  EXPECT_TRUE(left_nothing()) << pipe.output;
}

TEST_F(Limits, LittleMemoryEndsWithAMessageOrSuccess) {
  if (kSanitized) GTEST_SKIP() << "sanitizers map terabytes";
  std::vector<const char*> limits = {"200000", "300000", "400000", "600000"};
  // With less, OpenBLAS 0.3.29 asks for its buffers for ever while it is loaded.
  if (openblas_version() >= "0.3.29") limits = {"600000"};
  for (const char* const kilobytes : limits) {
    const std::string limit = std::string("ulimit -v ") + kilobytes + "\n";
    const ProgramRun version = shell(limit + "\"$A\" --version");
    EXPECT_EQ(version.status, 0) << kilobytes << version.errors;
    const ProgramRun heads = shell(limit + "\"$A\" heads '" + kSampleModel + "' --input '" +
                                   source_folder() + "/sample_data/inputs/08_bag.png' --layers 0");
    EXPECT_THAT(heads.status, testing::AnyOf(0, 1)) << kilobytes;
    EXPECT_NE(heads.status == 0, heads.output.empty());
    EXPECT_EQ(heads.status == 0, heads.errors.empty()) << heads.errors;
  }
}

}  // namespace
}  // namespace attnscope
