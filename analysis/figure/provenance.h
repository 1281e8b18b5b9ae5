// The origin of a figure as pairs of name and text, for all file formats.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/figure/figure.h"

namespace attnscope {

/// The pairs "Title", "Description" (the caption), "Command", "Models" (files, joined by ", ") and
/// "Software" ("attnscope 0.1.0"), in this order; empty ones are omitted. Texts have no line
/// breaks.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> provenance_of(const Figure& figure);

}  // namespace attnscope
