// Runs the same analysis over thousands of inputs: mean spectra, rank distributions and statistics
// of the mechanisms' quantities, per layer and head. Memory does not grow with the number of
// inputs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/spectrum/rank.h"
#include "analysis/sweep/swept_numbers.h"
#include "core/input/data_set.h"
#include "core/input/item_choice.h"
#include "core/model/subject.h"
#include "core/progress.h"

namespace attnscope {

/// Sums of one statistic over inputs; NaN values are not counted.
struct StatisticSums {
  std::vector<std::int64_t> counts;     ///< [H]
  std::vector<double> sums, squares;    ///< [H]
  std::vector<double> least, greatest;  ///< [H]; 0 if nothing was counted
};

/// One layer of one series.
struct LayerSweep {
  std::int64_t heads = 0;              ///< H; 1 if there is one matrix per layer
  std::int64_t values = 0;             ///< n: singular values of a map, min(N, M)
  std::vector<std::int64_t> maps;      ///< [H]: number of maps with a spectrum
  std::vector<std::int64_t> left_out;  ///< [H]: number without: NaN or Inf, all zero, not converged
  std::vector<double> share_sums;      ///< [H, n]: Σ f(r) over maps
  std::vector<double> share_squares;   ///< [H, n]: Σ f(r)²
  /// [T, H, n + 1]: number of maps of equivalent rank r at threshold t.
  std::vector<std::int64_t> ranks;
  std::vector<double> effective_ranks;  ///< [H, 2]: Σ and Σ of squares over maps
  std::vector<double> stable_ranks;     ///< [H, 2]: Σ and Σ of squares over maps
  /// True if the spectra of null models were summed: with SweptNumbers::baselines, kShuffles per
  /// map with its rows shuffled.
  bool null_spectra = false;
  std::vector<std::int64_t> null_maps;  ///< [H]: number with a spectrum; empty without null_spectra
  std::vector<double> null_share_sums;  ///< [H, n]: Σ f(r) over null models
  std::vector<double> null_share_squares;           ///< [H, n]: Σ f(r)²
  std::map<std::string, StatisticSums> statistics;  ///< keyed by StatisticName::name
};

/// One model with one mechanism, its maps in one view.
struct SweepSeries {
  std::string label;  ///< "fashion-adder", "fashion-softmax as adder", with " + I" or " without I"
  std::string model;  ///< path of the weight file
  std::string mechanism;                   ///< to_string of the MechanismChoice
  bool identity = false;                   ///< true if the analysed maps contain I
  std::int64_t labelled = 0, correct = 0;  ///< inputs with a class, and correctly classified ones
  std::vector<LayerSweep> layers;
  /// Status in words of a model that is unconfirmed or contradicted; empty for others.
  std::string status = {};
};

/// Complete if done == count. All sums are added in the order of the inputs.
struct SweepResult {
  std::string data_set;     ///< path of the data set
  std::string fingerprint;  ///< hashes of everything that decides the result; see sweep_fingerprint
  std::int64_t first = 0;   ///< index of the first item that could be chosen
  std::int64_t count = 0, done = 0;
  std::int64_t items = 0;               ///< number of items that could be chosen, at least `count`
  std::uint32_t seed = 0;               ///< seed of the choice
  std::vector<double> thresholds;       ///< thresholds of equivalent ranks
  RankShare share = RankShare::values;  ///< share that thresholds and curves f(r) are levels of
  SweptNumbers numbers;                 ///< computed quantities
  std::vector<SweepSeries> series;
};

struct SweepRequest {
  std::vector<Subject> subjects;  ///< each with its model; inputs and traces are ignored
  std::shared_ptr<const DataSet> data_set;
  std::string data_set_path;
  std::int64_t first = 0;  ///< items before this index are left out
  std::int64_t end = 0;    ///< items from this index on are left out; 0: no limit
  ItemChoice choice;       ///< choice among the remaining items
  std::vector<double> thresholds = {0.9};
  RankShare share = RankShare::values;  ///< share that thresholds and curves f(r) are levels of
  std::vector<IdentityView> views = {IdentityView::as_is};
  SweptNumbers numbers = {};
  std::filesystem::path out;  ///< path of the result; unfinished work is at sweep_checkpoint(out)
  bool restart = false;       ///< discard finished and unfinished work found there
  /// Minimum time in seconds between two checkpoints, which are written after a block of inputs.
  double checkpoint_seconds = 5;

  /// Number of items that can be chosen: those from `first` to `end`.
  [[nodiscard]] std::int64_t items() const;
};

/// Path of unfinished work on `out`: "R.h5.unfinished".
[[nodiscard]] std::filesystem::path sweep_checkpoint(const std::filesystem::path& out);

/// Callback after a checkpoint or the result was written, from the thread that runs the sweep.
using SweepAdvanced = std::function<void(const SweepResult&)>;

/// Sweeps, resuming unfinished work of the same request, and writes `out`. If `out` is that result
/// already, returns it without calling `advanced`. Uses all cores; the result has the same bits
/// whatever the number of threads and interruptions. When cancelled, every completed input is kept.
/// Throws Error(usage) for an invalid request, for work of a different request and for any other
/// file at these paths, Error(io), Cancelled.
[[nodiscard]] SweepResult run_sweep(const SweepRequest& request, const Progress& progress = {},
                                    const SweepAdvanced& advanced = {});

/// Stores a sweep's result, finished or not, as an HDF5 file. Writes a temporary file, then renames
/// it. Equal results give equal bytes. Throws Error(io).
void write_sweep(const std::filesystem::path& file, const SweepResult& result);

/// Reads a sweep. Throws Error(io, not_this_format), Error(damaged) for shapes that contradict each
/// other.
[[nodiscard]] SweepResult read_sweep(const std::filesystem::path& file);

}  // namespace attnscope
