// The exponential moving average of a network's weights.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace attnscope {

/// a ← β a + (1 − β) w after each step, and a = w after the first one, as in PyTorch's
/// AveragedModel with this average. Decay β = 0 keeps no average.
class WeightAverage {
 public:
  /// 0 ≤ decay < 1.
  explicit WeightAverage(double decay = 0) : decay_(decay) {}

  [[nodiscard]] bool active() const { return decay_ > 0; }
  /// The average; empty before the first step.
  [[nodiscard]] const std::vector<float>& values() const { return values_; }
  void set(std::vector<float> values) { values_ = std::move(values); }

  /// Takes in the weights after a step. Does nothing unless active.
  void add(std::span<const float> weights) {
    if (!active()) return;
    if (values_.empty()) {
      values_.assign(weights.begin(), weights.end());
      return;
    }
    const auto kept = static_cast<float>(decay_), taken = static_cast<float>(1 - decay_);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i] = kept * values_[i] + taken * weights[i];
    }
  }

 private:
  double decay_;
  std::vector<float> values_;
};

}  // namespace attnscope
