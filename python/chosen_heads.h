// Selections of heads, which several functions of the module take.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"

namespace attnscope::python {

/// Throws Error(usage) for the first of `heads` that is not below `known`.
inline void check_heads(const std::vector<std::int64_t>& heads, std::int64_t known) {
  for (const std::int64_t head : heads) {
    if (head >= 0 && head < known) continue;
    throw Error(ErrorKind::usage, "no layer has this head")
        .about("heads")
        .expected(known > 0 ? "0 to " + std::to_string(known - 1) : "a layer with heads")
        .found(std::to_string(head));
  }
}

/// Keeps the rows whose head, given by `head_of` (a member or a function), is in `heads`; keeps all
/// if `heads` is empty. Throws like check_heads for a head without any row.
template <class Row, class HeadOf>
void keep_heads(std::vector<Row>& rows, const std::vector<std::int64_t>& heads, HeadOf head_of) {
  if (heads.empty()) return;
  std::int64_t known = 0;
  for (const Row& row : rows) {
    known = std::max<std::int64_t>(known, std::invoke(head_of, row) + 1);
  }
  check_heads(heads, known);
  std::erase_if(rows, [&](const Row& row) {
    return std::ranges::find(heads, std::invoke(head_of, row)) == heads.end();
  });
}

}  // namespace attnscope::python
