#include "core/file/atomic_file.h"

#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

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

TEST_F(AtomicFileTest, WritesNothingUnderTheFinalNameBeforeCommit) {
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

TEST_F(AtomicFileTest, ReportsWhyItCannotWrite) {
  EXPECT_THROW(AtomicFile(folder_ / "missing" / "a.h5"), Error);
  EXPECT_THROW(AtomicFile{folder_.path()}, Error);
  try {
    AtomicFile file(folder_ / "missing" / "a.h5");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos) << error.what();
  }
}

TEST_F(AtomicFileTest, RemovesTheFileOfAKilledWriter) {
  const auto path = folder_ / "sweep.h5.unfinished";
  const pid_t writer = fork();
  if (writer == 0) {
    const AtomicFile file(path);
    std::ofstream(file.temporary()) << "half";
    kill(getpid(), SIGKILL);
  }
  waitpid(writer, nullptr, 0);
  ASSERT_EQ(files(), 1);
  write_file(folder_ / "another.h5.unfinished", "another's are left alone");
  ASSERT_EQ(files(), 2);
  write_file(path, "whole");
  EXPECT_EQ(files(), 2);
  EXPECT_EQ(read(path), "whole");
}

TEST_F(AtomicFileTest, KeepsAFileThatIsBeingWritten) {
  const auto path = folder_ / "trace.h5";
  int ready[2], go_on[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(go_on), 0);
  const pid_t writer = fork();
  if (writer == 0) {
    AtomicFile file(path);
    std::ofstream(file.temporary()) << "slow";
    char c = 0;
    const bool told = write(ready[1], &c, 1) == 1 && ::read(go_on[0], &c, 1) == 1;
    if (told) file.commit();
    _exit(told ? 0 : 1);
  }
  char c = 0;
  ASSERT_EQ(::read(ready[0], &c, 1), 1);
  AtomicFile mine(path);
  EXPECT_EQ(files(), 2);
  std::ofstream(mine.temporary()) << "quick";
  mine.commit();
  ASSERT_EQ(::write(go_on[1], &c, 1), 1);
  int status = -1;
  waitpid(writer, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read(path), "slow");
  EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFileTest, KeepsFilesThatOnlyLookAbandoned) {
  for (const char* name : {".trace.part.h5", ".trace.999999999-x.part.h5", ".trace.1-1.part.h5",
                           ".trace.-5-1.part.h5", ".trace.12.h5"}) {
    (void)folder_.write(name, "someone's");
  }
  write_file(folder_ / "trace.h5", "whole");
  EXPECT_EQ(files(), 6);
}

}  // namespace
}  // namespace attnscope
