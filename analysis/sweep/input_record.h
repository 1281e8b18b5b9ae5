// What one input contributes to a sweep.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/sweep/sweep.h"

namespace attnscope {

/// What one map of one input contributes.
struct MapRecord {
  bool ready = false;
  std::vector<double> share;        ///< f(r), r = 1 … n
  std::vector<std::int64_t> ranks;  ///< at each threshold
  double effective_rank = 0, stable_rank = 0;
  /// Over its null models, kShuffles of them: Σ f(r) and Σ f(r)²; empty where they are not asked
  /// for or not known.
  std::vector<double> null_share_sums, null_share_squares;
};

/// One layer: H maps.
struct LayerRecord {
  std::int64_t heads = 0, values = 0;
  std::vector<MapRecord> maps;                            ///< [H]
  std::map<std::string, std::vector<double>> statistics;  ///< [H]
};

/// One model under one mechanism, its maps seen in one way.
struct SeriesRecord {
  std::string label;
  bool identity = false;
  std::optional<bool> correct;  ///< none without a class
  std::vector<LayerRecord> layers;
};

/// All series, in the order of SweepResult::series.
using InputRecord = std::vector<SeriesRecord>;

/// Runs `subject` on `input` and appends its series, one for each of the request's views.
void add_records(const Subject& subject, const SweepRequest& request, const Input& input,
                 InputRecord& records);

}  // namespace attnscope
