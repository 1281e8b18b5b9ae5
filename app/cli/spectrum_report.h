// What `attnscope spectrum` prints: a table for people, JSON and CSV for programs.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/analysed/analysed.h"
#include "analysis/baselines/null_model.h"
#include "analysis/spectrum/identity_effect.h"
#include "analysis/spectrum/mean_spectrum.h"
#include "analysis/spectrum/spectrum.h"
#include "core/architecture/model_status.h"
#include "core/parameters/parameters.h"

namespace attnscope {

/// The spectra of one model's maps on one or several inputs.
struct SpectrumReport {
  std::string model;
  MechanismChoice mechanism;
  bool mechanism_trained = true;
  bool asked_with_identity = false;  ///< I was to be added
  std::string channels;              ///< whose maps, where each channel has its own; else empty
  double threshold = 0.9;
  std::vector<std::string> layers;  ///< what a table calls them (layers_in_words)
  std::vector<std::string> inputs;
  /// "16 of 10000 items, spread evenly (seed 0) of D"; empty without a data set.
  std::string chosen;
  ModelStatus status;
  std::string assumed;                         ///< what the model's file does not say, in a line
  std::vector<std::vector<MapSpectrum>> maps;  ///< of each input
  std::vector<std::vector<IdentityEffect>> effects;  ///< of each input, if asked for
  Analysed analysed;
  std::vector<std::vector<MapBaselines>> baselines;  ///< of each input, if asked for
};

/// Of all inputs.
[[nodiscard]] std::vector<MapSpectrum> all_maps(const SpectrumReport& report);
[[nodiscard]] std::set<std::int64_t> layers_of(const std::vector<MapSpectrum>& maps);
[[nodiscard]] MeanSpectrum mean_of_layer(const std::vector<MapSpectrum>& maps, std::int64_t layer,
                                         double threshold);

/// How many of all maps contain I.
struct WithIdentity {
  std::int64_t with = 0, maps = 0;
};
[[nodiscard]] WithIdentity with_identity(const SpectrumReport& report);
/// "maps without I", "4 of 18 maps with I".
[[nodiscard]] std::string identity_in_words(const SpectrumReport& report);
/// None where it is not known.
[[nodiscard]] std::optional<std::int64_t> numerical_rank_of(const MapSpectrum& map);
/// Of all inputs; of all layers if `layer` is negative.
[[nodiscard]] MeanNullRank mean_null_of(const SpectrumReport& report, std::int64_t layer);
/// "3"; "all" of what is of a layer.
[[nodiscard]] std::string head_in_words(const MapSpectrum& map);

/// {"model", …, "maps": [{"layer", "head", "identity", "singular_values", …}], "layers", "mean"}.
/// What a map does not have, because it is not finite or all zero, is null.
[[nodiscard]] std::string spectrum_as_json(const SpectrumReport& report);
/// A header and a row for each map: what it is, its ranks, what Proposition 1 predicts of it if
/// that was asked for, sigma_1 … sigma_N. Without the header below that of another report.
void print_csv(const SpectrumReport& report, bool with_header = true);
/// One input: a row for each map, then the layers' means. Several: a row for each layer.
void print_table(const SpectrumReport& report);

}  // namespace attnscope
