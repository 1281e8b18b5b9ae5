// Colours of tokens by their codes: equal codes look equal, near codes alike.
#pragma once

#include <vector>

#include "analysis/figure/figure.h"
#include "core/attention/hash_codes.h"

namespace attnscope {

/// One colour a token: the three leading principal components of the codes as lightness and two
/// opponent hues, each stretched over its range. Codes without any difference are grey.
[[nodiscard]] std::vector<Colour> code_colours(const HashCodes& codes);

}  // namespace attnscope
