#include "core/platform/file_identity.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

TEST(FileIdentity, IsOfTheFileWhateverItIsCalled) {
  const TemporaryFolder folder;
  const auto file = folder.write("a", "text");
  std::filesystem::create_symlink(file, folder / "symbolic");
  std::filesystem::create_hard_link(file, folder / "hard");
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const auto life = file_identity(file);
  ASSERT_TRUE(life.has_value());
  EXPECT_EQ(file_identity(descriptor), life);
  EXPECT_EQ(file_identity(folder / "symbolic"), life);
  EXPECT_EQ(file_identity(folder / "hard"), life);
  EXPECT_NE(file_identity(folder.write("b", "text")), life);
  ::close(descriptor);
}

TEST(FileIdentity, IsUnknownForFoldersAndMissingFiles) {
  const TemporaryFolder folder;
  EXPECT_EQ(file_identity(folder.path()), std::nullopt);
  EXPECT_EQ(file_identity(folder / "missing"), std::nullopt);
  EXPECT_EQ(file_identity(std::filesystem::path()), std::nullopt);
}

}  // namespace
}  // namespace attnscope
