#include "app/widgets/formula/formula_object.h"

#include <QFontMetrics>
#include <QPainter>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextLayout>
#include <algorithm>
#include <cmath>

namespace attnscope {

namespace {

constexpr double kAside = 0.5;  // pixels
constexpr double kLeastSize = 0.5;

// An object with AlignMiddle extends this much further above the baseline than below it
// (QTextDocumentLayout::resizeInlineObject).
double half_x(const QFont& font) { return QFontMetrics(font).xHeight() / 2.0; }

}  // namespace

const Formula& FormulaObject::formula_of(const QTextFormat& format) {
  const QString text = format.stringProperty(tex);
  const bool shown = format.boolProperty(display);
  const QString key = (shown ? "$" : "") + text;
  auto found = read_.find(key);
  if (found == read_.end()) found = read_.insert(key, Formula(text, shown));
  return *found;
}

QFont FormulaObject::fitting_font(const QTextDocument& document, const QTextFormat& format) {
  QFont font = format.toCharFormat().font();
  const double line = QFontMetricsF(document.defaultFont()).height();
  const double room = document.textWidth() - line - 2 * document.documentMargin() - 2 * kAside;
  if (document.textWidth() <= 0) return font;
  const double width = formula_of(format).extents(font).width;
  // Lines are whole pixels wide, so the formula is made slightly smaller than an exact fit.
  if (width > room) {
    font.setPointSizeF(font.pointSizeF() * std::max(kLeastSize, 0.98 * room / width));
  }
  return font;
}

QSizeF FormulaObject::intrinsicSize(QTextDocument* document, int, const QTextFormat& format) {
  const QFont font = fitting_font(*document, format);
  const double half = half_x(format.toCharFormat().font());
  const Formula::Extents extents = formula_of(format).extents(font);
  const double tall = std::max(2 * extents.ascent - half, 2 * extents.descent + half);
  return {extents.width + 2 * kAside, std::ceil(tall) + 1};
}

void FormulaObject::drawObject(QPainter* painter, const QRectF& rect, QTextDocument* document,
                               int place, const QTextFormat& format) {
  const QTextCharFormat character = format.toCharFormat();
  const QColor colour = character.foreground().style() == Qt::NoBrush
                            ? painter->pen().color()
                            : character.foreground().color();
  // Objects are centred in their line (QTextLine::draw); letters stand on its baseline.
  const QTextBlock block = document->findBlock(place);
  const QTextLine line = block.layout()->lineForTextPosition(place - block.position());
  const double base = rect.top() - (line.height() - rect.height()) / 2 + line.ascent();
  formula_of(format).draw(*painter, {rect.left() + kAside, base}, fitting_font(*document, format),
                          colour);
}

}  // namespace attnscope
