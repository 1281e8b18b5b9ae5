#include "core/text/failure.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace attnscope {
namespace {

Error thrown_by(void (*work)()) {
  try {
    work();
  } catch (const std::exception& failure) {
    return as_error(failure);
  }
  return Error(ErrorKind::usage, "nothing was thrown");
}

TEST(AsErrorTest, ValuesInJsonAreNamedWithoutTheLibrary) {
  const Error error = thrown_by([] { (void)nlohmann::json(3).get<std::string>(); });
  EXPECT_EQ(error.kind(), ErrorKind::damaged);
  EXPECT_EQ(error.found_text(), "type must be string, but is number");
}

TEST(AsErrorTest, FilesAreNamedByTheirPath) {
  const Error error =
      thrown_by([] { (void)std::filesystem::directory_iterator("/nowhere/to/be/found"); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_STREQ(error.what(), "/nowhere/to/be/found: cannot be used: No such file or directory");
}

TEST(AsErrorTest, KeepsOtherMessages) {
  const Error own =
      thrown_by([] { throw Error(ErrorKind::usage, "no such layer").about("--layer"); });
  EXPECT_EQ(own.kind(), ErrorKind::usage);
  EXPECT_EQ(own.subject(), "--layer");
  EXPECT_STREQ(thrown_by([] { throw std::bad_alloc(); }).what(), "there is not enough memory");
  EXPECT_STREQ(thrown_by([] { throw std::runtime_error("why"); }).what(), "why");
}

}  // namespace
}  // namespace attnscope
