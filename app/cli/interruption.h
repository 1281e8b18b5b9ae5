// Ctrl-C as a request to stop, for work that keeps its partial results.
#pragma once

#include <memory>
#include <stop_token>

namespace attnscope {

/// During its lifetime, the first SIGINT, SIGTERM or SIGHUP requests a stop through token(). A
/// second signal of the same kind has its previous effect, which usually ends the program. At most
/// one instance at a time.
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

/// Exit status of an interrupted program, as shells report it: 128 + SIGINT.
inline constexpr int kInterruptedStatus = 130;

}  // namespace attnscope
