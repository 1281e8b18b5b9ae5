// The text of figures that came from files of strangers: labels, titles, tokens.
#pragma once

#include "analysis/figure/figure.h"

namespace attnscope {

/// Makes every text of `figure` fit to be shown (shown_lines of core/shown_text.h). Done once,
/// where figures are made: so screen, PDF, SVG, PNG, CSV, TeX and JSON all have the same text.
void make_text_showable(Figure& figure);

}  // namespace attnscope
