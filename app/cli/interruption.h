// Ctrl-C as a wish to stop, for work that keeps what it has done.
#pragma once

#include <memory>
#include <stop_token>

namespace attnscope {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP asks token() to stop; a second one does what
/// it did before, which is to end the program. One at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  [[nodiscard]] std::stop_token token() const;

 private:
  struct Watch;
  std::unique_ptr<Watch> watch_;
};

/// What a program that was interrupted returns, as shells have it: 128 + SIGINT.
inline constexpr int kInterruptedStatus = 130;

}  // namespace attnscope
