#include "core/platform/process.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <thread>

#include "core/error.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

TEST(Process, KnowsItsProgramsFile) {
  EXPECT_EQ(program_file().filename(), "core_tests");
  EXPECT_TRUE(std::filesystem::is_regular_file(program_file()));
}

TEST(Process, LowersThePriorityOfOneThreadOnly) {
  const int before = ::getpriority(PRIO_PROCESS, 0);
  int lowered = 0;
  std::thread([&] {
    lower_thread_priority(7);
    lowered = ::getpriority(PRIO_PROCESS, 0);
  }).join();
  EXPECT_EQ(lowered, 7);
  EXPECT_EQ(::getpriority(PRIO_PROCESS, 0), before);
}

TEST(Process, RefusesAPlugInThatIsNoLibrary) {
  const TemporaryFolder folder;
  const auto file = folder.write("plug-in.so", "text");
  const auto load = [&] { return load_function(file, "make", "the plug-in cannot be loaded"); };
  expect_refusal(load, ErrorKind::unsupported, "the plug-in cannot be loaded", file);
  EXPECT_NE(load_function("libc.so.6", "malloc", "refused"), nullptr);
  EXPECT_THROW((void)load_function("libc.so.6", "no_such_function", "refused"), Error);
}

}  // namespace
}  // namespace attnscope
