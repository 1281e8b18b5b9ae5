// What `attnscope spectrum` prints: a table for people, JSON and CSV for programs.
#pragma once

#include <string>
#include <vector>

#include "analysis/spectrum/identity_effect.h"
#include "analysis/spectrum/spectrum.h"
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
  std::vector<std::string> inputs;
  std::string
      chosen;  ///< "16 of 10000 items, spread evenly (seed 0) of D"; empty without a data set
  std::vector<std::vector<MapSpectrum>> maps;        ///< of each input
  std::vector<std::vector<IdentityEffect>> effects;  ///< of each input, if asked for
};

/// {"model", …, "maps": [{"layer", "head", "identity", "singular_values", …}], "layers", "mean"}.
/// What a map does not have, because it is not finite or all zero, is null.
void print_json(const SpectrumReport& report);
/// A header and a row for each map: what it is, its ranks, sigma_1 … sigma_N.
void print_csv(const SpectrumReport& report);
/// One input: a row for each map, then the layers' means. Several: a row for each layer.
void print_table(const SpectrumReport& report);

}  // namespace attnscope
