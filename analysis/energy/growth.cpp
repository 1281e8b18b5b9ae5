#include "analysis/energy/growth.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/energy/layers.h"
#include "core/error.h"

namespace attnscope {

namespace {

Stage stage_of(const GrowthOptions& options, std::int64_t tokens) {
  Stage stage;
  stage.tokens = tokens;
  stage.width = options.width;
  stage.heads = options.heads;
  return stage;
}

std::vector<std::int64_t> sampled_tokens(const GrowthOptions& options) {
  const double octaves = std::log2(static_cast<double>(options.most_tokens) /
                                   static_cast<double>(options.least_tokens));
  const int steps = std::max(1, static_cast<int>(std::lround(octaves * options.points_per_octave)));
  std::vector<std::int64_t> tokens;
  for (int i = 0; i <= steps; ++i) {
    const double n = static_cast<double>(options.least_tokens) * std::exp2(octaves * i / steps);
    const auto rounded = std::llround(n);
    if (tokens.empty() || tokens.back() != rounded) tokens.push_back(rounded);
  }
  return tokens;
}

void check_growth(const GrowthOptions& options) {
  if (options.heads <= 0 || options.width <= 0 || options.width % options.heads != 0) {
    throw Error(ErrorKind::usage, "the heads do not divide the width")
        .about("heads")
        .expected("a divisor of " + std::to_string(options.width))
        .found(std::to_string(options.heads));
  }
  if (options.least_tokens < 1 || options.most_tokens <= options.least_tokens ||
      options.points_per_octave < 1) {
    throw Error(ErrorKind::usage, "the range of tokens is not valid")
        .expected("a first number of at least 1, and a greater last one")
        .found(std::to_string(options.least_tokens) + " to " + std::to_string(options.most_tokens));
  }
}

}  // namespace

double attention_energy_pj(const Stage& stage, const MechanismChoice& mechanism,
                           CostConvention convention, const EnergyConstants& constants,
                           bool projections) {
  double energy = 0;
  for (const OperationCount& count : count_core(stage, mechanism, convention)) {
    energy += operations_energy_pj(count, constants);
  }
  if (!projections) return energy;
  const LayerCosts layers(convention);
  for (const Projection& projection :
       MechanismCost(mechanism).projections(stage.width, shape_of(stage))) {
    energy +=
        operations_energy_pj(layers.linear(projection.component, stage.tokens, projection.inputs,
                                           projection.outputs, true, Arithmetic::multiplicative),
                             constants);
  }
  return energy;
}

Growth energy_growth(const std::vector<MechanismChoice>& mechanisms, const GrowthOptions& options) {
  check_growth(options);
  const auto energy = [&](std::size_t mechanism, std::int64_t tokens) {
    return attention_energy_pj(stage_of(options, tokens), mechanisms[mechanism], options.convention,
                               options.constants, options.projections);
  };
  const std::vector<std::int64_t> tokens = sampled_tokens(options);
  Growth growth;
  for (std::size_t i = 0; i < mechanisms.size(); ++i) {
    GrowthCurve curve{.mechanism = mechanisms[i], .tokens = {}, .energy_pj = {}};
    for (const std::int64_t n : tokens) {
      curve.tokens.push_back(static_cast<double>(n));
      curve.energy_pj.push_back(energy(i, n));
    }
    growth.curves.push_back(std::move(curve));
  }
  for (std::size_t i = 0; i < mechanisms.size(); ++i) {
    for (std::size_t j = i + 1; j < mechanisms.size(); ++j) {
      for (std::size_t at = 1; at < tokens.size(); ++at) {
        const auto cheaper = [&](std::int64_t n) { return energy(j, n) < energy(i, n); };
        const bool before = growth.curves[j].energy_pj[at - 1] < growth.curves[i].energy_pj[at - 1];
        const bool after = growth.curves[j].energy_pj[at] < growth.curves[i].energy_pj[at];
        if (before == after) continue;
        std::int64_t low = tokens[at - 1], high = tokens[at];
        while (high - low > 1) {
          const std::int64_t middle = low + (high - low) / 2;
          (cheaper(middle) == before ? low : high) = middle;
        }
        // From here on `first` costs more than `second`.
        const std::size_t winner = after ? j : i;
        growth.crossings.push_back({.first = after ? i : j,
                                    .second = winner,
                                    .tokens = high,
                                    .energy_pj = energy(winner, high)});
      }
    }
  }
  std::stable_sort(growth.crossings.begin(), growth.crossings.end(),
                   [](const Crossing& a, const Crossing& b) { return a.tokens < b.tokens; });
  return growth;
}

std::vector<MechanismChoice> mechanisms_for_growth(std::int64_t width) {
  std::vector<MechanismChoice> mechanisms;
  for (const MechanismEntry& entry : counted_mechanisms()) {
    MechanismChoice choice{std::string(entry.name), {}};
    const ParameterValues values = complete_values(entry.name, entry.parameters, {});
    if (values.contains("conv_heads")) {
      choice.parameters["conv_heads"] = std::gcd(TypedValues(values).whole("conv_heads"), width);
    }
    mechanisms.push_back(std::move(choice));
  }
  return mechanisms;
}

}  // namespace attnscope
