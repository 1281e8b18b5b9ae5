// Writes tables in LaTeX.
#pragma once

#include <string>

#include "analysis/figure/figure.h"

namespace attnscope {

/// A tabular environment with the rules of the package booktabs: text columns left, numbers right.
[[nodiscard]] std::string tex_booktabs(const Table& table);

}  // namespace attnscope
