// How attention changes while a network learns: ranks and entropies of its maps for a few inputs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/model.h"
#include "core/training/run/training_log.h"

namespace attnscope {

/// Of each layer, over its heads and all inputs; of A without I. NaN where no map is ready.
struct ProbeNumbers {
  std::vector<double> mean_rank;      ///< mean of the maps' equivalent ranks (Adder, Fig. 3)
  std::vector<double> rank_of_mean;   ///< the rank of their mean curve (Adder, Fig. 2)
  std::vector<double> identity_rank;  ///< as mean_rank, of A + I
  std::vector<double> entropy;        ///< of a query's weights, in nats, mean over queries
};

/// Runs the model's own attention on the inputs; equivalent ranks at 0.9. Throws Error, Cancelled.
[[nodiscard]] ProbeNumbers probe(const Model& model, std::span<const Input> inputs,
                                 const Progress& progress = {});

/// Adds them to the log's tables "probes/…" as a row each, "probes/step" among them.
void add_probes(const ProbeNumbers& numbers, std::int64_t step, TrainingLog& log);

}  // namespace attnscope
