// A child process with limits of time and memory, for work that may crash or hang: a library that
// reads files of strangers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <sys/types.h>

namespace attnscope {

struct ChildLimits {
  std::chrono::milliseconds time{20'000};
  std::uint64_t memory = std::uint64_t{2} << 30;    ///< bytes beyond the memory already in use
  std::uint64_t answer = std::uint64_t{256} << 20;  ///< bytes
};

/// A forked copy of this process that does one piece of work. It has no terminal, ignores Ctrl-C,
/// leaves no core dump and ends with its parent. It always ends, and is waited for.
class LimitedChild {
 public:
  /// Starts `work` in the child. `work` may only use code that takes no locks which other threads
  /// may hold at this moment, and must not throw. Its writes to memory are lost, except to
  /// SharedBytes. Throws Error(io) if no process can be started.
  LimitedChild(const std::function<std::string()>& work, const ChildLimits& limits);
  /// Ends the child.
  ~LimitedChild();
  LimitedChild(const LimitedChild&) = delete;
  LimitedChild& operator=(const LimitedChild&) = delete;

  struct Answer {
    std::string text;     ///< the result of `work`
    std::string failure;  ///< "it crashed: Segmentation fault"; empty if `work` returned
  };
  /// Waits for the result; called once. A crash and a reached limit are failures. Memory is not
  /// limited under address and thread sanitizers, which map terabytes.
  [[nodiscard]] Answer answer();

 private:
  /// Ends the child and returns its status from waitpid.
  int end();

  ChildLimits limits_;
  int pipe_ = -1;
  pid_t process_ = -1;
};

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
