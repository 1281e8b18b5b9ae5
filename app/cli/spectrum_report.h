// Output of `attnscope spectrum`: a table for people, JSON and CSV for programs.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "analysis/baselines/equal_entropy.h"
#include "analysis/baselines/null_model.h"
#include "analysis/matrix/analysed_matrix.h"
#include "analysis/report/report.h"
#include "analysis/spectrum/identity_effect.h"
#include "analysis/spectrum/mean_spectrum.h"
#include "analysis/spectrum/spectrum.h"
#include "core/architecture/model_status.h"
#include "core/parameters/parameters.h"

namespace attnscope {

/// Spectra of one model's maps on one or several inputs.
struct SpectrumReport {
  std::string model;
  MechanismChoice mechanism;
  bool mechanism_trained = true;
  std::string channels;  ///< recorded maps if each channel has its own; else empty
  double threshold = 0.9;
  std::vector<std::string> layers;  ///< layer names (layers_in_words)
  std::vector<std::string> inputs;
  /// Chosen items: "16 of 10000 items, spread evenly (seed 0) of D"; empty without a data set.
  std::string chosen;
  ModelStatus status;
  std::string assumed;  ///< unspecified properties of the model's file, in one line
  std::vector<std::vector<MapSpectrum>> maps;        ///< one list per input
  std::vector<std::vector<IdentityEffect>> effects;  ///< one list per input, if requested
  MatrixChoice analysed;
  std::vector<std::vector<MapBaselines>> baselines;  ///< one list per input, if requested
  std::optional<double> at_entropy = {};             ///< target of entropy_ranks, a share of ln n
  std::vector<std::vector<EntropyRank>> entropy_ranks = {};  ///< one list per input, if requested
};

/// The maps of all inputs in one list.
[[nodiscard]] std::vector<MapSpectrum> all_maps(const SpectrumReport& report);
[[nodiscard]] std::set<std::int64_t> layers_of(const std::vector<MapSpectrum>& maps);

/// Number of maps that contain I, and of all maps.
struct WithIdentity {
  std::int64_t with = 0, maps = 0;
};
[[nodiscard]] WithIdentity with_identity(const SpectrumReport& report);
/// Means over the null models of all inputs' maps, for one layer or, if `layer` is negative, for
/// all layers.
[[nodiscard]] MeanNullRank mean_null_of(const SpectrumReport& report, std::int64_t layer);

/// {"model", …, "maps": [{"layer", "head", "identity", "singular_values", …}], "layers", "mean"}.
/// Values that are undefined because a map is not finite or all zero are null.
[[nodiscard]] std::string spectrum_as_json(const SpectrumReport& report);
/// One row per map of each report: the map, its ranks, the predictions of
/// Proposition 1 if requested, sigma_1 … sigma_N.
[[nodiscard]] Report maps_report(const std::vector<SpectrumReport>& reports);
/// For one input, prints one row per map, then the layers' means; for several inputs, one row per
/// layer.
void print_table(const SpectrumReport& report);

}  // namespace attnscope
