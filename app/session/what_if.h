// What if a model's maps were other ones while it runs: with I in part, colder or warmer, of a
// lower rank, without a head, or on the way to another attention's. Everything that follows from
// them follows: later layers, and the answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/subject_id.h"
#include "core/parameters/enum_names.h"
#include "core/trace/trace.h"

namespace attnscope {

/// What stands in the place of a head's map A [N, M]. The I of an identity mapping is no part of A:
/// it stays.
enum class HeadReplacement {
  zero,        ///< nothing: the head gives 0
  uniform,     ///< equal weights on all keys that the mask lets a query see
  mean_row,    ///< each row the mean of all; of a causal map up to the diagonal, scaled to its sum
  other_head,  ///< another head's map of the same layer, as it is when nothing is changed
  other_attention,  ///< what another attention makes of the queries and keys that the head then has
  mean_over_data    ///< its mean map over inputs of a data set
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
  std::int64_t other = 0;          ///< of other_head: which
  MechanismChoice mechanism = {};  ///< of other_attention
  std::string data_set = {};       ///< of mean_over_data: its path

  bool operator==(const ReplacedHead&) const = default;
};

/// In this order: the map A without I, which on the way to another attention is (1 − s)A + sB; a
/// head's replacement; its rows tempered; its best approximation of a lower rank; + εI.
struct WhatIf {
  std::optional<double> identity =
      std::nullopt;        ///< ε of A + εI, 0 to 1; as the mechanism has it if absent
  double temperature = 1;  ///< T: rows to the power 1/T, as temper_row; 0.1 to 10
  std::optional<std::int64_t> rank = std::nullopt;  ///< r ≥ 1; whole if absent
  std::vector<ReplacedHead> heads = {};             ///< at most one of each head
  /// Another subject of the same weights and input, and how far the way to its maps B is gone: at 1
  /// it answers as that subject does.
  SubjectId toward = SubjectId::none;
  double share = 0;  ///< s, 0 to 1

  [[nodiscard]] bool any() const;
  bool operator==(const WhatIf&) const = default;
};

/// "A + 0.50 I, T = 2.00, without head 1 of layer 3": empty if nothing is changed.
[[nodiscard]] std::string in_words(const WhatIf& what_if);

/// The same with another replacement of a head, or none.
[[nodiscard]] WhatIf with_head(WhatIf what_if, const ReplacedHead& head);
[[nodiscard]] WhatIf without_replacement(WhatIf what_if, std::int64_t layer, std::int64_t head);

/// Puts into `map`, with its I, what replaces a head's by other_attention or mean_over_data.
using PutInPlace = std::function<void(const ReplacedHead& head, MatrixMap map)>;

/// For TraceRequest::change_map. `unchanged`: how the subject runs by itself; `toward`: the other
/// one's maps, null if none is wanted; `put`: maps_in_place (app/session/replaced_heads.h), where
/// heads are replaced so. Throws Error(usage): no such head; the other's maps have
/// other extents; I in part of maps that are not square.
[[nodiscard]] std::function<void(std::int64_t layer, std::int64_t head, MatrixMap map)> map_change(
    const WhatIf& what_if, std::shared_ptr<const Trace> unchanged,
    std::shared_ptr<const Trace> toward, PutInPlace put = {});

/// Takes out of a trace that ran so what is true of the mechanism's own maps only: bounds of the
/// rank, factors, and whether I, whole, is part of them.
void mark_changed(const WhatIf& what_if, const Trace* toward, Trace& trace);

}  // namespace attnscope
