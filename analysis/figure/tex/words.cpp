#include "analysis/figure/tex/words.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <map>

#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// LaTeX source of characters that have no code of their own in TeX's default font encoding.
const std::map<std::uint32_t, const char*>& symbols() {
  static const std::map<std::uint32_t, const char*> list = {{0xA0, "~"},
                                                            {0xA7, "\\S{}"},
                                                            {0xB0, "$^{\\circ}$"},
                                                            {0xB1, "$\\pm$"},
                                                            {0xB2, "$^{2}$"},
                                                            {0xB3, "$^{3}$"},
                                                            {0xB5, "$\\mu$"},
                                                            {0xB7, "$\\cdot$"},
                                                            {0xB9, "$^{1}$"},
                                                            {0xBC, "$\\frac14$"},
                                                            {0xBD, "$\\frac12$"},
                                                            {0xD7, "$\\times$"},
                                                            {0xF7, "$\\div$"},
                                                            {0x304, ""},
                                                            {0x2009, "\\,"},
                                                            {0x202F, "\\,"},
                                                            {0x2013, "--"},
                                                            {0x2014, "---"},
                                                            {0x2016, "$\\|$"},
                                                            {0x2018, "`"},
                                                            {0x2019, "'"},
                                                            {0x201C, "``"},
                                                            {0x201D, "''"},
                                                            {0x2026, "\\dots{}"},
                                                            {0x2032, "$'$"},
                                                            {0x2070, "$^{0}$"},
                                                            {0x2074, "$^{4}$"},
                                                            {0x2075, "$^{5}$"},
                                                            {0x2076, "$^{6}$"},
                                                            {0x2077, "$^{7}$"},
                                                            {0x2078, "$^{8}$"},
                                                            {0x2079, "$^{9}$"},
                                                            {0x207B, "$^{-}$"},
                                                            {0x2080, "$_{0}$"},
                                                            {0x2081, "$_{1}$"},
                                                            {0x2082, "$_{2}$"},
                                                            {0x1D40, "$^{T}$"},
                                                            {0x2190, "$\\leftarrow$"},
                                                            {0x2192, "$\\rightarrow$"},
                                                            {0x21B5, "$\\hookleftarrow$"},
                                                            {0x21E5, "$\\rightarrow$"},
                                                            {0x2212, "$-$"},
                                                            {0x221A, "$\\surd$"},
                                                            {0x221E, "$\\infty$"},
                                                            {0x222B, "$\\int$"},
                                                            {0x2248, "$\\approx$"},
                                                            {0x2260, "$\\ne$"},
                                                            {0x2264, "$\\le$"},
                                                            {0x2265, "$\\ge$"},
                                                            {0x2299, "$\\odot$"},
                                                            {0x2423, "\\textvisiblespace{}"},
                                                            {0x27E8, "$\\langle$"},
                                                            {0x27E9, "$\\rangle$"}};
  return list;
}

/// LaTeX source of Α to Ω and α to ω; letters that look like Latin ones are written as those.
std::string greek(std::uint32_t code) {
  static constexpr std::array<const char*, 25> capitals = {
      "A",         "B",     "\\Gamma", "\\Delta", "E",      "Z",    "H", "\\Theta", "I",       "K",
      "\\Lambda",  "M",     "N",       "\\Xi",    "O",      "\\Pi", "P", "\\Sigma", "\\Sigma", "T",
      "\\Upsilon", "\\Phi", "X",       "\\Psi",   "\\Omega"};
  static constexpr std::array<const char*, 25> small = {
      "\\alpha",  "\\beta", "\\gamma", "\\delta",    "\\varepsilon", "\\zeta", "\\eta",
      "\\theta",  "\\iota", "\\kappa", "\\lambda",   "\\mu",         "\\nu",   "\\xi",
      "o",        "\\pi",   "\\rho",   "\\varsigma", "\\sigma",      "\\tau",  "\\upsilon",
      "\\varphi", "\\chi",  "\\psi",   "\\omega"};
  if (code >= 0x391 && code <= 0x3A9) return std::string("$") + capitals[code - 0x391] + "$";
  if (code >= 0x3B1 && code <= 0x3C9) return std::string("$") + small[code - 0x3B1] + "$";
  return {};
}

