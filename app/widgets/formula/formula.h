// Mathematical typesetting in the window's font, sharp at every size.
#pragma once

#include <QColor>
#include <QFont>
#include <QPointF>
#include <QString>

#include "app/widgets/formula/formula_tree.h"

class QPainter;

namespace attnscope {

class Formula {
 public:
  /// `display`: on a line of its own, with large fractions and with limits under the sums. Throws
  /// the errors of parse_formula.
  explicit Formula(const QString& tex, bool display = false);

  /// Size in pixels, relative to the text baseline.
  struct Extents {
    double width = 0, ascent = 0, descent = 0;
  };
  [[nodiscard]] Extents extents(const QFont& font) const;
  void draw(QPainter& painter, const QPointF& baseline, const QFont& font,
            const QColor& colour) const;
  [[nodiscard]] QString words() const { return spoken(tree_); }

 private:
  FormulaNode tree_;
  bool display_;
};

}  // namespace attnscope
