// The gradient of a batch, computed on all cores with results that do not depend on their number.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/training/network.h"

namespace attnscope {

/// A function that makes the examples [first, first + count) of a batch; called from several
/// threads at once.
using MakeExamples = std::function<Examples(std::int64_t first, std::int64_t count)>;

/// A batch is split into pieces of a few hundred tokens, which are assigned in turn to at most 16
/// lanes. Each lane has its own gradient, and these are summed in order. Neither pieces nor lanes
/// depend on the number of threads. Memory: the layers' values of one piece per thread, and the
/// gradients of the lanes.
class BatchGradient {
 public:
  explicit BatchGradient(const TrainedNetwork& network) : network_(network) {}

  /// The loss of `count` examples. Sets `gradients` to the gradient of the mean loss over their
  /// targets (tokens of texts, images).
  LossSum gradient(const std::vector<float>& values, std::int64_t count, const MakeExamples& make,
                   std::vector<float>& gradients);
  /// The loss without its gradient.
  LossSum loss(const std::vector<float>& values, std::int64_t count, const MakeExamples& make);

 private:
  class BorrowedRoom;
  struct Lanes;
  [[nodiscard]] Lanes lanes_of(std::int64_t count) const;
  LossSum run(const std::vector<float>& values, float weight, const Lanes& lanes,
              const MakeExamples& make);
  void add_up(const Lanes& lanes, std::vector<float>& gradients) const;

  const TrainedNetwork& network_;
  std::vector<std::vector<float>> lane_gradients_;
  std::vector<std::unique_ptr<TrainedNetwork::Room>> free_rooms_;
  std::mutex rooms_;
};

}  // namespace attnscope
