#include "app/widgets/formula/formula_text.h"

#include <QAbstractTextDocumentLayout>
#include <QFontMetrics>
#include <QFontMetricsF>
#include <QPainter>
#include <QSignalBlocker>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextEdit>
#include <QTextLayout>
#include <algorithm>
#include <cmath>
#include <vector>

#include "app/widgets/formula/formula.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr double kAside = 0.5;  // pixels
constexpr double kLeastSize = 0.5;
// Share of a line's height by which a formula may reach into the lines above and below.
constexpr double kReachUp = 0.05, kReachDown = 0.16;

// An object with AlignMiddle extends this much further above the baseline than below it
// (QTextDocumentLayout::resizeInlineObject).
double half_x(const QFont& font) { return QFontMetrics(font).xHeight() / 2.0; }

// Private-use characters that stand for formulas while Qt reads the Markdown.
constexpr char16_t kMarkInLine = 0xE000, kMarkDisplay = 0xE001, kFirstNumber = 0xE100;

struct MarkedFormula {
  QString tex;
  bool display;
};

/// The length of the run of equal characters that starts at `at`.
qsizetype run_at(const QString& text, qsizetype at) {
  qsizetype end = at;
  while (end < text.size() && text[end] == text[at]) ++end;
  return end - at;
}

/// The Markdown with its formulas replaced by marks; the formulas are appended to `formulas`.
QString marked(const QString& markdown, std::vector<MarkedFormula>& formulas) {
  QString text;
  for (qsizetype at = 0; at < markdown.size();) {
    const QChar sign = markdown[at];
    if (sign == '`') {  // code, up to the next run of as many backticks
      const qsizetype run = run_at(markdown, at);
      const qsizetype end = markdown.indexOf(markdown.mid(at, run), at + run);
      const qsizetype past = end < 0 ? markdown.size() : end + run;
      text += markdown.mid(at, past - at);
      at = past;
    } else if (sign == '\\' && at + 1 < markdown.size() && markdown[at + 1] == '$') {
      text += '$';
      at += 2;
    } else if (sign == '$') {
      const bool display = run_at(markdown, at) > 1;
      const qsizetype begin = at + (display ? 2 : 1);
      const qsizetype end = markdown.indexOf(display ? "$$" : "$", begin);
      if (end < 0) {
        throw Error(ErrorKind::damaged, "a formula is not closed")
            .expected(display ? "$$" : "$")
            .found(markdown.mid(at, 30).toStdString());
      }
      text += QChar(display ? kMarkDisplay : kMarkInLine);
      text += QChar(static_cast<char16_t>(kFirstNumber + formulas.size()));
      formulas.push_back({markdown.mid(begin, end - begin).simplified(), display});
      at = end + (display ? 2 : 1);
    } else {
      text += sign;
      ++at;
    }
  }
  return text;
}

void put(QTextDocument& document, int at, const MarkedFormula& formula) {
  QTextCursor cursor(&document);
  cursor.setPosition(at + 1);  // selects the format of the mark itself
  QTextCharFormat format = cursor.charFormat();
  cursor.setPosition(at);
  cursor.setPosition(at + 2, QTextCursor::KeepAnchor);
  format.setObjectType(FormulaObject::type);
  format.setVerticalAlignment(QTextCharFormat::AlignMiddle);
  format.setProperty(FormulaObject::tex, formula.tex);
  format.setProperty(FormulaObject::display, formula.display);
  format.setProperty(FormulaObject::words, Formula(formula.tex).words());
  cursor.insertText(QString(QChar::ObjectReplacementCharacter), format);
  if (!formula.display) return;
  QTextBlockFormat block = cursor.blockFormat();
  const double line = QFontMetricsF(document.defaultFont()).height();
  block.setLeftMargin(block.leftMargin() + line);
  block.setTopMargin(std::max(block.topMargin(), 0.5 * line));
  block.setBottomMargin(std::max(block.bottomMargin(), 0.7 * line));
  cursor.setBlockFormat(block);
}

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

QSizeF FormulaObject::intrinsicSize(QTextDocument* document, int place, const QTextFormat& format) {
  const QFont font = fitting_font(*document, format);
  const QFont letters = format.toCharFormat().font();
  const double half = half_x(letters);
  const Formula::Extents extents = formula_of(format).extents(font);
  // A line of words is as tall with a formula that hardly leaves it as without: the neighbouring
  // lines have no ink there. Qt knows no height below the baseline that differs from that above.
  const QFontMetricsF line(letters);
  const bool among_words = document->findBlock(place).length() > 2;
  if (among_words && extents.ascent <= line.ascent() + kReachUp * line.height() &&
      extents.descent <= line.descent() + kReachDown * line.height()) {
    return {extents.width + 2 * kAside, 2 * line.descent()};
  }
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

void show_markdown(QTextEdit& view, const QString& markdown) {
  std::vector<MarkedFormula> formulas;
  const QString text = marked(markdown, formulas);
  for (const MarkedFormula& formula : formulas) (void)Formula(formula.tex);  // throws errors now
  QTextDocument& document = *view.document();
  auto* layout = document.documentLayout();
  if (layout->handlerForObject(FormulaObject::type) == nullptr) {
    layout->registerHandler(FormulaObject::type, new FormulaObject(&document));
  }
  // The document's own setter would lay it out while it is read.
  view.setMarkdown(text);
  // Signals are blocked until all formulas are in place: a view that follows the page's size would
  // otherwise lay it out again from within.
  QSignalBlocker quiet(layout);
  const QString shown = document.toRawText();
  for (qsizetype at = shown.size() - 2; at >= 0; --at) {
    if (shown[at] != QChar(kMarkInLine) && shown[at] != QChar(kMarkDisplay)) continue;
    const std::size_t number = shown[at + 1].unicode() - kFirstNumber;
    put(document, static_cast<int>(at), formulas.at(number));
  }
  quiet.unblock();
  emit layout->documentSizeChanged(layout->documentSize());
  emit layout->update();
}

QString plain_words(const QTextDocument& document) {
  QString words;
  for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
    if (!words.isEmpty()) words += '\n';
    for (auto part = block.begin(); !part.atEnd(); ++part) {
      const QTextFragment fragment = part.fragment();
      const QString formula = fragment.charFormat().stringProperty(FormulaObject::words);
      words += formula.isEmpty() ? fragment.text() : formula;
    }
  }
  return words;
}

}  // namespace attnscope
