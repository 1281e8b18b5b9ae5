// The number printed on a map of an atlas, and the mean attention entropy that it may show.
#pragma once

#include <QString>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/spectrum/spectrum.h"
#include "app/session/selection.h"
#include "core/trace/trace.h"

namespace attnscope {

struct PrintedNumber {
  QString text;      ///< "–" if unknown
  double share = 0;  ///< 0 to 1: share of the largest possible value of such a map
  double value = 0;  ///< NaN if unknown

  /// Two unknown values are equal.
  bool operator==(const PrintedNumber& other) const {
    return text == other.text && share == other.share &&
           (value == other.value || (std::isnan(value) && std::isnan(other.value)));
  }
};

/// The entropy of a map's rows; empty if the view shows another number, or if printed_number is
/// empty because of the lens.
[[nodiscard]] std::optional<PrintedNumber> printed_entropy(double nats, const Trace& trace,
                                                           const ViewSettings& view,
                                                           std::int64_t layer);

/// The number from the spectrum of the shown map. Empty if the view asks for no number, if there is
/// no such spectrum, or if the lens changes the maps that the spectra describe (heads fused, other
/// temperature or rank, tokens hidden).
[[nodiscard]] std::optional<PrintedNumber> printed_number(const SubjectSpectra& spectra,
                                                          const Trace& trace,
                                                          const ViewSettings& view,
                                                          std::int64_t layer, std::int64_t head);

/// The mean over queries of the row entropy in nats, of the map without I with rows normalised to
/// sum 1. NaN if the map was not recorded, is all zero, or has a negative weight, NaN or Inf.
[[nodiscard]] double map_entropy(const Trace& trace, std::int64_t layer, std::int64_t head);

/// One map_entropy per map, `heads` per layer.
struct MapEntropies {
  std::int64_t heads = 0;
  std::vector<double> nats;

  [[nodiscard]] double of(std::int64_t layer, std::int64_t head) const;
};
/// Computes all entropies on all cores.
[[nodiscard]] MapEntropies map_entropies(const Trace& trace);

}  // namespace attnscope
