// Reading by a library that damaged files crash or hang: in a child process with limits, so that
// the program gets an error instead.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace attnscope {

struct ReadingLimits {
  std::chrono::milliseconds time{20'000};
  std::uint64_t memory = std::uint64_t{2} << 30;    ///< bytes beyond what the process has already
  std::uint64_t answer = std::uint64_t{256} << 20;  ///< bytes
};

/// What `read()` returns, run in a child process while no thread is inside the HDF5 library. It may
/// call that library and our own code without locks, and nothing else of the program; memory it
/// changes is its own, but for SharedBytes. Throws the Error that `read` throws; Error(damaged) if
/// the child crashed, came to a limit or ended otherwise (under address and thread sanitizers
/// memory has no limit); Error(io) if no process can be started.
[[nodiscard]] std::string read_in_child(const std::function<std::string()>& read,
                                        const ReadingLimits& limits = {});

/// Zeros at first; memory that a child writes to and the program reads.
class SharedBytes {
 public:
  /// Throws Error(io) if there is not as much memory.
  explicit SharedBytes(std::size_t count);
  ~SharedBytes();
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace attnscope
