// Measures that papers report per head: entropy, sinks, distances, ranks, norms.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/matrix/matrix_kind.h"
#include "analysis/spectrum/rank.h"
#include "core/model/subject.h"
#include "core/progress.h"
#include "core/trace/trace.h"

namespace attnscope {

struct HeadOptions {
  RankThreshold threshold = {};  ///< threshold of equivalent ranks
  double sink = 0.3;             ///< ε: a key with α_k above it is a sink, in (0, 1)
  double mass = 0.6;  ///< share of the class row that the strongest patches hold, in (0, 1]
  std::vector<std::int64_t> layers = {};  ///< all recorded layers if empty
  bool baselines = false;                 ///< true to add null ranks: nine times the work of a rank
  /// Matrix whose ranks are computed; it must exist per head. All other measures are of the map.
  /// Null ranks and ranks without sinks exist only for maps; for other matrices they are unknown.
  MatrixChoice analysed = {};
};

/// State of a map: decides which measures exist.
enum class HeadState {
  ready,
  negative,   ///< some weight is below 0: not a distribution over keys, but ranks are known
  zero,       ///< all weights are 0
  not_finite  ///< NaN or Inf
};

/// Text of the state: "ready", "negative weights", "all zero", "NaN or Inf in the map".
[[nodiscard]] std::string_view describe(HeadState state);

/// Key with a large share of the attention: α_k = Σ_i a_ik / (queries that see k) (Gu et al. 2024).
struct Sink {
  std::int64_t key = 0;
  double share = 0;  ///< α_k, 0 to 1
};

/// Measures of one head; NaN if unknown or not defined for such a map. Maps are taken without the I
/// of an identity mapping, which is not attention; a_ij are rows divided by their sums, without
/// rows of zeros. Query i sees the keys of seen_keys.
struct HeadRow {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  std::int64_t layer = 0, head = 0;
  HeadState state = HeadState::ready;
  bool causal = false;
  bool identity_removed = false;
  /// Keys with α_k > ε, strongest first, among keys that at least 8 queries see (if no key is seen
  /// by so many: as many as see the most seen one): the last keys of a causal map are seen only by
  /// the last queries.
  std::vector<Sink> sinks;

