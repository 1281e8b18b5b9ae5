// The table of heads' weight products, as the command line prints it and Python returns it.
#pragma once

#include <vector>

#include "analysis/report/report.h"
#include "analysis/weights/weight_spectra.h"

namespace attnscope {

/// One row per head: layer, head, the singular values of the product, its ranks (the equivalent
/// rank at `threshold`) and the copying score. `spectra` must outlive the report.
[[nodiscard]] Report weight_heads_report(const std::vector<WeightSpectrum>& spectra,
                                         double threshold);

}  // namespace attnscope
