// How a figure was made, as pairs of a name and a text: what every format says of it in its own
// way.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/figure/figure.h"

namespace attnscope {

/// "Title", "Description" (the caption), "Command", "Models" (files, joined by ", ") and "Software"
/// ("attnscope 0.1.0"), in this order and without those that are empty. Texts have no line breaks.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> provenance_of(const Figure& figure);

}  // namespace attnscope
