#include "core/platform/file_identity.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

TEST(FileLife, IsOfTheFileWhateverItIsCalled) {
  const TemporaryFolder folder;
  const auto file = folder.write("a", "text");
  std::filesystem::create_symlink(file, folder / "symbolic");
  std::filesystem::create_hard_link(file, folder / "hard");
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const auto life = life_of(file);
  ASSERT_TRUE(life.has_value());
  EXPECT_EQ(life_of(descriptor), life);
  EXPECT_EQ(life_of(folder / "symbolic"), life);
  EXPECT_EQ(life_of(folder / "hard"), life);
  EXPECT_NE(life_of(folder.write("b", "text")), life);
  ::close(descriptor);
}

TEST(FileLife, IsUnknownForFoldersAndMissingFiles) {
  const TemporaryFolder folder;
  EXPECT_EQ(life_of(folder.path()), std::nullopt);
  EXPECT_EQ(life_of(folder / "missing"), std::nullopt);
  EXPECT_EQ(life_of(std::filesystem::path()), std::nullopt);
}

}  // namespace
}  // namespace attnscope
