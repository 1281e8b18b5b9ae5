// Checks of errors: their kind and message.
#pragma once

#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <utility>

#include "core/error.h"

namespace attnscope {

/// The message of the Error that `work()` throws; empty if it throws none.
template <class Work>
[[nodiscard]] std::string error_of(Work&& work) {
  try {
    (void)std::forward<Work>(work)();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// The Error that `work()` throws; a failure with `what`, and an empty Error, if it throws none.
template <class Work>
[[nodiscard]] Error refusal_of(Work&& work, const testing::Message& what = {}) {
  try {
    (void)std::forward<Work>(work)();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was refused " << what;
  return {ErrorKind::usage, ""};
}

/// Expects `open()` to throw an Error of `kind` whose message contains `part` and names `file`.
template <class Open>
void expect_refusal(Open&& open, ErrorKind kind, const std::string& part,
                    const std::filesystem::path& file) {
  try {
    (void)std::forward<Open>(open)();
    ADD_FAILURE() << file << " was opened; expected: " << part;
  } catch (const Error& error) {
    const std::string line = error.what();
    EXPECT_EQ(error.kind(), kind) << line;
    EXPECT_NE(line.find(part), std::string::npos) << line << "\nexpected to contain: " << part;
    EXPECT_NE(line.find(file.filename().string()), std::string::npos) << line;
  }
}

}  // namespace attnscope
