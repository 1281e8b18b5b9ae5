#include "core/checkpoint/hdf5/reading_child.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <malloc.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/hdf5/hdf5_library.h"
#include "core/error.h"
#include "tests/support/refusal.h"
#include "tests/support/sanitized.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// The error that `read` throws in a child; fails the test if there is none.
Error error_of_child(const std::function<std::string()>& read, const ChildLimits& limits = {}) {
  try {
    (void)read_in_child(read, limits);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {ErrorKind::usage, ""};
}

void expect_failed(const Error& error, const std::string& how) {
  EXPECT_EQ(error.kind(), ErrorKind::damaged);
  const std::string& message = error.message();
  EXPECT_TRUE(message.starts_with("the HDF5 library failed on this file")) << message;
  EXPECT_NE(message.find(how), std::string::npos) << message;
}

void expect_no_children() {
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(ReadingChild, AnswersOfAnyLengthCome) {
  EXPECT_EQ(read_in_child([] { return std::string(); }), "");
  const std::string zeros("a\0b", 3);
  EXPECT_EQ(read_in_child([&] { return zeros; }), zeros);
  const std::string longest(5'000'000, 'x');  // many times the capacity of a pipe
  EXPECT_EQ(read_in_child([&] { return longest; }), longest);
  expect_no_children();
}

TEST(ReadingChild, ErrorsComeWithTheirParts) {
  const Error error = error_of_child([]() -> std::string {
    throw Error(ErrorKind::unsupported, "what")
        .in_file("file.h5")
        .about("subject")
        .expected("this")
        .found("that")
        .remedy("do");
  });
  EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  EXPECT_STREQ(error.what(), "file.h5: subject: what (expected this, found that); do");
}

TEST(ReadingChild, OtherExceptionsAreErrors) {
  expect_failed(error_of_child([]() -> std::string { throw std::runtime_error("odd"); }), "odd");
}

TEST(ReadingChild, CrashesAreErrors) {
  expect_failed(error_of_child([]() -> std::string { std::abort(); }), "Aborted");
  expect_failed(error_of_child([]() -> std::string {
                  (void)std::raise(SIGSEGV);
                  return "";
                }),
                "Segmentation fault");
  expect_failed(error_of_child([]() -> std::string { ::_exit(7); }), "status 7");
  expect_no_children();
}

TEST(ReadingChild, IsEndedWhenItSleepsOrLoopsForever) {
  ChildLimits limits;
  limits.time = milliseconds(300);
  const auto start = steady_clock::now();
  expect_failed(error_of_child(
                    []() -> std::string {
                      while (true) std::this_thread::sleep_for(milliseconds(50));
                    },
                    limits),
                "300 ms");
  expect_failed(error_of_child(
                    []() -> std::string {
                      volatile int counted = 0;
                      while (true) counted = 1 - counted;
                    },
                    limits),
                "300 ms");
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(10));
  expect_no_children();
}

TEST(ReadingChild, IsLimitedInMemory) {
  if (kSanitized) GTEST_SKIP() << "sanitizers need addresses without a limit";
  const auto allocate = [](std::size_t bytes) {
    return [bytes] {
      void* const memory = ::operator new(bytes);
      ::operator delete(memory);
      return std::string("allocated");
    };
  };
  EXPECT_EQ(read_in_child(allocate(std::size_t{1} << 30)), "allocated");
  expect_failed(error_of_child(allocate(std::size_t{10} << 30)), "memory");
}

TEST(ReadingChild, IsLimitedInAnswers) {
  ChildLimits limits;
  limits.answer = 1000;
  expect_failed(error_of_child([] { return std::string(2000, 'x'); }, limits), "1000 bytes");
}

TEST(ReadingChild, SharesOnlySharedMemory) {
  int own = 1;
  const SharedBytes shared(1 << 20);
  (void)read_in_child([&] {
    own = 2;
    std::memset(shared.bytes().data(), 7, shared.bytes().size());
    return std::string();
  });
  EXPECT_EQ(own, 1);
  EXPECT_EQ(shared.bytes().back(), std::byte{7});
}

TEST(ReadingChild, StartsWhileOthersUseTheLibrary) {
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) {
      const QuietHdf5 quiet;
      const Hdf5Id list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "refused");
      const auto block = std::make_unique<std::vector<char>>(1000);
    }
  });
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(read_in_child([] {
                const Hdf5Id list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "refused");
                return std::string("used");
              }),
              "used");
  }
  done = true;
  other.join();
}

TEST(ReadingChild, FilesThatCrashTheLibraryAreRefused) {
  const auto file = test_data("checkpoint/hostile/links-of-zeros.h5");
  ::mallopt(M_PERTURB, 165);  // like MALLOC_PERTURB_: uninitialised memory is not zero
  expect_refusal([&] { return open_checkpoint(file); }, ErrorKind::damaged, "", file);
  ::mallopt(M_PERTURB, 0);
  expect_refusal([&] { return open_checkpoint(file); }, ErrorKind::damaged, "", file);
}

}  // namespace
}  // namespace attnscope
