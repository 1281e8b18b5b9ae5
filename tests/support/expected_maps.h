// Comparison with the rows of implied maps in a reference file.
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Expects the rows in `expected` in every layer and head: `map_rows` [L, H, rows, N] for the
/// queries `rows`, each value to 1e-5. Fails the running test otherwise.
void expect_map_rows(const Trace& trace, const Checkpoint& expected);

}  // namespace attnscope
