// Tables that the command line prints and Python returns. What a table is made of must outlive it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/baselines/equal_entropy.h"
#include "analysis/comparison/data_set_comparison.h"
#include "analysis/components/components.h"
#include "analysis/frequencies/frequencies.h"
#include "analysis/heads/head_table.h"
#include "analysis/lens/logit_attribution.h"
#include "analysis/lens/logit_lens.h"
#include "analysis/matrix/matrix_kind.h"
#include "analysis/mixing/mixed_matrices.h"
#include "analysis/relevance/relevance.h"
#include "analysis/report/report.h"
#include "analysis/spectrum/rank.h"
#include "analysis/weights/weight_analysis.h"
#include "core/model/transformer/generation.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Two models' maps, one row per compared map: its place, its counterpart, its state, and every
/// quantity of comparison_quantities. Over a data set the quantities are means over the items, each
/// with its standard deviation; otherwise the row-wise divergences are in JSON.
[[nodiscard]] Report compared_maps_report(const DataSetComparison& result, bool over_data_set);

/// {"js_divergence_bits": …, …}: every quantity by its name, null if it is not defined.
[[nodiscard]] nlohmann::ordered_json comparison_values_json(const ComparisonValues& values);

/// One row per map, with its rank-one components as a table in a cell: σ, its share of Σσ and of
/// Σσ², and the vectors, of which text names the three strongest keys and queries.
[[nodiscard]] Report components_report(const Trace& trace, const MatrixChoice& analysed,
                                       const std::vector<MapComponents>& maps);

/// One row per layer, or per head for rotary use, with its numbers by frequency as a table in a
/// cell: of each pair its channels, wavelength and use; of each radius its frequency, the number of
/// cells, and the response or the log-amplitude with its difference from that at 0. Text has their
/// summary.
[[nodiscard]] Report frequencies_report(const Trace& trace, const FrequencyRows& rows,
                                        const FrequencyRequest& request);
/// A line above frequencies_report: what the rows are, and of which frequencies.
[[nodiscard]] std::string frequencies_in_words(const FrequencyRequest& request);

/// One row per new token: its position, id, text, probability, entropy and, if they were recorded,
/// the likeliest tokens there (in CSV a line for each).
[[nodiscard]] Report generated_tokens_report(const GeneratedText& text);

/// One row per head: layer, head, state, sinks, every measure of head_measures (the share of
/// pictures also of each of several), and, if `at_entropy` is given, the rank at that entropy (a
/// share of ln n, above 0, below 1) from `entropy_ranks`, which are as many as the rows. Text
/// leaves out the measures that no head has.
[[nodiscard]] Report head_report(const Trace& trace, const HeadTable& table,
                                 std::optional<double> at_entropy = {},
                                 const std::vector<EntropyRank>* entropy_ranks = nullptr);
/// A line below head_report that explains its signs.
[[nodiscard]] std::string head_signs_in_words(const HeadOptions& options);

/// One row per depth and token position: the likeliest answers (in CSV a line for each), the
/// target, entropy and divergence. All positions, or `place` alone. `lens` must outlive the result.
[[nodiscard]] Report lens_report(const LogitLens& lens, std::optional<std::size_t> place = {});

/// The parts of a logit, whose sum it is, one row per part: of the embedding, of constants, and of
/// each layer the given heads, biases and the rest. `target` is a column of CSV.
[[nodiscard]] Report logit_parts_report(const LogitAttribution& found,
                                        const std::vector<std::int64_t>& heads);
/// The parts of the layers, one row per layer, with a column for each of the given heads.
[[nodiscard]] Report logit_layers_report(const LogitAttribution& found,
                                         const std::vector<std::int64_t>& heads);
/// Two lines above these: "logit of 8 "Bag": 7.3", and the parts outside the layers.
[[nodiscard]] std::string attribution_in_words(const LogitAttribution& found);

/// One row per matrix: layer, head, mixing ratio, own share, the three strongest keys, and the
/// matrix (in CSV a line for each of its entries).
[[nodiscard]] Report mixing_report(const Trace& trace, const std::vector<MixedMatrix>& matrices);

/// The given tokens of one target, in that order: token, name, relevance, and in text its share of
/// the sum over all tokens.
[[nodiscard]] Report relevant_tokens_report(const Trace& trace, const TokenRelevance& found,
                                            std::vector<std::size_t> tokens);

/// One row per head, layer, pair of heads or matrix, as the analysis has them: spectra with ranks,
/// and the numbers of WeightSpectrum, HeadComposition or MatrixSpectrum.
[[nodiscard]] Report weights_report(const WeightRows& rows, const WeightRequest& request);
/// A line above weights_report: "MODEL: W_OV = W_V W_O of each head, rank at most d". `minus` names
/// the model that is subtracted.
[[nodiscard]] std::string weights_in_words(const std::string& model, const ModelSpec& spec,
                                           const WeightRequest& request,
                                           const std::string& minus = {});
/// The name of the rows in JSON: "heads", "layers", "pairs" or "matrices".
[[nodiscard]] const char* name_of_weight_rows(WeightAnalysis of);

}  // namespace attnscope
