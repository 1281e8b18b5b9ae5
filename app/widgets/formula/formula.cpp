#include "app/widgets/formula/formula.h"

#include <QFontInfo>
#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <utility>
#include <vector>

namespace attnscope {

namespace {

using Kind = FormulaNode::Kind;

// Lengths in em unless noted, as in print.
constexpr double kScript = 0.72;       // font size relative to the base's
constexpr double kLeastScript = 0.55;  // least font size, relative to the formula's
constexpr double kInlineFraction = 0.8;
constexpr double kAxis = 0.27;  // height of fraction bars above the baseline
constexpr double kRule = 0.055;
constexpr double kAroundBinary = 0.2, kAroundRelation = 0.28, kAfterFunction = 0.1;

/// Layout of a part, relative to its left end on the baseline.
struct Box {
  double width = 0, ascent = 0, descent = 0;
  double foot = 0;  ///< right end of the letter where an index begins; 0: the width
  double hang = 0;  ///< part of the width at the left that may lie under a letter before it
  struct Text {
    QPointF at;
    QString text;
    QFont font;
  };
  std::vector<Text> texts = {};
  QPainterPath filled = {};

  void add(const Box& other, const QPointF& at) {
    for (Text text : other.texts) {
      text.at += at;
      texts.push_back(std::move(text));
    }
    filled.addPath(other.filled.translated(at));
  }
  void reach(double up, double down) {
    ascent = std::max(ascent, up);
    descent = std::max(descent, down);
  }
};

class Setter {
 public:
  Setter(QFont font, bool display) : font_(std::move(font)), display_(display) {}

  [[nodiscard]] Box set(const FormulaNode& node) const {
    Box box = set_alone(node);
    if (node.below.empty() && node.above.empty()) return box;
    return node.kind == Kind::large && display_ ? with_limits(node, box) : with_scripts(node, box);
  }

 private:
  [[nodiscard]] double em() const { return QFontInfo(font_).pixelSize(); }

  [[nodiscard]] Setter smaller(double scale) const {
    Setter other(*this);
    other.least_ = least_ > 0 ? least_ : font_.pointSizeF() * kLeastScript;
    other.font_.setPointSizeF(std::max(other.least_, font_.pointSizeF() * scale));
    other.display_ = false;
    return other;
  }

  [[nodiscard]] Box text(const QString& text, bool slanted, double scale = 1) const {
    QFont font = font_;
    font.setItalic(slanted);
    font.setPointSizeF(font_.pointSizeF() * scale);
    const QFontMetricsF metrics(font);
    const QRectF ink = metrics.tightBoundingRect(text);
    Box box;
    // Slanted letters extend over the following letter.
    const double hang = slanted ? std::max(0.0, -ink.left()) : 0;  // overhang on the left, as of j
    const double advance = metrics.horizontalAdvance(text);
    box.width = std::max(advance, slanted ? ink.right() + 0.03 * em() : 0);
    box.foot = hang + std::min(advance, ink.right() + 0.02 * em());
    box.hang = hang;
    box.width += hang;
    box.ascent = std::max(-ink.top(), metrics.xHeight());
    box.descent = std::max(ink.bottom(), 0.0);
    box.texts.push_back({{hang, 0}, text, font});
    return box;
  }

  [[nodiscard]] Box set_alone(const FormulaNode& node) const {
    switch (node.kind) {
      case Kind::row:
        return row(node);
      case Kind::fraction:
        return fraction(node);
      case Kind::root:
        return root(node);
      case Kind::fence:
        return fence(node);
      case Kind::space: {
        Box box;
        box.width = node.space_em * em();
        return box;
      }
      case Kind::large: {
        Box sign = text(node.text, false, display_ ? 1.5 : 1.15), box;
        // The sign is centred on the axis.
        const double down = (sign.ascent - sign.descent) / 2 - kAxis * em();
        box.add(sign, {0, down});
        box.width = sign.width;
        box.reach(sign.ascent - down, sign.descent + down);
        return box;
      }
      default:
        return text(node.text, node.slanted);
    }
  }

