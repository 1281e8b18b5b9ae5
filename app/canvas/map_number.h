// The number printed on a map of an atlas.
#pragma once

#include <QString>
#include <optional>

#include "analysis/spectrum/spectrum.h"
#include "app/session/selection.h"

namespace attnscope {

struct PrintedNumber {
  QString text;      ///< "–" where it is not known
  double share = 0;  ///< of the largest such a map could have, 0 to 1
  double value = 0;  ///< NaN where it is not known
};

/// The entropy of a map's rows, where that is asked for; none as for printed_number.
[[nodiscard]] std::optional<PrintedNumber> printed_entropy(double nats, const Trace& trace,
                                                           const ViewSettings& view,
                                                           std::int64_t layer);

/// Of the spectrum of the map that is shown: none where no number is asked for, or where the lens
/// shows another than the spectra are of (heads fused, another temperature, tokens hidden).
[[nodiscard]] std::optional<PrintedNumber> printed_number(const SubjectSpectra& spectra,
                                                          const Trace& trace,
                                                          const ViewSettings& view,
                                                          std::int64_t layer, std::int64_t head);

}  // namespace attnscope
