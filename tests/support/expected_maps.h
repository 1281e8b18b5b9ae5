// Rows of implied maps as a reference file holds them.
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Expects of every layer and head the rows that `expected` holds: `map_rows` [L, H, rows, N] of
/// the queries `rows`, each value to 1e-5. Fails the running test otherwise.
void expect_map_rows(const Trace& trace, const Checkpoint& expected);

}  // namespace attnscope
