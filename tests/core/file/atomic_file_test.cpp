#include "core/file/atomic_file.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>

#include "core/error.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

class AtomicFileTest : public testing::Test {
 protected:
  static std::string read(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(folder_.path()), {});
  }

  TemporaryFolder folder_;
};

TEST_F(AtomicFileTest, NothingStandsUnderTheFinalNameBeforeCommit) {
  const auto path = folder_ / "figure.pdf";
  {
    AtomicFile file(path);
    EXPECT_EQ(file.temporary().extension(), ".pdf");
    std::ofstream(file.temporary()) << "half";
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_EQ(files(), 0);
}

TEST_F(AtomicFileTest, AnOldFileSurvivesAFailedWrite) {
  const auto path = folder_ / "trace.h5";
  write_file(path, "old");
  { AtomicFile abandoned(path); }
  EXPECT_EQ(read(path), "old");
  write_file(path, "new");
  EXPECT_EQ(read(path), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFileTest, WritesThroughASymbolicLink) {
  const auto target = folder_ / "target.json";
  write_file(target, "old");
  std::filesystem::create_symlink("target.json", folder_ / "link.json");
  write_file(folder_ / "link.json", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link.json"));
  EXPECT_EQ(read(target), "new");
}

TEST_F(AtomicFileTest, SaysWhyItCannotWrite) {
  EXPECT_THROW(AtomicFile(folder_ / "missing" / "a.h5"), Error);
  EXPECT_THROW(AtomicFile{folder_.path()}, Error);
  try {
    AtomicFile file(folder_ / "missing" / "a.h5");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace attnscope
