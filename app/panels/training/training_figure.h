// Figure of the trainings so far, one curve per training over its steps.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/figure/figure.h"
#include "core/training/run/training_log.h"

namespace attnscope {

struct TrainingCurve {
  std::string name;
  std::size_t place = 0;  ///< index of its model, which gives colour and marker
  std::shared_ptr<const TrainingLog> log;

  bool operator==(const TrainingCurve&) const = default;  ///< compares logs by pointer
};

enum class TrainingView {
  loss,      ///< batch loss, mean over 20 steps; markers: loss on the test examples
  accuracy,  ///< accuracy in %, like loss
  rank,      ///< equivalent rank of A without I for the probes: layer mean, layers thin
  entropy    ///< entropy of a query's weights in nats for the probes, like rank
};

[[nodiscard]] Figure training_figure(const std::vector<TrainingCurve>& curves, TrainingView view);

}  // namespace attnscope
