// See parallel_for.h.
#pragma once

#include <atomic>
#include <cstddef>

namespace tbb {

class global_control {
 public:
  enum parameter { max_allowed_parallelism };

  global_control(parameter, std::size_t allowed) : before_(allowed_.exchange(allowed)) {}
  ~global_control() { allowed_ = before_; }
  global_control(const global_control&) = delete;
  global_control& operator=(const global_control&) = delete;

  [[nodiscard]] static std::size_t allowed() { return allowed_; }

 private:
  static inline std::atomic<std::size_t> allowed_ = 64;
  std::size_t before_;
};

}  // namespace tbb
