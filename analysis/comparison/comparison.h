// Compares two subjects map by map: distances of maps, spectra, ranks and representations.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/comparison/alignment.h"
#include "analysis/comparison/map_distance.h"
#include "analysis/matrix/matrix_kind.h"
#include "analysis/spectrum/spectrum.h"
#include "core/model/subject.h"

namespace attnscope {

/// Quantities of a comparison; `comparison_quantities` gives their names.
enum class ComparisonQuantity : std::size_t {
  divergence,
  largest_divergence,
  cosine_distance,
  frobenius_distance,
  relative_frobenius,
  spectrum_distance,
  singular_value_distance,
  rank,
  reference_rank,
  rank_difference,
  rank_share_difference,
  effective_rank_difference,
  stable_rank_difference,
  cka,
  null_rank,
  rank_over_null,
  reference_rank_over_null,
  rank_at_entropy,
  reference_rank_at_entropy,
  equal_entropy,
  equal_entropy_temperature
};
inline constexpr std::size_t comparison_quantity_count = 21;

struct ComparisonQuantityEntry {
  ComparisonQuantity quantity;
  std::string_view name;         ///< "js_divergence_bits": name in CSV and JSON
  std::string_view title;        ///< "JS (bits)": title of a column
  std::string_view explanation;  ///< description with the range of values
};
/// Descriptions of all quantities, in the order of the enumerators.
[[nodiscard]] std::span<const ComparisonQuantityEntry> comparison_quantities();

/// One number per quantity; NaN if it is not defined.
class ComparisonValues {
 public:
  ComparisonValues();
  [[nodiscard]] double operator[](ComparisonQuantity quantity) const {
    return values_[static_cast<std::size_t>(quantity)];
  }
  [[nodiscard]] double& operator[](ComparisonQuantity quantity) {
    return values_[static_cast<std::size_t>(quantity)];
  }

 private:
  std::array<double, comparison_quantity_count> values_;
};

/// Means over several comparisons, for each quantity over those in which it is defined.
class ComparisonMean {
 public:
  void add(const ComparisonValues& values);
  [[nodiscard]] ComparisonValues mean() const;
  /// Standard deviation of the sample (n − 1); NaN for fewer than two values.
  [[nodiscard]] ComparisonValues standard_deviation() const;

 private:
  std::array<double, comparison_quantity_count> sums_{}, squares_{}, first_{};
  std::array<std::int64_t, comparison_quantity_count> counts_{};
};

struct ComparedMap {
  std::int64_t layer = 0, head = 0;                        ///< kAllHeads: one matrix per layer
  std::int64_t reference_layer = -1, reference_head = -1;  ///< -1: no counterpart; or kAllHeads
  MapPairState state = MapPairState::compared;
  std::vector<double> row_divergence;  ///< divergence per query in bits; empty unless compared
  std::int64_t rows_with_negatives = 0;
  ComparisonValues values;  ///< includes the CKA of the layer
};

struct ComparedLayer {
  std::int64_t layer = 0, reference_layer = -1;
  std::string why_no_cka;   ///< "the tokens were not recorded"; empty if CKA is defined
  ComparisonValues values;  ///< means over the heads; CKA of the tokens after the layer
};

/// Value of ComparisonOptions::at_entropy: the entropy of the reference's counterpart.
inline constexpr double reference_entropy = 0;

struct ComparisonOptions {
  LayerAlignment layers = LayerAlignment::by_index;
  bool match_heads = false;
  RankThreshold threshold = {};  ///< equivalent rank's; spectra are compared by its share
  bool baselines = false;        ///< also ranks relative to null models: nine times the work
  /// Also ranks at the same entropy (analysis/baselines/equal_entropy.h): the target h in (0, 1)
  /// for both maps, or reference_entropy for that of the reference's map, which then keeps T = 1.
  std::optional<double> at_entropy = {};
  /// The matrices that spectra, ranks and cell-by-cell distances are computed of. Divergences are
  /// defined if has_rows_of_weights. Matrices whose columns are channels are compared cell by cell
  /// only if both subjects run the same weights. Heads are matched by their maps in its view.
  MatrixChoice analysed = {};
  std::vector<std::int64_t> heads = {};  ///< heads of the compared model, from 0; all if empty

  bool operator==(const ComparisonOptions&) const = default;
};

/// Result of comparing one subject with the reference.
struct SubjectComparison {
  ComparisonOptions options;
  MapAlignment alignment;             ///< pairs of maps
  std::vector<ComparedMap> maps;      ///< ordered by layer and head
  std::vector<ComparedLayer> layers;  ///< ordered by layer
  ComparisonValues mean;              ///< means over all maps; CKA over the layers
  std::int64_t maps_compared = 0;     ///< number of maps compared cell by cell
  std::string summary;  ///< maps that could not be compared, with reasons; empty if all were
};

/// Compares every recorded map of `other` with its counterpart. `alignment` gives the pairs;
/// computed if absent. Throws Error(usage) (threshold, no maps recorded, unknown head; null models
/// or equal entropy of matrices that are not maps; equal entropy of mechanisms without a
/// temperature; heads matched or selected for one matrix per layer; as analysed_matrix), Cancelled.
[[nodiscard]] SubjectComparison compare_subjects(const Subject& reference, const Subject& other,
                                                 const ComparisonOptions& options,
                                                 const std::optional<MapAlignment>& alignment = {},
                                                 const Progress& progress = {});

/// Like compare_subjects, for traces without models.
[[nodiscard]] SubjectComparison compare_traces(const Trace& reference, const Trace& other,
                                               const ComparisonOptions& options,
                                               const std::optional<MapAlignment>& alignment = {},
                                               const Progress& progress = {});

/// Throws Error(usage) for options that contradict each other: null models or equal entropy of
/// matrices that are not maps, an entropy out of range, I added to matrices that take none, matched
/// heads of one matrix per layer.
void check_comparison(const ComparisonOptions& options);

/// True if `other` can be compared at the reference's entropy: the matrix is a map, of at most
/// SpectrumOptions::dense_limit tokens, and every recorded layer has a temperature.
[[nodiscard]] bool has_ranks_at_entropy(const Trace& other, const MatrixChoice& analysed);

/// Description of the pairing for captions and tables: "layers by relative depth, heads matched by
/// similarity".
[[nodiscard]] std::string alignment_in_words(const ComparisonOptions& options);

}  // namespace attnscope
