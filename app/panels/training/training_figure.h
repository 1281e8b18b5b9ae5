// How trainings went so far, as a figure: one curve a training over its steps.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/figure/figure.h"
#include "core/training/run/training_log.h"

namespace attnscope {

struct TrainingCurve {
  std::string name;
  std::size_t place = 0;  ///< of its subject: the curve has its colour and marker
  std::shared_ptr<const TrainingLog> log;

  bool operator==(const TrainingCurve&) const = default;  ///< the same log: the same pointer
};

enum class TrainingView {
  loss,      ///< of batches, mean of 20 steps; marked: of the test examples
  accuracy,  ///< the same, in %
  rank,      ///< equivalent rank of A without I, of the probes; mean of the layers, and each thinly
  entropy    ///< of a query's weights in nats; so too
};

[[nodiscard]] Figure training_figure(const std::vector<TrainingCurve>& curves, TrainingView view);

}  // namespace attnscope
