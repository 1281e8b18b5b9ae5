// Timing of pieces of work that run in turns.
#pragma once

#include <algorithm>
#include <chrono>
#include <time.h>
#include <vector>

namespace attnscope {

/// Seconds that `clock` advances while `work` runs.
template <class Work>
double clock_seconds_of(clockid_t clock, const Work& work) {
  const auto now = [clock] {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

/// Processor time of this thread in seconds, which depends least on the load of the machine.
template <class Work>
double thread_seconds_of(const Work& work) {
  return clock_seconds_of(CLOCK_THREAD_CPUTIME_ID, work);
}

/// Processor time of all threads of this process in seconds.
template <class Work>
double process_seconds_of(const Work& work) {
  return clock_seconds_of(CLOCK_PROCESS_CPUTIME_ID, work);
}

/// Wall time of `work` in seconds.
template <class Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Times of one piece of work. The least shows what the machine can do, the median what is typical.
class Times {
 public:
  void add(double seconds) { seconds_.push_back(seconds); }
  [[nodiscard]] double least() const {
    return seconds_.empty() ? 0 : *std::min_element(seconds_.begin(), seconds_.end());
  }
  [[nodiscard]] double median() const {
    if (seconds_.empty()) return 0;
    std::vector<double> sorted = seconds_;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }

 private:
  std::vector<double> seconds_;
};

}  // namespace attnscope
