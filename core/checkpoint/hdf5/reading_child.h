// Runs a reader that damaged files may crash or hang in a child process with limits, so the program
// gets an error instead.
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
  std::uint64_t memory = std::uint64_t{2} << 30;    ///< bytes beyond the memory already in use
  std::uint64_t answer = std::uint64_t{256} << 20;  ///< bytes
};

/// Runs `read()` in a child process and returns its result. The child starts while no thread is
/// inside the HDF5 library. `read` may only call that library and our own code that takes no locks.
/// Its writes to memory are lost, except to SharedBytes. Throws the Error that `read` throws;
/// Error(damaged) if the child crashed, reached a limit or ended early (memory is not limited under
/// address and thread sanitizers); Error(io) if the process cannot be started.
[[nodiscard]] std::string read_in_child(const std::function<std::string()>& read,
                                        const ReadingLimits& limits = {});

/// Zero-initialised memory that a child writes and the program reads.
class SharedBytes {
 public:
  /// Throws Error(io) if `count` bytes cannot be allocated.
  explicit SharedBytes(std::size_t count);
  ~SharedBytes();
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace attnscope
