// Contribution of one input to a sweep.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/sweep/sweep.h"

namespace attnscope {

/// Contribution of one map of one input.
struct MapRecord {
  bool ready = false;
  std::vector<double> share;        ///< f(r), r = 1 … n
  std::vector<std::int64_t> ranks;  ///< equivalent rank at each threshold
  double effective_rank = 0, stable_rank = 0;
  /// Σ f(r) and Σ f(r)² over the map's kShuffles null models; empty if they were not requested or
  /// are unknown.
  std::vector<double> null_share_sums, null_share_squares;
};

/// One layer with H maps.
struct LayerRecord {
  std::int64_t heads = 0, values = 0;
  std::vector<MapRecord> maps;                            ///< [H]
  std::map<std::string, std::vector<double>> statistics;  ///< [H]
};

/// One model with one mechanism, its maps in one view.
struct SeriesRecord {
  std::string label;
  bool identity = false;
  std::optional<bool> correct;  ///< empty for inputs without a class
  std::vector<LayerRecord> layers;
};

/// All series of one input, in the order of SweepResult::series.
using InputRecord = std::vector<SeriesRecord>;

/// Runs `subject` on `input` and appends one series for each of the request's views.
void add_records(const Subject& subject, const SweepRequest& request, const Input& input,
                 InputRecord& records);

}  // namespace attnscope
