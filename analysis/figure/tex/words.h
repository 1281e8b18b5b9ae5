// TeX notation of texts, lengths, colours and strokes.
#pragma once

#include <string>

#include "analysis/figure/figure.h"

namespace attnscope {

/// Text that LaTeX prints in any font encoding: special characters escaped, symbols in math mode,
/// line breaks as TeX's. A character that pdfTeX's fonts lack is written as
/// \attnscopeglyph{字}{5B57}, which tex_document defines.
[[nodiscard]] std::string tex_text(const std::string& text);

/// A decimal number, without an exponent.
[[nodiscard]] std::string tex_number(double value, int decimals = 4);
[[nodiscard]] std::string tex_mm(double value);

/// A TikZ coordinate: "(12mm,3mm)".
[[nodiscard]] std::string tex_place(double x_mm, double y_mm);
/// A TikZ node with these keys at this coordinate; `text` must be TeX source.
[[nodiscard]] std::string tex_node(const std::string& keys, double x_mm, double y_mm,
                                   const std::string& text);

/// A colour as the value of a TikZ key: "{rgb,255:red,0;green,114;blue,178}".
[[nodiscard]] std::string tex_colour(const Colour& colour);

/// Keys of \draw for a line of this style.
[[nodiscard]] std::string tex_stroke(const Colour& colour, LineStyle style, double width_pt);
/// Keys of \addplot for a line's markers; "no markers" for MarkerShape::none.
[[nodiscard]] std::string tex_marker(MarkerShape shape, const Colour& colour);

}  // namespace attnscope
