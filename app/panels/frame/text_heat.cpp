#include "app/panels/frame/text_heat.h"

#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextLayout>
#include <algorithm>

#include "analysis/figure/colour_map.h"
#include "app/look/theme.h"
#include "core/attention/token_layout.h"

namespace attnscope {

namespace {

/// The token as shown: a space stays a space, and a newline also ends the line.
QString shown_token(const std::string& token) {
  QString text = QString::fromStdString(visible_text(token));
  text.replace("␣", " ");
  if (!token.empty() && token.back() == '\n') text += '\n';
  return text;
}

QColor qt(const Colour& colour) { return {colour.red, colour.green, colour.blue}; }

}  // namespace

TextHeat::TextHeat(QWidget* parent) : QTextEdit(parent) {
  setReadOnly(true);
  setUndoRedoEnabled(false);
  setMouseTracking(true);
  viewport()->setMouseTracking(true);
  setLineWrapMode(QTextEdit::WidgetWidth);
  setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  QFont mono = number_font(font());
  setFont(mono);
  document()->setDocumentMargin(4);
}

void TextHeat::set_texts(const std::vector<std::string>& texts) {
  if (texts == texts_ && !starts_.empty()) return;
  texts_ = texts;
  starts_.clear();
  QString whole;
  for (const std::string& token : texts_) {
    starts_.push_back(static_cast<int>(whole.size()));
    whole += shown_token(token);
  }
  starts_.push_back(static_cast<int>(whole.size()));
  setPlainText(whole);
}

void TextHeat::set_weights(const std::vector<double>& weights, const ColourScale& scale,
                           std::int64_t end, std::optional<std::int64_t> marked) {
  weights_ = weights;
  scale_ = scale;
  marked_ = marked;
  colour();
  if (end != end_) show_token(end_ = end);
}

void TextHeat::set_grounds(const std::vector<QColor>& grounds) {
  grounds_ = grounds;
  weights_.clear();
  end_ = -1;
  marked_.reset();
  colour();
}

std::optional<std::pair<std::int64_t, std::int64_t>> TextHeat::selected_tokens() const {
  const QTextCursor cursor = textCursor();
  if (!cursor.hasSelection() || texts_.empty()) return {};
  const auto token_of = [this](int character) {
    const auto after = std::upper_bound(starts_.begin(), starts_.end() - 1, character);
    return static_cast<std::int64_t>(after - starts_.begin() - 1);
  };
  return std::pair(token_of(cursor.selectionStart()), token_of(cursor.selectionEnd() - 1));
}

void TextHeat::show_token(std::int64_t token) {
  const QRect place = place_of(token);
  if (place.isEmpty()) return;
  QScrollBar& bar = *verticalScrollBar();
  const int below = place.bottom() + place.height() - viewport()->height();
  const int above = place.top() - place.height();
  if (below > 0) {
    bar.setValue(bar.value() + below);
  } else if (above < 0) {
    bar.setValue(bar.value() + above);
  }
}

void TextHeat::resizeEvent(QResizeEvent* event) {
  QTextEdit::resizeEvent(event);
  show_token(end_);
}

void TextHeat::colour() {
  const ScaleColours heat(scale_);
  QList<QTextEdit::ExtraSelection> spans;
  const std::size_t count = std::min(weights_.size(), texts_.size());
  for (std::size_t token = 0; token < count; ++token) {
    ExtraSelection span;
    span.cursor = QTextCursor(document());
    span.cursor.setPosition(starts_[token]);
    span.cursor.setPosition(starts_[token + 1], QTextCursor::KeepAnchor);
    if (const auto fraction = fraction_of(scale_, weights_[token])) {
      const Colour ground = heat(*fraction);
      span.format.setBackground(qt(ground));
      span.format.setForeground(qt(legible_on(ground)));
    } else {
      span.format.setForeground(colours_of(*this).muted);
    }
    spans.push_back(span);
  }
  // Successive tokens of one colour are one span, because translucent spans overlap at their edges.
  const std::size_t grounds = std::min(grounds_.size(), texts_.size());
  for (std::size_t token = 0, next = 0; token < grounds; token = next) {
    next = token + 1;
    while (next < grounds && grounds_[next] == grounds_[token]) ++next;
    if (!grounds_[token].isValid()) continue;
    ExtraSelection span;
    span.cursor = QTextCursor(document());
    span.cursor.setPosition(starts_[token]);
    span.cursor.setPosition(starts_[next], QTextCursor::KeepAnchor);
    span.format.setBackground(grounds_[token]);
    spans.push_back(span);
  }
  setExtraSelections(spans);
  viewport()->update();
}

QRect TextHeat::place_of(std::int64_t token) const {
  if (token < 0 || token + 1 >= std::ssize(starts_)) return {};
  const auto index = static_cast<std::size_t>(token);
  QTextCursor cursor(document());
  cursor.setPosition(starts_[index]);
  const QRect first = cursorRect(cursor);
  cursor.setPosition(starts_[index + 1]);
  const QRect last = cursorRect(cursor);
  // At the end of a line the next token begins on the line below.
  const int right = last.top() == first.top()
                        ? last.left()
                        : first.left() + fontMetrics().horizontalAdvance(QLatin1Char('m'));
  return {first.left(), first.top(), std::max(right - first.left(), 3), first.height()};
}

std::optional<std::int64_t> TextHeat::token_at(const QPoint& place) const {
  if (texts_.empty()) return {};
  const QPoint inside(place.x() + horizontalScrollBar()->value(),
                      place.y() + verticalScrollBar()->value());
  const int character = document()->documentLayout()->hitTest(inside, Qt::ExactHit);
  if (character < 0) return {};
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), character);
  const auto token = after - starts_.begin() - 1;
  if (token < 0 || token >= std::ssize(texts_)) return {};
  return token;
}

void TextHeat::paintEvent(QPaintEvent* event) {
  QTextEdit::paintEvent(event);
  QPainter painter(viewport());
  const auto frame = [&](std::int64_t token, Qt::PenStyle style) {
    const QRect place = place_of(token).adjusted(0, 0, -1, -1);
    if (place.isEmpty()) return;
    painter.setPen(QPen(Qt::black, 3, style));
    painter.drawRect(place);
    painter.setPen(QPen(Qt::white, 1, style));
    painter.drawRect(place);
  };
  if (marked_ && *marked_ != end_) frame(*marked_, Qt::DotLine);
  frame(end_, Qt::SolidLine);
}

void TextHeat::mouseReleaseEvent(QMouseEvent* event) {
  QTextEdit::mouseReleaseEvent(event);
  // A drag selects text; a click chooses a token.
  if (event->button() != Qt::LeftButton || textCursor().hasSelection()) return;
  if (const auto token = token_at(event->pos())) emit clicked(*token);
}

void TextHeat::mouseMoveEvent(QMouseEvent* event) {
  QTextEdit::mouseMoveEvent(event);
  const auto token = token_at(event->pos());
  if (token && (event->buttons() & Qt::RightButton)) emit clicked(*token);
  emit hovered(token);
}

void TextHeat::leaveEvent(QEvent* event) {
  QTextEdit::leaveEvent(event);
  emit hovered(std::nullopt);
}

void TextHeat::changeEvent(QEvent* event) {
  QTextEdit::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) colour();
}

}  // namespace attnscope
