#include <gtest/gtest.h>

#include "core/file/read_file.h"

namespace attnscope {
namespace {

TEST(FolderName, IsTheFoldersOwnHoweverItsPathIsWritten) {
  for (const char* const path : {"/runs/adder", "/runs/adder/", "/runs/adder/.", "/runs/./adder//",
                                 "runs/adder", "adder/", "/runs/softmax/../adder"}) {
    EXPECT_EQ(name_of_folder(path), "adder") << path;
  }
  EXPECT_EQ(name_of_folder("."), std::filesystem::current_path().filename());
  EXPECT_EQ(name_of_folder("/"), "");
}

}  // namespace
}  // namespace attnscope
