// The number printed on a map of an atlas.
#pragma once

#include <QString>
#include <optional>

#include "analysis/spectrum/spectrum.h"
#include "app/session/selection.h"

namespace attnscope {

struct PrintedNumber {
  QString text;      ///< "–" if unknown
  double share = 0;  ///< 0 to 1: share of the largest possible value of such a map
  double value = 0;  ///< NaN if unknown
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

}  // namespace attnscope
