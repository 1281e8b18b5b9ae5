// Two subjects beside each other, map by map: how far maps, spectra, ranks and representations lie
// apart.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysed/what.h"
#include "analysis/comparison/alignment.h"
#include "analysis/comparison/map_distance.h"
#include "analysis/spectrum/spectrum.h"
#include "core/model/subject.h"

namespace attnscope {

/// Every number a comparison gives. `comparison_quantities` says what they are called.
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
  reference_rank_over_null
};
inline constexpr std::size_t comparison_quantity_count = 17;

struct ComparisonQuantityEntry {
  ComparisonQuantity quantity;
  std::string_view name;         ///< "js_divergence_bits": in CSV and JSON
  std::string_view title;        ///< "JS (bits)": above a column
  std::string_view explanation;  ///< with its range
};
/// In the order of the enumerators.
[[nodiscard]] std::span<const ComparisonQuantityEntry> comparison_quantities();

/// One number for each quantity; NaN where it is not defined.
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

/// Means over several comparisons, each quantity over those where it is defined.
class ComparisonMean {
 public:
  void add(const ComparisonValues& values);
  [[nodiscard]] ComparisonValues mean() const;
  /// Of the sample (n − 1); NaN below two.
  [[nodiscard]] ComparisonValues standard_deviation() const;

 private:
  std::array<double, comparison_quantity_count> sums_{}, squares_{}, first_{};
  std::array<std::int64_t, comparison_quantity_count> counts_{};
};

struct ComparedMap {
  std::int64_t layer = 0, head = 0;                        ///< head kAllHeads: one of a layer
  std::int64_t reference_layer = -1, reference_head = -1;  ///< -1: none; or kAllHeads
  MapPairState state = MapPairState::compared;
  std::vector<double> row_divergence;  ///< in bits, of each query; empty unless compared
  std::int64_t rows_with_negatives = 0;
  ComparisonValues values;  ///< cka is the layer's
};

struct ComparedLayer {
  std::int64_t layer = 0, reference_layer = -1;
  std::string why_no_cka;   ///< "the tokens were not recorded"; empty where there is one
  ComparisonValues values;  ///< means over its heads; cka of the tokens after the layer
};

struct ComparisonOptions {
  LayerAlignment layers = LayerAlignment::by_index;
  bool match_heads = false;
  IdentityView view = IdentityView::as_is;
  double threshold = 0.9;  ///< of the equivalent rank, in (0, 1]
  bool baselines = false;  ///< ranks over those of null models too: nine times the work
  /// What is compared; spectra, ranks and cell-by-cell distances are of these matrices. Divergences
  /// are defined where has_rows_of_weights. Where columns are channels, matrices are compared cell
  /// by cell only if both subjects run the same weights. Heads are matched by their maps.
  Analysed analysed = {};
  std::vector<std::int64_t> heads = {};  ///< of the compared model, from 0; all if empty

  bool operator==(const ComparisonOptions&) const = default;
};

/// One subject against the reference.
struct SubjectComparison {
  ComparisonOptions options;
  MapAlignment alignment;             ///< which map is beside which
  std::vector<ComparedMap> maps;      ///< in order of layer and head
  std::vector<ComparedLayer> layers;  ///< in order
  ComparisonValues mean;              ///< over all maps; of cka over the layers
  std::int64_t maps_compared = 0;     ///< cell by cell
  std::string summary;                ///< what could not be compared and why; empty if all was
};

/// Compares every recorded map of `other` with its counterpart. `alignment`: which is which, found
/// here if absent. Throws Error(usage) (threshold, no maps recorded, no such head; null models of
/// what is no map, heads matched or selected of what is one of a layer; as analysed_matrix),
/// Cancelled.
[[nodiscard]] SubjectComparison compare_subjects(const Subject& reference, const Subject& other,
                                                 const ComparisonOptions& options,
                                                 const std::optional<MapAlignment>& alignment = {},
                                                 const Progress& progress = {});

/// The same of traces alone.
[[nodiscard]] SubjectComparison compare_traces(const Trace& reference, const Trace& other,
                                               const ComparisonOptions& options,
                                               const std::optional<MapAlignment>& alignment = {},
                                               const Progress& progress = {});

/// Throws Error(usage) for what has no meaning together: null models of what is no map, an I added
/// to what is none, matched heads of what is one of a layer.
void check_comparison(const ComparisonOptions& options);

/// "layers by relative depth, heads matched by similarity", for captions and tables.
[[nodiscard]] std::string alignment_in_words(const ComparisonOptions& options);

}  // namespace attnscope