  /// The space before `node`, given the node before it.
  [[nodiscard]] double gap(const FormulaNode* before, const FormulaNode& node) const {
    if (before == nullptr || before->kind == Kind::space || node.kind == Kind::space) return 0;
    if (is_script()) return 0;  // letters of an index stand as close as those of a word
    const auto relation = [](const FormulaNode& one) { return one.kind == Kind::relation; };
    if (relation(*before) || relation(node)) return kAroundRelation * em();
    if (before->kind == Kind::punctuation) return kAroundRelation * em();
    if (before->kind == Kind::large || node.kind == Kind::large) return 0.16 * em();
    if (before->kind == Kind::function) {
      return node.kind == Kind::opening || node.kind == Kind::fence ? 0.04 * em()
                                                                    : kAfterFunction * em();
    }
    if (node.kind == Kind::function && before->kind != Kind::opening) return kAfterFunction * em();
    return 0.02 * em();
  }

  [[nodiscard]] bool is_script() const { return least_ > 0; }

  /// A sign such as − is a binary operator only after an operand.
  static bool joins(const FormulaNode* before, const FormulaNode& node) {
    return node.kind == Kind::binary && before != nullptr && before->kind != Kind::opening &&
           before->kind != Kind::relation && before->kind != Kind::binary &&
           before->kind != Kind::punctuation && before->kind != Kind::space;
  }

  [[nodiscard]] Box row(const FormulaNode& node) const {
    Box box;
    const FormulaNode* before = nullptr;
    bool joined = false;
    for (const FormulaNode& child : node.children) {
      double room = gap(before, child);
      const bool joins_now = joins(before, child);
      if (joins_now || joined) room = std::max(room, (is_script() ? 0.08 : kAroundBinary) * em());
      joined = joins_now;
      const Box part = set(child);
      before == nullptr ? box.hang = part.hang : room -= part.hang;
      box.add(part, {box.width + room, 0});
      box.width += room + part.width;
      box.reach(part.ascent, part.descent);
      before = &child;
    }
    return box;
  }

  [[nodiscard]] Box with_scripts(const FormulaNode& node, const Box& base) const {
    const Setter small = smaller(kScript);
    Box box = base;
    // An index stands under the lean of a slanted letter, an exponent beside it.
    const double from = base.width + 0.04 * em();
    double right = base.width;
    const double x_height = QFontMetricsF(font_).xHeight();
    double floor = -1e9;  // lower end of the exponent, which the index stays below
    if (!node.above.empty()) {
      const Box above = small.set(node.above[0]);
      const double up = std::max(base.ascent - 0.5 * above.ascent, x_height * 0.85);
      box.add(above, {from, -up});
      box.reach(up + above.ascent, 0);
      right = std::max(right, from + above.width);
      floor = -up + above.descent;
    }
    if (!node.below.empty()) {
      const Box below = small.set(node.below[0]);
      double down = std::max(base.descent + 0.1 * em(), 0.22 * em());
      down = std::max(down, floor + below.ascent + 0.12 * em());
      const double from_below = (base.foot > 0 ? base.foot : base.width) - below.hang;
      box.add(below, {from_below, down});
      box.reach(0, down + below.descent);
      right = std::max(right, from_below + below.width);
    }
    box.width = right;
    box.foot = 0;
    return box;
  }

  [[nodiscard]] Box with_limits(const FormulaNode& node, const Box& base) const {
    const Setter small = smaller(kScript);
    const Box above = node.above.empty() ? Box{} : small.set(node.above[0]);
    const Box below = node.below.empty() ? Box{} : small.set(node.below[0]);
    Box box;
    box.width = std::max({base.width, above.width, below.width});
    box.add(base, {(box.width - base.width) / 2, 0});
    box.reach(base.ascent, base.descent);
    const double room = 0.12 * em();
    if (!node.above.empty()) {
      const double up = base.ascent + room + above.descent;
      box.add(above, {(box.width - above.width) / 2, -up});
      box.reach(up + above.ascent, 0);
    }
    if (!node.below.empty()) {
      const double down = base.descent + room + below.ascent;
      box.add(below, {(box.width - below.width) / 2, down});
      box.reach(0, down + below.descent);
    }
    return box;
  }

