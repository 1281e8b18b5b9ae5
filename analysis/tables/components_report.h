// The table of maps' rank-one components, as the command line prints it and Python returns it.
#pragma once

#include <vector>

#include "analysis/components/components.h"
#include "analysis/matrix/matrix_kind.h"
#include "analysis/report/report.h"
#include "core/trace/trace.h"

namespace attnscope {

/// One row per map, with its components as a table in a cell: σ, its share of Σσ and of Σσ², and
/// the vectors, of which text names the three strongest keys and queries. The arguments must
/// outlive the report.
[[nodiscard]] Report components_report(const Trace& trace, const MatrixChoice& analysed,
                                       const std::vector<MapComponents>& maps);

}  // namespace attnscope
