// Numbers that the scripts in tests/data/checkpoint store, and checks of files that must be
// refused.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {

/// The twelve numbers that all scripts store as [3, 4]: −1, −0.75, …, 1.75.
inline std::vector<float> ramp() {
  std::vector<float> values(12);
  for (std::size_t i = 0; i < 12; ++i) values[i] = static_cast<float>(i) / 4 - 1;
  return values;
}

inline std::vector<float> floats(const Checkpoint& checkpoint, const std::string& name) {
  const Tensor tensor = checkpoint.at(name).view().to_float();
  return {tensor.values().begin(), tensor.values().end()};
}

/// Expects an Error that names the file `name` of tests/data/checkpoint and contains `part`.
inline void expect_refused(const std::string& name, ErrorKind kind, const std::string& part) {
  const auto file = test_data("checkpoint/" + name);
  expect_refusal([&] { return open_checkpoint(file); }, kind, part, file);
}

/// Expects Error(damaged) for the file `name` of tests/data/checkpoint truncated to `shortest`
/// bytes and, in steps of `step`, to all lengths below `end` and the length of the file.
inline void expect_damaged_when_cut_off(const std::string& name, std::size_t shortest,
                                        std::size_t step, std::size_t end = std::string::npos) {
  const TemporaryFolder folder;
  const std::string whole = read_bytes(test_data("checkpoint/" + name));
  for (std::size_t length = shortest; length < std::min(end, whole.size()); length += step) {
    const auto file = folder.write(name, whole.substr(0, length));
    expect_refusal([&] { return open_checkpoint(file); }, ErrorKind::damaged, "", file);
  }
}

}  // namespace attnscope
