#include "core/file/overwrite.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "core/error.h"
#include "core/file/read_file.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using Path = std::filesystem::path;

class OverwriteTest : public testing::Test {
 protected:
  static void expect_refused(const Path& output, const std::vector<Path>& inputs) {
    const auto refuse = [&] {
      refuse_to_overwrite(output, inputs);
      return 0;
    };
    expect_refusal(refuse, ErrorKind::usage, "would replace an input", output);
  }

  TemporaryFolder folder_;
  Path model_ = folder_.write("model.pt", "weights");
  Path picture_ = folder_.write("picture.png", "pixels");
};

TEST_F(OverwriteTest, RefusesAnInputAsOutput) {
  expect_refused(model_, {model_});
  expect_refused(picture_, {model_, picture_});
}

TEST_F(OverwriteTest, LinksAndSpellingsHideNothing) {
  std::filesystem::create_symlink("model.pt", folder_ / "soft.pt");
  std::filesystem::create_hard_link(model_, folder_ / "hard.pt");
  std::filesystem::create_directory(folder_ / "inner");
  for (const Path& other :
       {folder_ / "soft.pt", folder_ / "hard.pt", folder_ / "inner" / ".." / "model.pt"}) {
    expect_refused(other, {model_});
    expect_refused(model_, {other});
  }
}

TEST_F(OverwriteTest, AFileInsideAnInputFolderIsAnInput) {
  std::filesystem::create_directories(folder_ / "set" / "cats");
  const Path cat = folder_.write("set/cats/one.png", "cat");
  expect_refused(cat, {folder_ / "set"});
  std::filesystem::create_hard_link(cat, folder_ / "outside.png");
  EXPECT_NO_THROW(refuse_to_overwrite(folder_ / "set" / "new.h5", std::vector{folder_ / "set"}));
  EXPECT_NO_THROW(refuse_to_overwrite(picture_, std::vector{folder_ / "set"}));
}

TEST_F(OverwriteTest, OtherFilesNewFilesAndDevicesAreFree) {
  const std::vector<Path> inputs = {model_, folder_ / "missing.pt", "/dev/null", ""};
  EXPECT_NO_THROW(refuse_to_overwrite(picture_, inputs));
  EXPECT_NO_THROW(refuse_to_overwrite(folder_ / "new.h5", inputs));
  EXPECT_NO_THROW(refuse_to_overwrite(folder_ / "missing.pt", inputs));
  EXPECT_NO_THROW(refuse_to_overwrite("/dev/null", inputs));
}

TEST_F(OverwriteTest, EveryFileThatWasReadIsAnInput) {
  EXPECT_NO_THROW(refuse_to_overwrite_read(model_));
  EXPECT_EQ(read_file(model_, 100), "weights");
  std::filesystem::create_symlink("model.pt", folder_ / "soft.pt");
  for (const Path& output : {model_, folder_ / "soft.pt"}) {
    const auto refuse = [&] {
      refuse_to_overwrite_read(output);
      return 0;
    };
    expect_refusal(refuse, ErrorKind::usage, "would replace an input", output);
  }
  EXPECT_NO_THROW(refuse_to_overwrite_read(picture_));
  EXPECT_NO_THROW(refuse_to_overwrite_read(folder_ / "new.h5"));
}

TEST_F(OverwriteTest, AFileWithTheInodeOfOneThatWasReadAndDeletedIsFree) {
  const auto inode = [](const Path& file) {
    struct stat status {};
    return ::stat(file.c_str(), &status) == 0 ? status.st_ino : 0;
  };
  EXPECT_EQ(read_file(model_, 100), "weights");
  const ino_t read = inode(model_);
  std::filesystem::remove(model_);
  for (int i = 0; i < 100; ++i) {
    const Path made = folder_.write("new" + std::to_string(i), "numbers");
    if (inode(made) != read) continue;
    EXPECT_NO_THROW(refuse_to_overwrite_read(made));
    return;
  }
  GTEST_SKIP() << "this file system gives inodes once";
}

}  // namespace
}  // namespace attnscope
