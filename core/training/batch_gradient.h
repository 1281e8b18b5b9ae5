// The gradient of a batch on all cores: the same numbers whatever their number.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/training/network.h"

namespace attnscope {

/// Makes the examples [first, first + count) of a batch; called from several threads at once.
using MakeExamples = std::function<Examples(std::int64_t first, std::int64_t count)>;

/// A batch is cut into pieces of a few hundred tokens; the pieces go in turn to at most 16 lanes,
/// each of which has a gradient of its own, and these are summed in order. Neither the pieces nor
/// the lanes depend on how many threads there are. Memory: the layers' values of one piece for each
/// thread, and the gradients of the lanes.
class BatchGradient {
 public:
  explicit BatchGradient(const TrainedNetwork& network) : network_(network) {}

  /// The loss of `count` examples; `gradients` becomes that of the mean loss over what they are
  /// told to be (tokens of texts, images).
  LossSum gradient(const std::vector<float>& values, std::int64_t count, const MakeExamples& make,
                   std::vector<float>& gradients);
  /// The loss alone.
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
