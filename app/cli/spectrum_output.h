// Output of `attnscope spectrum`: a table for people, JSON for programs.
#pragma once

#include <string>

#include "analysis/tables/spectrum_report.h"

namespace attnscope {

/// {"model", …, "maps": [{"layer", "head", "identity", "singular_values", …}], "layers", "mean"}.
/// Values that are undefined because a map is not finite or all zero are null.
[[nodiscard]] std::string spectrum_as_json(const SpectrumReport& report);
/// For one input, prints one row per map, then the layers' means; for several inputs, one row per
/// layer.
void print_table(const SpectrumReport& report);

}  // namespace attnscope
