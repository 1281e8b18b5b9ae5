// Parse tree of a formula in a subset of TeX.
#pragma once

#include <QString>
#include <vector>

namespace attnscope {

struct FormulaNode {
  enum class Kind {
    ordinary,  ///< a letter, a number, a sign without space around it
    binary,    ///< + ⊙
    relation,  ///< = ≤
    opening,
    closing,
    punctuation,
    function,  ///< exp, softmax: upright, with a little space
    large,     ///< Σ: limits are below and above it
    words,     ///< \text{…}
    space,
    row,
    fraction,  ///< children: numerator, denominator
    root,      ///< child: the radicand
    fence      ///< text: its two signs; child: the enclosed part
  };
  Kind kind = Kind::ordinary;
  QString text;
  bool slanted = false;  ///< italic, for a variable
  double space_em = 0;   ///< width of a space
  std::vector<FormulaNode> children = {};
  std::vector<FormulaNode> below = {}, above = {};  ///< index and exponent: empty, or one row
};

/// Parses a row. The subset has letters, digits, signs (also from Unicode), _ ^ {}, \frac, \sqrt,
/// \text, \operatorname, \left( \right), \, \; \quad, Greek letters and the TeX signs that lessons
/// use. Throws Error(damaged) naming an unknown command or an unclosed part.
[[nodiscard]] FormulaNode parse_formula(const QString& tex);

/// The formula in one line, for screen readers: "A = softmax(−‖q_i − k_j‖_1 / √(d_a))".
[[nodiscard]] QString spoken(const FormulaNode& node);

}  // namespace attnscope
