// Quantities of trainings at each step, from the logs of runs or from series of checkpoints, and
// the probes that compute them: equivalent ranks and entropies of the maps of a few inputs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/input/input.h"
#include "core/model/model.h"
#include "core/progress.h"
#include "core/training/run/training_log.h"

namespace attnscope {

/// One training over its steps.
struct TrainingHistory {
  std::string label;  ///< shared by trainings that differ only in their seeds
  std::filesystem::path folder;
  TrainingLog log;  ///< tables named like those of a run: "tests/…", "probes/…", "steps/…"
};

/// The trainings in `folder`: a run, a folder of runs (a study's; those named NAME-seed1,
/// NAME-seed2 … share the label NAME), or a series of checkpoints (checkpoint_series.h), each of
/// which runs on `inputs`; its log then has only "probes/…". Throws Error(usage) if there is none
/// of these, or for a series without inputs; Error for a model that cannot be read or run.
[[nodiscard]] std::vector<TrainingHistory> read_histories(const std::filesystem::path& folder,
                                                          const std::vector<Input>& inputs,
                                                          const Progress& progress = {});

/// Reads a log written by TrainingLog::as_hdf5. Throws Error(io, damaged).
[[nodiscard]] TrainingLog read_training_log(const std::filesystem::path& file);

/// Target of ProbeNumbers::rank_at_entropy. Maps of trained networks are sharp enough to compare
/// their ranks below it; even maps are near 1.
inline constexpr double kProbedEntropy = 0.8;

/// Values per layer, over its heads and all inputs, of A without I. NaN if no map is ready.
struct ProbeNumbers {
  std::vector<double> mean_rank;      ///< mean of the maps' equivalent ranks (Adder, Fig. 3)
  std::vector<double> rank_of_mean;   ///< rank of the maps' mean curve (Adder, Fig. 2)
  std::vector<double> identity_rank;  ///< like mean_rank, of A + I
  std::vector<double> entropy;        ///< entropy of a query's weights, in nats, mean over queries
  /// Like mean_rank, of every map at the temperature at which its mean row entropy is
  /// kProbedEntropy · ln n (rank_at_entropy); NaN for mechanisms without a temperature.
  std::vector<double> rank_at_entropy;
};

/// Runs the model's own attention on the inputs; equivalent ranks at 0.9. Throws Error, Cancelled.
[[nodiscard]] ProbeNumbers probe(const Model& model, std::span<const Input> inputs,
                                 const Progress& progress = {});

/// Adds the numbers to the log's tables "probes/…", one row each, with "probes/step".
void add_probes(const ProbeNumbers& numbers, std::int64_t step, TrainingLog& log);

}  // namespace attnscope