/// True for accented Latin letters, which LaTeX composes in every font encoding.
bool is_composed(std::uint32_t code) {
  if (code < 0xC0 || code > 0x17E) return false;
  static const std::string_view others =  // letters of other encodings, or unsupported
      "\xD0\xDE\xF0\xFE";
  if (code <= 0xFF) {
    return code != 0xD7 && code != 0xF7 &&
           others.find(static_cast<char>(code)) == std::string_view::npos;
  }
  constexpr std::uint32_t lacking[] = {0x104, 0x105, 0x110, 0x111, 0x118, 0x119, 0x126,
                                       0x127, 0x12E, 0x12F, 0x132, 0x133, 0x138, 0x149,
                                       0x14A, 0x14B, 0x166, 0x167, 0x172, 0x173, 0x17F};
  for (const std::uint32_t one : lacking) {
    if (one == code) return false;
  }
  return true;
}

/// The character at `place`, which moves past it; U+FFFD for each invalid UTF-8 byte.
std::uint32_t next_character(const std::string& text, std::size_t& place) {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(text[at])) : 0U;
  };
  const std::uint32_t lead = byte(place++);
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  if (more == 0) return lead < 0x80 ? lead : 0xFFFD;
  std::uint32_t code = lead & (0x3FU >> more);
  for (int i = 0; i < more; ++i) {
    const std::uint32_t next = byte(place);
    if ((next & 0xC0U) != 0x80U) return 0xFFFD;
    code = code << 6U | (next & 0x3FU);
    ++place;
  }
  return code;
}

std::string ascii(char c) {
  switch (c) {
    case '\\':
      return "\\textbackslash{}";
    case '~':
      return "\\textasciitilde{}";
    case '^':
      return "\\textasciicircum{}";
    case '<':
      return "$<$";
    case '>':
      return "$>$";
    case '|':
      return "$|$";
    case '"':
      return "\\char34{}";
    case '\n':
      return "\\\\{}";
    case '#':
    case '$':
    case '%':
    case '&':
    case '_':
    case '{':
    case '}':
      return std::string("\\") + c;
    default:
      return c >= ' ' && c != 0x7F ? std::string(1, c) : std::string();
  }
}

}  // namespace

std::string tex_text(const std::string& text) {
  std::string out;
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t first = place;
    const std::uint32_t code = next_character(text, place);
    if (code < 0x80) {
      out += ascii(static_cast<char>(code));
      continue;
    }
    const auto symbol = symbols().find(code);
    const std::string letter = greek(code);
    if (symbol != symbols().end()) {
      out += symbol->second;
    } else if (!letter.empty()) {
      out += letter;
    } else if (is_composed(code)) {
      out += text.substr(first, place - first);
    } else {
      std::array<char, 12> hex{};
      std::snprintf(hex.data(), hex.size(), "%04X", static_cast<unsigned>(code));
      out += "\\attnscopeglyph{" +
             (code == 0xFFFD ? std::string("?") : text.substr(first, place - first)) + "}{" +
             hex.data() + "}";
    }
  }
  return out;
}

std::string tex_number(double value, int decimals) {
  std::string number = fixed_text(value, decimals);
  if (decimals > 0) number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number == "-0" ? "0" : number;
}

std::string tex_mm(double value) { return tex_number(value, 3) + "mm"; }

std::string tex_place(double x_mm, double y_mm) {
  return "(" + tex_mm(x_mm) + "," + tex_mm(y_mm) + ")";
}

std::string tex_node(const std::string& keys, double x_mm, double y_mm, const std::string& text) {
  return "\\node[" + keys + "] at " + tex_place(x_mm, y_mm) + " {" + text + "};\n";
}

std::string tex_colour(const Colour& colour) {
  return "{rgb,255:red," + std::to_string(colour.red) + ";green," + std::to_string(colour.green) +
         ";blue," + std::to_string(colour.blue) + "}";
}

std::string tex_stroke(const Colour& colour, LineStyle style, double width_pt) {
  constexpr const char* patterns[] = {"", "solid", "dashed", "densely dotted", "dash dot"};
  std::string keys =
      "draw=" + tex_colour(colour) + ", line width=" + rounded_text(width_pt) + "pt, ";
  keys += style == LineStyle::none ? "only marks" : patterns[static_cast<int>(style)];
  if (colour.alpha < 255) keys += ", opacity=" + rounded_text(colour.alpha / 255.0, 3);
  return keys;
}

std::string tex_marker(MarkerShape shape, const Colour& colour) {
  constexpr const char* shapes[] = {"", "*", "square*", "triangle*", "diamond*", "x"};
  if (shape == MarkerShape::none) return ", no markers";
  return std::string(", mark=") + shapes[static_cast<int>(shape)] +
         ", mark size=1.1pt, mark options={solid, fill=" + tex_colour(colour) +
         ", draw=" + tex_colour(colour) + "}";
}

}  // namespace attnscope
