// What a formula says, before it is laid out: a subset of TeX.
#pragma once

#include <QString>
#include <vector>

namespace attnscope {

struct FormulaNode {
  enum class Kind {
    ordinary,  ///< a letter, a number, a sign without room around it
    binary,    ///< + ⊙
    relation,  ///< = ≤
    opening,
    closing,
    punctuation,
    function,  ///< exp, softmax: upright, with a little room
    large,     ///< Σ: limits stand under and over it
    words,     ///< \text{…}
    space,
    row,
    fraction,  ///< children: above, below
    root,      ///< child: what is under it
    fence      ///< text: its two signs; child: what is between
  };
  Kind kind = Kind::ordinary;
  QString text;
  bool slanted = false;  ///< a variable
  double space_em = 0;   ///< of a space
  std::vector<FormulaNode> children = {};
  std::vector<FormulaNode> below = {}, above = {};  ///< index and exponent: none, or one row
};

/// A row. Known are letters, digits, signs (of Unicode too), _ ^ {}, \frac, \sqrt, \text,
/// \operatorname, \left( \right), \, \; \quad, Greek letters and the signs of TeX that lessons
/// have. Throws Error(damaged) naming an unknown command, or what is not closed.
[[nodiscard]] FormulaNode parse_formula(const QString& tex);

/// The formula in one line, for those who hear it: "A = softmax(−‖q_i − k_j‖_1 / √(d_a))".
[[nodiscard]] QString spoken(const FormulaNode& node);

}  // namespace attnscope
