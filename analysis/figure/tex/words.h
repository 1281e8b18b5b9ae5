// The words of TeX that figures are written in: texts, lengths, colours, strokes.
#pragma once

#include <string>

#include "analysis/figure/figure.h"

namespace attnscope {

/// Text as LaTeX prints it in any encoding of its fonts: special characters escaped, symbols in
/// mathematics, lines broken by \\. A character that pdfTeX's fonts lack is written as
/// \attnscopeglyph{字}{5B57}, which tex_document defines.
[[nodiscard]] std::string tex_text(const std::string& text);

/// A decimal number, without an exponent.
[[nodiscard]] std::string tex_number(double value, int decimals = 4);
[[nodiscard]] std::string tex_mm(double value);

/// "(12mm,3mm)".
[[nodiscard]] std::string tex_place(double x_mm, double y_mm);
/// A node of these keys there; `text` is TeX already.
[[nodiscard]] std::string tex_node(const std::string& keys, double x_mm, double y_mm,
                                   const std::string& text);

/// "{rgb,255:red,0;green,114;blue,178}": as a value of a TikZ key.
[[nodiscard]] std::string tex_colour(const Colour& colour);

/// Keys of \draw for a line of this look.
[[nodiscard]] std::string tex_stroke(const Colour& colour, LineStyle style, double width_pt);
/// Keys of \addplot for its markers; none for MarkerShape::none.
[[nodiscard]] std::string tex_marker(MarkerShape shape, const Colour& colour);

}  // namespace attnscope
