// Follows attention during training: ranks and entropies of the maps of a few inputs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/model.h"
#include "core/training/run/training_log.h"

namespace attnscope {

/// Values per layer, over its heads and all inputs, of A without I. NaN if no map is ready.
struct ProbeNumbers {
  std::vector<double> mean_rank;      ///< mean of the maps' equivalent ranks (Adder, Fig. 3)
  std::vector<double> rank_of_mean;   ///< rank of the maps' mean curve (Adder, Fig. 2)
  std::vector<double> identity_rank;  ///< like mean_rank, of A + I
  std::vector<double> entropy;        ///< entropy of a query's weights, in nats, mean over queries
};

/// Runs the model's own attention on the inputs; equivalent ranks at 0.9. Throws Error, Cancelled.
[[nodiscard]] ProbeNumbers probe(const Model& model, std::span<const Input> inputs,
                                 const Progress& progress = {});

/// Adds the numbers to the log's tables "probes/…", one row each, with "probes/step".
void add_probes(const ProbeNumbers& numbers, std::int64_t step, TrainingLog& log);

}  // namespace attnscope