  [[nodiscard]] Box fraction(const FormulaNode& node) const {
    const Setter part = display_ ? inside() : smaller(kInlineFraction);
    const Box above = part.set(node.children[0]), below = part.set(node.children[1]);
    const double margin = 0.08 * em(), room = (display_ ? 0.16 : 0.09) * em();
    const double rule = kRule * em(), axis = kAxis * em();
    Box box;
    box.width = std::max(above.width, below.width) + 2 * margin;
    const double up = axis + rule / 2 + room + above.descent;
    const double down = -axis + rule / 2 + room + below.ascent;
    box.add(above, {(box.width - above.width) / 2, -up});
    box.add(below, {(box.width - below.width) / 2, down});
    box.filled.addRect(QRectF(0, -axis - rule / 2, box.width, rule));
    box.reach(up + above.ascent, down + below.descent);
    return box;
  }

  /// A setter of the same size, without display style.
  [[nodiscard]] Setter inside() const {
    Setter other(*this);
    other.display_ = false;
    return other;
  }

  [[nodiscard]] Box root(const FormulaNode& node) const {
    const Box under = set(node.children[0]);
    const double rule = kRule * em(), room = 0.1 * em();
    const double top = under.ascent + room + rule, bottom = under.descent + 0.04 * em();
    const double tall = top + bottom, sign = 0.5 * em();
    QPainterPath stroke;
    stroke.moveTo(0.02 * em(), bottom - 0.5 * tall + 0.06 * em());
    stroke.lineTo(0.14 * em(), bottom - 0.5 * tall);
    stroke.lineTo(0.28 * em(), bottom - rule);
    stroke.lineTo(sign, -top + rule / 2);
    stroke.lineTo(sign + under.width + 0.1 * em(), -top + rule / 2);
    QPainterPathStroker pen;
    pen.setWidth(rule);
    pen.setJoinStyle(Qt::MiterJoin);
    Box box;
    box.filled = pen.createStroke(stroke);
    box.add(under, {sign + 0.04 * em(), 0});
    box.width = sign + under.width + 0.12 * em();
    box.reach(top + 0.03 * em(), bottom);
    return box;
  }

  /// Adds a bracket as tall as its content.
  void add_bracket(Box& box, QChar sign, const Box& held) const {
    const double tall = held.ascent + held.descent + 0.12 * em();
    QPainterPath glyph;
    glyph.addText(0, 0, font_, sign);
    const QRectF ink = glyph.boundingRect();
    if (ink.height() <= 0) return;
    const double stretch = std::max(1.0, tall / ink.height());
    QTransform transform;
    transform.scale(1, stretch);
    glyph = transform.map(glyph);
    const QRectF stretched = glyph.boundingRect();
    const double middle = (held.descent - held.ascent) / 2;
    glyph.translate(box.width + 0.05 * em() - stretched.left(), middle - stretched.center().y());
    box.filled.addPath(glyph);
    box.width += stretched.width() + 0.1 * em();
    box.reach(-glyph.boundingRect().top(), glyph.boundingRect().bottom());
  }

  [[nodiscard]] Box fence(const FormulaNode& node) const {
    const Box held = set(node.children[0]);
    Box box;
    if (node.text[0] != '.') add_bracket(box, node.text[0], held);
    box.add(held, {box.width, 0});
    box.width += held.width;
    box.reach(held.ascent, held.descent);
    if (node.text[1] != '.') add_bracket(box, node.text[1], held);
    return box;
  }

  QFont font_;
  bool display_;
  double least_ = 0;  // points; 0: no script yet
};

/// The font with its size in points, the unit that the layout scales.
QFont in_points(QFont font) {
  if (font.pointSizeF() <= 0) font.setPointSizeF(QFontInfo(font).pointSizeF());
  return font;
}

}  // namespace

Formula::Formula(const QString& tex, bool display) : tree_(parse_formula(tex)), display_(display) {}

Formula::Extents Formula::extents(const QFont& font) const {
  const Box box = Setter(in_points(font), display_).set(tree_);
  return {box.width, box.ascent, box.descent};
}

void Formula::draw(QPainter& painter, const QPointF& baseline, const QFont& font,
                   const QColor& colour) const {
  const Box box = Setter(in_points(font), display_).set(tree_);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(colour);
  for (const Box::Text& text : box.texts) {
    painter.setFont(text.font);
    painter.drawText(baseline + text.at, text.text);
  }
  painter.fillPath(box.filled.translated(baseline), colour);
  painter.restore();
}

}  // namespace attnscope
