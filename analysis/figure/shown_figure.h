// Makes texts from untrusted files safe to show in figures: labels, titles, tokens.
#pragma once

#include "analysis/figure/figure.h"

namespace attnscope {

/// Makes every text of `figure` safe to show (shown_lines of core/shown_text.h). Applied once, when
/// a figure is made, so that all outputs have the same text.
void make_text_showable(Figure& figure);

}  // namespace attnscope
