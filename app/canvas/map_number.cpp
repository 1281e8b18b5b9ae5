#include "app/canvas/map_number.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/heads/row_weights.h"
#include "analysis/spectrum/rank.h"
#include "app/canvas/parallel.h"
#include "app/session/spectrum_store.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

double number_of(const MapSpectrum& map, const ViewSettings& view) {
  switch (view.map_number) {
    case MapNumber::effective_rank:
      return map.effective_rank;
    case MapNumber::stable_rank:
      return map.stable_rank;
    default:
      return static_cast<double>(equivalent_rank(map, view.rank_threshold));
  }
}

/// True if the lens shows the maps that were analysed.
bool shows_analysed(const ViewSettings& view) {
  return view.head_fusion == HeadFusion::none && view.temperature == 1.0 && view.shown_rank == 0 &&
         !view.hide_prefix_tokens;
}

PrintedNumber printed(double number, double most, int digits) {
  if (std::isnan(number)) return {"–", 0, number};
  return {QString::number(number, 'f', digits), most > 0 ? std::clamp(number / most, 0.0, 1.0) : 0,
          number};
}

}  // namespace

double map_entropy(const Trace& trace, std::int64_t layer, std::int64_t head) {
  const ImpliedMaps& maps = trace.layers[static_cast<std::size_t>(layer)].implied_map;
  const bool recorded = maps.shape().size() == 3 && head < maps.extent(0);
  if (!recorded) return std::numeric_limits<double>::quiet_NaN();
  MatrixD map = maps.head(head).cast<double>();
  if (has_identity(trace, layer)) map.diagonal().array() -= 1;
  if (state_of(map) != HeadState::ready) return std::numeric_limits<double>::quiet_NaN();
  return RowWeights(std::move(map), {}).entropy();
}

double MapEntropies::of(std::int64_t layer, std::int64_t head) const {
  const std::int64_t at = layer * heads + head;
  const bool exists = head >= 0 && head < heads && at >= 0 && at < std::ssize(nats);
  return exists ? nats[static_cast<std::size_t>(at)] : std::numeric_limits<double>::quiet_NaN();
}

MapEntropies map_entropies(const Trace& trace) {
  MapEntropies all;
  const auto layers = std::ssize(trace.layers);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    all.heads = std::max(all.heads, trace.heads(layer));
  }
  all.nats.resize(static_cast<std::size_t>(layers * all.heads));
  const auto compute = [&](std::int64_t at) {
    all.nats[static_cast<std::size_t>(at)] = map_entropy(trace, at / all.heads, at % all.heads);
  };
  if (has_computed_maps(trace)) {
    for (std::int64_t at = 0; at < layers * all.heads; ++at) {
      take_turn_at_computed_map([&] { compute(at); });
    }
  } else {
    for_each_index(layers * all.heads, compute);
  }
  return all;
}

std::optional<PrintedNumber> printed_entropy(double nats, const Trace& trace,
                                             const ViewSettings& view, std::int64_t layer) {
  if (view.map_number != MapNumber::entropy || !shows_analysed(view)) return std::nullopt;
  const auto keys = static_cast<double>(trace.keys(layer));
  return printed(nats, keys > 1 ? std::log(keys) : 0, 2);
}

std::optional<PrintedNumber> printed_number(const SubjectSpectra& spectra, const Trace& trace,
                                            const ViewSettings& view, std::int64_t layer,
                                            std::int64_t head) {
  const bool of_spectrum =
      view.map_number != MapNumber::none && view.map_number != MapNumber::entropy;
  if (!of_spectrum || !shows_analysed(view)) return std::nullopt;
  const bool with = has_identity(trace, layer, view.identity);
  const MapSpectrum* map = find_spectrum(with ? spectra.with : spectra.without, layer, head);
  if (map == nullptr) return std::nullopt;
  const double number = map->state == SpectrumState::ready
                            ? number_of(*map, view)
                            : std::numeric_limits<double>::quiet_NaN();
  const std::int64_t full = std::min(trace.queries(layer), trace.keys(layer));
  PrintedNumber found = printed(number, static_cast<double>(full),
                                view.map_number == MapNumber::equivalent_rank ? 0 : 1);
  if (map->estimate && !std::isnan(number)) found.text.prepend("≈ ");
  return found;
}

}  // namespace attnscope
