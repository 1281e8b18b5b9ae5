// Token colours from hash codes: equal codes have equal colours, similar codes similar ones.
#pragma once

#include <vector>

#include "analysis/figure/figure.h"
#include "core/attention/hash_codes.h"

namespace attnscope {

/// One colour per token: the three leading principal components of the codes as lightness and two
/// opponent hues, each scaled over its range. Identical codes are all grey.
[[nodiscard]] std::vector<Colour> code_colours(const HashCodes& codes);

}  // namespace attnscope
