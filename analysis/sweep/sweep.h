// The same analysis over thousands of inputs: mean spectra, rank distributions and statistics of
// the mechanisms' quantities, per layer and head, in memory that does not grow with their number.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/sweep/swept_numbers.h"
#include "core/input/data_set.h"
#include "core/input/item_choice.h"
#include "core/model/subject.h"
#include "core/progress.h"

namespace attnscope {

/// Sums over inputs of one statistic; values that are NaN are not counted.
struct StatisticSums {
  std::vector<std::int64_t> counts;     ///< [H]
  std::vector<double> sums, squares;    ///< [H]
  std::vector<double> least, greatest;  ///< [H]; 0 while nothing was counted
};

/// One layer of one series.
struct LayerSweep {
  std::int64_t heads = 0;               ///< H; 1 where there is one matrix of a layer
  std::int64_t values = 0;              ///< n: singular values of a map, min(N, M)
  std::vector<std::int64_t> maps;       ///< [H] with a spectrum
  std::vector<std::int64_t> left_out;   ///< [H] without: NaN or Inf, all zero, not converged
  std::vector<double> share_sums;       ///< [H, n]: Σ f(r) over maps
  std::vector<double> share_squares;    ///< [H, n]: Σ f(r)²
  std::vector<std::int64_t> ranks;      ///< [T, H, n + 1]: maps of equivalent rank r at threshold t
  std::vector<double> effective_ranks;  ///< [H, 2]: Σ and Σ of squares
  std::vector<double> stable_ranks;     ///< [H, 2]
  /// With SweptNumbers::baselines: of every map kShuffles with its rows shuffled. Files written
  /// before these were kept have none.
  bool null_spectra = false;
  std::vector<std::int64_t> null_maps;     ///< [H] with a spectrum; empty without null_spectra
  std::vector<double> null_share_sums;     ///< [H, n]: Σ f(r) over them
  std::vector<double> null_share_squares;  ///< [H, n]: Σ f(r)²
  std::map<std::string, StatisticSums> statistics;  ///< by StatisticName::name
};

/// One model under one mechanism, its maps seen in one way.
struct SweepSeries {
  std::string label;  ///< "fashion-adder", "fashion-softmax as adder", with " + I" or " without I"
  std::string model;  ///< the weight file
  std::string mechanism;                   ///< to_string of the choice
  bool identity = false;                   ///< whether the analysed maps contain I
  std::int64_t labelled = 0, correct = 0;  ///< inputs with a class, and those named right
  std::vector<LayerSweep> layers;
};

/// Complete when done == count. Everything that is summed is summed in the order of the inputs.
struct SweepResult {
  std::string data_set;     ///< its path
  std::string fingerprint;  ///< of what is swept; see sweep_fingerprint
  std::int64_t first = 0;   ///< index of the first input that could be chosen
  std::int64_t count = 0, done = 0;
  std::int64_t items = 0;  ///< how many could be chosen; 0: not known, as in older files
  /// Of the choice; none: the items follow one another, as in older files.
  std::optional<std::uint32_t> seed = std::nullopt;
  std::vector<double> thresholds;  ///< of equivalent ranks
  SweptNumbers numbers;            ///< what was computed; of older files the usual
  std::vector<SweepSeries> series;
};

struct SweepRequest {
  std::vector<Subject> subjects;  ///< each with its model; inputs and traces do not count
  std::shared_ptr<const DataSet> data_set;
  std::string data_set_path;
  std::int64_t first = 0;  ///< the items before it are left out
  std::int64_t end = 0;    ///< it and the items after it are left out; 0: none
  ItemChoice choice;       ///< of the others
  std::vector<double> thresholds = {0.9};
  std::vector<IdentityView> views = {IdentityView::as_is};
  SweptNumbers numbers = {};
  std::filesystem::path out;  ///< the result; beside it, while unfinished, sweep_checkpoint(out)
  bool restart = false;       ///< forget finished and unfinished work found there
  /// Unfinished work is written after a block of inputs, when this long has passed.
  double checkpoint_seconds = 5;

  /// How many items can be chosen: those from `first` to `end`.
  [[nodiscard]] std::int64_t items() const;
};

/// Where unfinished work on `out` lies: "R.h5.unfinished".
[[nodiscard]] std::filesystem::path sweep_checkpoint(const std::filesystem::path& out);

/// Called after a checkpoint or the result was written, from the thread that runs the sweep.
using SweepAdvanced = std::function<void(const SweepResult&)>;

/// Sweeps, going on from unfinished work of the same request, and writes `out`; where `out` is that
/// result already, returns it without a call of `advanced`. Uses all cores; the result has the same
/// bits whatever the thread count and however often it was interrupted. On cancelling, every input
/// that was done is kept. Throws Error(usage) for an impossible request, for work of another one
/// and for any other file in its place, Error(io), Cancelled.
[[nodiscard]] SweepResult run_sweep(const SweepRequest& request, const Progress& progress = {},
                                    const SweepAdvanced& advanced = {});

}  // namespace attnscope
