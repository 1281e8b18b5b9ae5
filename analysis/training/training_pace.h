// Keeps trainings that run side by side at the same number of steps, on request.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>

namespace attnscope {

/// Shared by several LiveTrainings; may be changed from any thread at any time. While they keep in
/// step, a training begins a step only when all others that learn have made as many, so that their
/// numbers of steps differ by at most one once those behind have caught up. A training learns from
/// the request of steps, including the time in which it reads its data, until it has made them, is
/// paused, finishes, fails or ends; then no other waits for it.
class TrainingPace {
 public:
  void keep_in_step(bool on);
  [[nodiscard]] bool keeps_in_step() const;

 private:
  friend class LiveTraining;

  /// True if a training with this number of steps may make another; requires the lock.
  [[nodiscard]] bool allows_step_after(std::int64_t step) const;

  mutable std::mutex mutex_;             ///< guards this and the shared state of the trainings
  std::condition_variable_any changed_;  ///< notified of every change of what it guards
  bool in_step_ = false;
  std::map<const void*, std::int64_t> learning_;  ///< trainings that learn → their steps
};

}  // namespace attnscope