  double entropy = kUnknown;             ///< nats, mean over queries
  double normalised_entropy = kUnknown;  ///< mean of H_i / ln n over queries that see n > 1 keys
  double sink = kUnknown;                ///< greatest α_k
  double sink_share = kUnknown;          ///< share of the attention on sinks, mean over queries
  double equivalent_rank = kUnknown;     ///< smallest r with f(r) ≥ τ
  double null_rank = kUnknown;           ///< mean rank with shuffled rows; needs `baselines`
  double rank_over_null = kUnknown;      ///< equivalent rank over null_rank
  double rank_without_sinks = kUnknown;  ///< equivalent_rank without the sinks' columns
  double energy_rank = kUnknown;         ///< smallest r with Σ_{t≤r} σ_t² / Σσ² ≥ τ
  double gap = kUnknown;                 ///< σ_2 / σ_1
  double even_gap = kUnknown;            ///< σ_2 / σ_1 of A − U, U even over the seen keys
  double participation_rank = kUnknown;  ///< (Σσ²)² / Σσ⁴
  double entropy_rank = kUnknown;        ///< exp(−Σ p ln p), p = σ² / Σσ²
  /// Greatest score over the keys that each query sees, before bias, mask and cap; needs recorded
  /// queries and keys of a mechanism with scores.
  double largest_score = kUnknown;
  double second_eigenvalue = kUnknown;  ///< |λ_2| of a as a Markov chain (attention_chain.h)
  double stationary = kUnknown;         ///< greatest share of a token in its token_rank
  double log_diagonal = kUnknown;       ///< mean of ln a_ii
  double laplacian = kUnknown;          ///< greatest Laplacian eigenvalue; only of causal maps
  /// Mean over queries of Σ_j a_ij |p_i − p_j|, on a grid only between its cells; else |i − j|.
  double distance = kUnknown;
  double diagonal = kUnknown;        ///< a_ii, mean over queries that see other keys too
  double previous_token = kUnknown;  ///< a_i,i−1, mean over i ≥ 1; only for sequences
  double first_token = kUnknown;     ///< a_i0, mean over queries that see other keys too
  /// Σ_j a_ij over keys j ≤ i that follow a token equal to token i, mean over queries that have
  /// such keys. In a sequence that repeats after n tokens, these are a_i,i−n+1 and so on (Olsson et
  /// al. 2022).
  double induction = kUnknown;
  /// Least number of patches that hold the share `mass` of the class token's row over patches.
  double mass_patches = kUnknown;
  /// Σ_j a_ij over the tokens of a text's picture, mean over the queries after it.
  double picture_share = kUnknown;
  /// The same of each of several pictures, whose sum it is; empty for one picture.
  std::vector<double> picture_shares = {};
  /// Equivalent rank of the block of the map whose rows are those queries and whose columns are the
  /// picture's tokens.
  double picture_rank = kUnknown;
  double value_norm = kUnknown;  ///< ‖v_j‖, mean over keys
  double output_norm = kUnknown;  ///< ‖Σ_j w_ij v_j‖, mean over queries; w the map as it is used
};

/// Description of one measure: the column, panel or key that shows a member of HeadRow.
struct HeadMeasure {
  std::string_view name;     ///< name in files: "normalised_entropy"
  std::string_view heading;  ///< column heading: "H/ln n"
  std::string_view title;    ///< axis title without unit: see title_of
  std::string_view formula;  ///< exact formula of the value
  int decimals = 2;
  double HeadRow::*value = nullptr;
};

[[nodiscard]] std::span<const HeadMeasure> head_measures();
/// Throws Error(usage) listing the names.
[[nodiscard]] const HeadMeasure& head_measure(std::string_view name);

/// Rows of one trace, in order of layer and head.
struct HeadTable {
  std::vector<HeadRow> rows;
  /// Unit of distances: "pixels" of the image that the patches cover, "patches" of the queries'
  /// grid without an image, "tokens" of a sequence; empty if there are no distances.
  std::string distance_unit;
  MatrixChoice analysed;  ///< matrix whose ranks are given
};

/// True if the measure is a rank, which is computed of HeadOptions::analysed.
[[nodiscard]] bool is_rank(const HeadMeasure& measure);

/// Title of the measure with the table's unit, "mean attention distance (pixels)", and with the
/// matrix of a rank unless that is the map: "equivalent rank of scores".
[[nodiscard]] std::string title_of(const HeadMeasure& measure, const std::string& distance_unit,
                                   const MatrixChoice& analysed = {});
/// HeadMeasure::heading and ::formula, with the matrix of a rank unless that is the map.
[[nodiscard]] std::string heading_of(const HeadMeasure& measure, const MatrixChoice& analysed);
[[nodiscard]] std::string formula_of(const HeadMeasure& measure, const MatrixChoice& analysed);

/// Number of the table's heads that have this key as a sink.
struct SinkCount {
  std::int64_t key = 0, heads = 0;
};
/// Sink counts by descending number of heads. `of` becomes the number of heads whose sinks are
/// known.
[[nodiscard]] std::vector<SinkCount> sink_counts(const HeadTable& table, std::int64_t& of);

/// Measures of every recorded map of the trace. Runs on all cores; the result does not depend on
/// their number. Norms need recorded values, output norms also one map per head. Throws
/// Error(usage) if options are out of range, a layer does not exist or no maps were recorded;
/// Cancelled.
[[nodiscard]] HeadTable head_table(const Trace& trace, const HeadOptions& options = {},
                                   const Progress& progress = {});

/// Measures of a model's run: its W_O is known, which norm-weighted maps and the residual stream
/// need. Throws Error(usage) also for matrices that exist per layer, and like analysed_matrix.
[[nodiscard]] HeadTable head_table(const Subject& subject, const HeadOptions& options = {},
                                   const Progress& progress = {});

}  // namespace attnscope
