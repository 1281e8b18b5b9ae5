// Sweeps by several processes, started from the command line.
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "analysis/sweep/process_team.h"
#include "tests/app/cli/ran.h"
#include "tests/support/paths.h"
#include "tests/support/sanitized.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

class Cluster : public testing::Test {
 protected:
  void SetUp() override {
    // Leaks inside Open MPI would be reported as errors.
    if (kSanitized) GTEST_SKIP() << "Open MPI under a sanitizer";
  }

  [[nodiscard]] std::string sweep(const std::string& out, const std::string& more = {}) const {
    const std::string data = source_folder() + "/tests/data/sweep/";
    return program + "sweep " + data + "model.npz --option heads=2 " +
           "--option crop_fraction=1 --dataset " + data + "images.npz --count 60 --out " +
           (folder_ / out).string() + more;
  }
  [[nodiscard]] static std::string together(int processes) {
    // Only this machine is used, so that no ssh is needed.
    return "mpirun --mca plm isolated --allow-run-as-root --oversubscribe -n " +
           std::to_string(processes) + " ";
  }

  TemporaryFolder folder_;
};

TEST_F(Cluster, ProcessesOfMpirunGiveTheBytesOfOne) {
  ASSERT_EQ(run(sweep("alone.h5")).status, 0);
  const std::string alone = read_bytes(folder_.path() / "alone.h5");
  ASSERT_FALSE(alone.empty());
  for (const int processes : {1, 2, 3}) {
    const std::string name = std::to_string(processes) + ".h5";
    const Ran done = run(together(processes) + sweep(name));
    ASSERT_EQ(done.status, 0) << done.output;
    EXPECT_EQ(read_bytes(folder_.path() / name), alone) << processes << " processes";
    EXPECT_THAT(done.output, testing::HasSubstr("rank at"));
    EXPECT_EQ(done.output.find("rank at"), done.output.rfind("rank at")) << "said once";
    if (processes > 1) {
      const std::string shared = "shared by " + std::to_string(processes) + " processes";
      EXPECT_THAT(done.output, testing::HasSubstr(shared));
    }
  }
}

TEST_F(Cluster, ReportsAnErrorOnce) {
  const Ran refused = run(together(3) + sweep("r.h5", " --threshold 2"));
  EXPECT_NE(refused.status, 0);
  const std::string words = "threshold of the equivalent rank";
  EXPECT_THAT(refused.output, testing::HasSubstr(words));
  EXPECT_EQ(refused.output.find(words), refused.output.rfind(words));
}

// MPI counts bytes in an int. The plug-in therefore splits a long message into pieces of 16 MiB.
TEST_F(Cluster, MessagesOfSeveralPiecesArriveWholeAndInOrder) {
  const std::filesystem::path file =
      std::filesystem::path(built_program()).parent_path() / "libattnscope-mpi.so";
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  void* const make = ::dlsym(library, "attnscope_make_team");
  ASSERT_NE(make, nullptr);
  ::setenv("OMPI_MCA_plm", "isolated", 1);  // only this machine, no ssh
  const std::unique_ptr<ProcessTeam> team(reinterpret_cast<ProcessTeam* (*)()>(make)());
  std::vector<ProcessTeam::Message> sent;
  constexpr std::size_t piece = std::size_t{16} << 20;
  for (const std::size_t bytes : {2 * piece + 12'345, std::size_t{0}, 2 * piece, std::size_t{7}}) {
    ProcessTeam::Message& message = sent.emplace_back(bytes);
    for (std::size_t i = 0; i < bytes; ++i) message[i] = static_cast<std::byte>(i * 31 >> 7);
    team->send(team->rank(), message);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (const ProcessTeam::Message& message : sent) {
    std::optional<ProcessTeam::Message> found;
    while (!found && std::chrono::steady_clock::now() < end) found = team->receive(team->rank());
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(*found == message) << found->size() << " of " << message.size() << " bytes";
  }
}

}  // namespace
}  // namespace attnscope
