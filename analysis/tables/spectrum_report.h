// The tables of spectra, as the command line prints them and Python returns them.
#pragma once

#include <cstdint>
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
  RankThreshold threshold = {};
  std::vector<std::string> layers;  ///< layer names (layers_in_words)
  std::vector<std::string> inputs;
  /// Chosen items: "16 of 10000 items, spread evenly (seed 0) of D"; empty without a data set.
  std::string chosen;
  ModelStatus status;
  std::string assumed;  ///< unspecified properties of the model's file, in one line
  /// True if the matrices of all inputs are stacked into one, whose spectra are a single list.
  bool stacked = false;
  std::vector<std::vector<MapSpectrum>> maps;        ///< one list per input
  std::vector<std::vector<IdentityEffect>> effects;  ///< one list per input, if requested
  MatrixChoice analysed;
  std::vector<std::vector<MapBaselines>> baselines;  ///< one list per input, if requested
  std::optional<double> at_entropy = {};             ///< target of entropy_ranks, a share of ln n
  std::vector<std::vector<EntropyRank>> entropy_ranks = {};  ///< one list per input, if requested
};

/// The inputs in words: the name of the only one, or "16 inputs".
[[nodiscard]] std::string inputs_in_words(const SpectrumReport& report);

/// Sets what a report says of a run: mechanism, channels, names of layers; adds its input.
void add_run(SpectrumReport& report, const Trace& trace);

/// Number of maps that contain I, and of all maps.
struct WithIdentity {
  std::int64_t with = 0, maps = 0;
};
[[nodiscard]] WithIdentity with_identity(const SpectrumReport& report);

/// One row per map: its place, its ranks, and the predictions of Proposition 1, the null models and
/// the ranks at equal entropy if the report has them. `report` must outlive the result.
[[nodiscard]] Report map_rows_report(const SpectrumReport& report);
/// The rows of map_rows_report for each report, then sigma_1 … sigma_N in CSV.
[[nodiscard]] Report maps_report(const std::vector<SpectrumReport>& reports);

/// Rows of means_report: one per layer, one for all maps, or these after those.
enum class SpectrumMeans { layers, all, both };
/// Means over the maps of each layer, or of all.
[[nodiscard]] Report means_report(const SpectrumReport& report, SpectrumMeans which);

/// Proposition 1, a row for each map to which it applies. `report` has effects and must outlive the
/// result.
[[nodiscard]] Report proposition_report(const SpectrumReport& report);

}  // namespace attnscope
