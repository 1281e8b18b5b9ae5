// Energy of one attention layer as a function of the number of tokens, and where mechanisms cross.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/energy/accounting.h"

namespace attnscope {

struct GrowthOptions {
  std::int64_t width = 384;  ///< D
  std::int64_t heads = 6;    ///< H, divides D
  CostConvention convention = CostConvention::complete;
  EnergyConstants constants;
  std::int64_t least_tokens = 64, most_tokens = 65'536;
  int points_per_octave = 4;
  bool projections = true;  ///< include the projections before and after the core
};

struct GrowthCurve {
  MechanismChoice mechanism;
  std::vector<double> tokens;     ///< whole numbers, evenly spaced on a logarithmic axis
  std::vector<double> energy_pj;  ///< energy of one layer
};

/// Two curves change order between `tokens` - 1 and `tokens`.
struct Crossing {
  std::size_t first = 0, second = 0;  ///< indices into the curves
  std::int64_t tokens = 0;            ///< the least N at which `second` costs less than `first`
  double energy_pj = 0;               ///< energy of `second` at `tokens`
};

struct Growth {
  std::vector<GrowthCurve> curves;
  std::vector<Crossing> crossings;  ///< ordered by tokens
};

/// Energy of the projections and the core of one layer of `stage`, in pJ. Throws Error(usage) like
/// count_operations.
[[nodiscard]] double attention_energy_pj(const Stage& stage, const MechanismChoice& mechanism,
                                         CostConvention convention,
                                         const EnergyConstants& constants, bool projections = true);

/// Computes all curves and crossings. Throws Error(usage): heads that do not divide the width,
/// invalid range of tokens.
[[nodiscard]] Growth energy_growth(const std::vector<MechanismChoice>& mechanisms,
                                   const GrowthOptions& options);

/// Every mechanism whose cost is known, with parameters that fit `width`.
[[nodiscard]] std::vector<MechanismChoice> mechanisms_for_growth(std::int64_t width);

}  // namespace attnscope
