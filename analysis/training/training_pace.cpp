#include "analysis/training/training_pace.h"

#include <algorithm>

namespace attnscope {

void TrainingPace::keep_in_step(bool on) {
  {
    const std::lock_guard lock(mutex_);
    in_step_ = on;
  }
  changed_.notify_all();
}

bool TrainingPace::keeps_in_step() const {
  const std::lock_guard lock(mutex_);
  return in_step_;
}

bool TrainingPace::allows_step_after(std::int64_t step) const {
  return !in_step_ ||
         std::ranges::all_of(learning_, [&](const auto& one) { return one.second >= step; });
}

}  // namespace attnscope
