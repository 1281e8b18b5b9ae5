// Changes of a model's maps during a run: with a part of I, another temperature, a lower rank,
// without a head, or interpolated toward another mechanism. Later layers and the answer follow from
// the changed maps.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/subject_id.h"
#include "core/model/subject.h"
#include "core/parameters/enum_names.h"
#include "core/progress.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Replacements of a head's map A [N, M]. The I of an identity mapping is not part of A and stays.
enum class HeadReplacement {
  zero,             ///< A = 0
  uniform,          ///< equal weights on all keys that the mask lets a query see
  mean_row,         ///< the mean row; for a causal map up to the diagonal, scaled to the sum
  other_head,       ///< another head's map of the same layer, from the run without changes
  other_attention,  ///< the map of another mechanism on the head's present queries and keys
  mean_over_data    ///< the head's mean map over inputs of a data set
};
inline constexpr EnumName<HeadReplacement> head_replacement_names[] = {
    {HeadReplacement::zero, "zero"},
    {HeadReplacement::uniform, "uniform"},
    {HeadReplacement::mean_row, "mean-row"},
    {HeadReplacement::other_head, "other-head"},
    {HeadReplacement::other_attention, "other-attention"},
    {HeadReplacement::mean_over_data, "mean-over-data"}};

struct ReplacedHead {
  std::int64_t layer = 0, head = 0;
  HeadReplacement by = HeadReplacement::zero;
  std::int64_t other = 0;          ///< the other head's index (other_head)
  MechanismChoice mechanism = {};  ///< the other mechanism (other_attention)
  std::string data_set = {};       ///< the data set's path (mean_over_data)

  bool operator==(const ReplacedHead&) const = default;
};

/// Changes in the order in which they apply: interpolation (1 − s)A + sB of the map A without I,
/// replacement of heads, temperature of the rows, best approximation of a lower rank, + εI.
struct WhatIf {
  std::optional<double> identity =
      std::nullopt;        ///< ε of A + εI, 0 to 1; as in the mechanism if absent
  double temperature = 1;  ///< T: rows to the power 1/T, see temper_row; 0.1 to 10
  std::optional<std::int64_t> rank = std::nullopt;  ///< r ≥ 1; full rank if absent
  std::vector<ReplacedHead> heads = {};             ///< at most one entry per head
  /// Another subject with the same weights and input, whose maps are B. At a share of 1 the answer
  /// is that of the other subject.
  SubjectId toward = SubjectId::none;
  double share = 0;  ///< s of the interpolation, 0 to 1

  [[nodiscard]] bool any() const;
  bool operator==(const WhatIf&) const = default;
};

/// Description of the changes: "A + 0.50 I, T = 2.00, without head 1 of layer 3"; empty without
/// changes.
[[nodiscard]] std::string in_words(const WhatIf& what_if);

/// The changes with another replacement of one head, or without it.
[[nodiscard]] WhatIf with_head(WhatIf what_if, const ReplacedHead& head);
[[nodiscard]] WhatIf without_replacement(WhatIf what_if, std::int64_t layer, std::int64_t head);

/// Writes into `map`, with I included, the replacement by other_attention or mean_over_data.
using PutInPlace = std::function<void(const ReplacedHead& head, MatrixMap map)>;

/// A function for TraceRequest::change_map. `unchanged`: trace of the subject without changes;
/// `toward`: maps of the other subject, null without interpolation; `put`: maps_in_place, required
/// for replacements by other_attention or mean_over_data.
/// Throws Error(usage) for a missing head, for other maps of different shape, and for a part of I
/// in maps that are not square.
[[nodiscard]] std::function<void(std::int64_t layer, std::int64_t head, MatrixMap map)> map_change(
    const WhatIf& what_if, std::shared_ptr<const Trace> unchanged,
    std::shared_ptr<const Trace> toward, PutInPlace put = {});

/// Removes from a trace with changed maps everything that holds only for unchanged maps: rank
/// bounds, factors, and the mark of a complete I.
void mark_changed(const WhatIf& what_if, const Trace* toward, Trace& trace);

/// Maps for HeadReplacement::other_attention and mean_over_data, to be passed to map_change.
/// `whole`: the subject's trace without changes. Reads data sets and runs the model on up to
/// mean_items of each. Throws Error like change_of and mean_maps
/// (analysis/intervention/ablation.h), and for a data set that cannot be read; Cancelled.
[[nodiscard]] PutInPlace maps_in_place(const WhatIf& what_if, const Subject& subject,
                                       const std::shared_ptr<const Trace>& whole,
                                       const Progress& progress);

/// Number of data set inputs that a mean map is computed from, evenly spaced.
inline constexpr std::int64_t mean_items = 32;

}  // namespace attnscope
