// Sweeps by several processes, started as a user starts them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/cli/ran.h"
#include "tests/support/paths.h"
#include "tests/support/sanitized.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

class Cluster : public testing::Test {
 protected:
  void SetUp() override {
    // Its own leaks are not ours to look for.
    if (kSanitized) GTEST_SKIP() << "Open MPI under a sanitizer";
  }

  [[nodiscard]] std::string sweep(const std::string& out, const std::string& more = {}) const {
    const std::string data = source_folder() + "/tests/data/sweep/";
    return program + "sweep " + data + "model.npz --option heads=2 " +
           "--option crop_fraction=1 --dataset " + data + "images.npz --count 60 --out " +
           (folder_ / out).string() + more;
  }
  [[nodiscard]] static std::string together(int processes) {
    // On this machine alone: no ssh is needed.
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
  }
}

TEST_F(Cluster, WhatIsWrongIsSaidOnce) {
  const Ran refused = run(together(3) + sweep("r.h5", " --threshold 2"));
  EXPECT_NE(refused.status, 0);
  const std::string words = "threshold of the equivalent rank";
  EXPECT_THAT(refused.output, testing::HasSubstr(words));
  EXPECT_EQ(refused.output.find(words), refused.output.rfind(words));
}

}  // namespace
}  // namespace attnscope
