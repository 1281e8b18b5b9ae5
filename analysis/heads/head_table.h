// The numbers that papers print of each head: entropy, sinks, distances, ranks, norms.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysed/what.h"
#include "core/model/subject.h"
#include "core/progress.h"
#include "core/trace/trace.h"

namespace attnscope {

struct HeadOptions {
  double threshold = 0.9;  ///< τ of equivalent ranks, in (0, 1]
  double sink = 0.3;       ///< ε: a key with α_k above it is a sink, in (0, 1)
  double mass = 0.6;       ///< of a class row that its strongest patches hold, in (0, 1]
  std::vector<std::int64_t> layers = {};  ///< all that were recorded if empty
  bool baselines = false;                 ///< null ranks too: nine times the work of a rank
  /// What ranks are of; one of each head. All else is of the map, whatever it is. Null ranks are of
  /// maps alone, and so are ranks without sinks: of others unknown.
  Analysed analysed = {};
};

/// How much of what the measures need a map has.
enum class HeadState {
  ready,
  negative,   ///< some weight is below 0: no distribution over keys; its ranks are known
  zero,       ///< every weight is 0
  not_finite  ///< NaN or Inf
};

/// "ready", "negative weights", "all zero", "NaN or Inf in the map".
[[nodiscard]] std::string_view describe(HeadState state);

/// A key that takes more than its share: α_k = Σ_i a_ik / (queries that see k) (Gu et al. 2024).
struct Sink {
  std::int64_t key = 0;
  double share = 0;  ///< α_k, 0 to 1
};

/// One head. NaN: not known, or without a meaning for such a map. Maps are seen without the I of
/// an identity mapping, which is no attention; a_ij are their rows divided by their sums, rows of
/// zeros left out. Causal: square, and nothing above the diagonal; query i then sees the keys up to
/// i, else every query all M keys.
struct HeadRow {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  std::int64_t layer = 0, head = 0;
  HeadState state = HeadState::ready;
  bool causal = false;
  bool identity_removed = false;
  /// α_k > ε, strongest first, of keys that eight queries see (all, where there are fewer): the
  /// last ones of a causal map are seen by themselves alone.
  std::vector<Sink> sinks;

  double entropy = kUnknown;             ///< nats, mean over queries
  double normalised_entropy = kUnknown;  ///< of queries that see n > 1 keys: H_i / ln n, their mean
  double sink = kUnknown;                ///< greatest α_k
  double sink_share = kUnknown;          ///< of attention that sinks take, mean over queries
  double equivalent_rank = kUnknown;     ///< smallest r with f(r) ≥ τ
  double null_rank = kUnknown;           ///< of its rows shuffled; if asked for (baselines)
  double rank_over_null = kUnknown;      ///< equivalent rank over that
  double rank_without_sinks = kUnknown;  ///< the same of the other columns, rows divided by sums
  double participation_rank = kUnknown;  ///< (Σσ²)² / Σσ⁴
  double entropy_rank = kUnknown;        ///< exp(−Σ p ln p), p = σ² / Σσ²
  /// Σ_j a_ij |p_i − p_j|, mean over queries: over a grid its cells alone; else |i − j|.
  double distance = kUnknown;
  double diagonal = kUnknown;        ///< a_ii, mean over queries that see other keys too
  double previous_token = kUnknown;  ///< a_i,i−1, mean over i ≥ 1; of sequences
  double first_token = kUnknown;     ///< a_i0, mean over queries that see other keys too
  /// Σ_j a_ij over keys j ≤ i that follow a token saying the same as i, mean over queries that have
  /// such keys: of a sequence that repeats after n tokens a_i,i−n+1 and the like (Olsson et al.
  /// 2022).
  double induction = kUnknown;
  double mass_patches =
      kUnknown;                  ///< fewest patches with `mass` of the class token's row over them
  double value_norm = kUnknown;  ///< ‖v_j‖, mean over keys
  double output_norm = kUnknown;  ///< ‖Σ_j w_ij v_j‖, mean over queries; w the map as it is used
};

/// One number of a HeadRow: a column, a panel, a key.
struct HeadMeasure {
  std::string_view name;     ///< "normalised_entropy": in files
  std::string_view heading;  ///< "H/ln n": of a column
  std::string_view title;    ///< of an axis; distances get their unit: title_of
  std::string_view formula;  ///< what exactly was computed
  int decimals = 2;
  double HeadRow::*value = nullptr;
};

[[nodiscard]] std::span<const HeadMeasure> head_measures();
/// Throws Error(usage) listing the names.
[[nodiscard]] const HeadMeasure& head_measure(std::string_view name);

/// The rows of one trace, in order of layer and head.
struct HeadTable {
  std::vector<HeadRow> rows;
  /// What distances are in: "pixels" of the picture the patches cover, "patches" of the queries'
  /// grid where there is no picture, "tokens" of a sequence; empty where none is known.
  std::string distance_unit;
  Analysed analysed;  ///< what ranks are of
};

/// Whether it is a rank, of what HeadOptions::analysed says.
[[nodiscard]] bool is_rank(const HeadMeasure& measure);

/// The measure's title with the table's unit, "mean attention distance (pixels)", and what a rank
/// is of where that is not the map: "equivalent rank of scores".
[[nodiscard]] std::string title_of(const HeadMeasure& measure, const std::string& distance_unit,
                                   const Analysed& analysed = {});
/// HeadMeasure::heading and ::formula, with what a rank is of where that is not the map.
[[nodiscard]] std::string heading_of(const HeadMeasure& measure, const Analysed& analysed);
[[nodiscard]] std::string formula_of(const HeadMeasure& measure, const Analysed& analysed);

/// How many of the table's heads with known sinks have this key as one.
struct SinkCount {
  std::int64_t key = 0, heads = 0;
};
/// By descending number of heads; `of`: heads whose sinks are known.
[[nodiscard]] std::vector<SinkCount> sink_counts(const HeadTable& table, std::int64_t& of);

/// Every recorded map of the trace; all cores, the result does not depend on their number. Norms
/// need recorded values (and one map a head). Throws Error(usage): options out of range, no such
/// layer, no maps recorded; Cancelled.
[[nodiscard]] HeadTable head_table(const Trace& trace, const HeadOptions& options = {},
                                   const Progress& progress = {});

/// The same of a run of a model: W_O is then known, which norm-weighted maps and the residual
/// stream need. Throws Error(usage) too for what is one of a layer, and as analysed_matrix.
[[nodiscard]] HeadTable head_table(const Subject& subject, const HeadOptions& options = {},
                                   const Progress& progress = {});

}  // namespace attnscope
