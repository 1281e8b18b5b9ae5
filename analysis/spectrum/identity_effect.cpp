#include "analysis/spectrum/identity_effect.h"

#include <algorithm>
#include <cmath>

#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/rank.h"

namespace attnscope {

namespace {

// Tolerance for rounding errors of shares in the assertions.
constexpr double kRounding = 1e-9;

bool is_concave(const std::vector<double>& share) {
  double last_rise = share.front();
  for (std::size_t r = 1; r < share.size(); ++r) {
    const double rise = share[r] - share[r - 1];
    if (rise < -kRounding || rise > last_rise + kRounding) return false;
    last_rise = rise;
  }
  return true;
}

void compare(IdentityEffect& effect) {
  if (effect.without.state != SpectrumState::ready || effect.with.state != SpectrumState::ready) {
    return;
  }
  if (!effect.with.identity) return;  // I can only be added to square maps
  effect.predicted = effect.without.singular_values;
  for (double& value : effect.predicted) value += 1;
  effect.predicted_rank = equivalent_rank(effect.predicted, effect.without.threshold);

  const RankShare share = effect.without.threshold.of;
  const std::vector<double> without = cumulative_share(effect.without, share);
  const std::vector<double> with = cumulative_share(effect.with, share);
  const std::vector<double> predicted = cumulative_share(effect.predicted, share);
  effect.largest_excess = with.front() - without.front();
  for (std::size_t r = 0; r < with.size(); ++r) {
    effect.prediction_error = std::max(effect.prediction_error, std::abs(predicted[r] - with[r]));
    // D̃ − D = f̃ − f, because g is the same.
    effect.largest_excess = std::max(effect.largest_excess, with[r] - without[r]);
  }
  effect.share_is_concave = is_concave(without) && is_concave(with);
  effect.closer_to_linear = effect.largest_excess <= kRounding;
  effect.rank_not_lower = effect.with.equivalent_rank >= effect.without.equivalent_rank;
}

IdentityEffect effect_at(const Trace& trace, const MapIndex& place,
                         const SpectrumOptions& options) {
  IdentityEffect effect;
  for (const bool identity : {false, true}) {
    const IdentityView view = identity ? IdentityView::with : IdentityView::without;
    (identity ? effect.with : effect.without) = spectrum_at(trace, place, view, options);
  }
  compare(effect);
  return effect;
}

}  // namespace

std::vector<IdentityEffect> identity_effects(const Trace& trace, const SpectrumOptions& options,
                                             const Progress& progress) {
  const std::vector<MapIndex> places = recorded_maps(trace, options.layers, true);
  std::vector<IdentityEffect> effects(places.size());
  for_each_map(trace, places, progress, [&](std::size_t index) {
    effects[index] = effect_at(trace, places[index], options);
    return [] {};
  });
  return effects;
}

}  // namespace attnscope
