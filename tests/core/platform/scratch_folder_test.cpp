#include "core/platform/scratch_folder.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

TEST(ScratchFolder, IsRemovedWithItsFiles) {
  std::filesystem::path path;
  {
    const ScratchFolder scratch;
    path = scratch.path();
    std::ofstream(path / "file") << "text";
    EXPECT_TRUE(std::filesystem::exists(path / "file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ScratchFolderDeathTest, IsRemovedWithItsFilesByASignal) {
  const TemporaryFolder folder;
  const auto end = [&] {
    ::setenv("TMPDIR", folder.path().c_str(), 1);
    const ScratchFolder scratch;
    std::ofstream(scratch.path() / "file") << "text";
    (void)std::raise(SIGTERM);
  };
  EXPECT_EXIT(end(), testing::KilledBySignal(SIGTERM), "");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace attnscope
