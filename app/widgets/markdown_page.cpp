#include "app/widgets/markdown_page.h"

#include <QAbstractTextDocumentLayout>
#include <QEvent>
#include <QMimeData>
#include <QResizeEvent>
#include <QTextDocument>
#include <QTextDocumentFragment>
#include <QWheelEvent>

#include "app/widgets/formula/formula_text.h"

namespace attnscope {

namespace {

constexpr int kLeastWidth = 160;  // pixels

}  // namespace

MarkdownPage::MarkdownPage(QWidget* parent) : QTextBrowser(parent) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setOpenLinks(false);
  setFocusPolicy(Qt::ClickFocus);
  viewport()->setAutoFillBackground(false);
  document()->setDocumentMargin(0);
  connect(document()->documentLayout(), &QAbstractTextDocumentLayout::documentSizeChanged, this,
          [this] { fit(); });
}

void MarkdownPage::show_text(const QString& markdown) {
  markdown_ = markdown;
  show_markdown(*this, markdown);
  setAccessibleDescription(plain_words(*document()));
  if (document()->toHtml().contains("<a href")) setFocusPolicy(Qt::StrongFocus);
  fit();
}

QSize MarkdownPage::sizeHint() const { return {4 * kLeastWidth, minimumHeight()}; }
QSize MarkdownPage::minimumSizeHint() const { return {kLeastWidth, minimumHeight()}; }

void MarkdownPage::fit() {
  constexpr double kBelow = 2;  // pixels, for an index in the last line
  const int tall = static_cast<int>(document()->size().height() + kBelow);
  if (tall != height() || tall != minimumHeight()) setFixedHeight(tall);
}

void MarkdownPage::resizeEvent(QResizeEvent* event) {
  QTextBrowser::resizeEvent(event);
  fit();
}

void MarkdownPage::changeEvent(QEvent* event) {
  QTextBrowser::changeEvent(event);
  // Margins around formulas are multiples of the font size; links take the palette's colour when
  // they are read.
  const bool looks = event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange;
  if (looks && !markdown_.isEmpty()) {
    show_markdown(*this, markdown_);
    fit();
  }
}

void MarkdownPage::wheelEvent(QWheelEvent* event) { event->ignore(); }

QMimeData* MarkdownPage::createMimeDataFromSelection() const {
  auto* data = new QMimeData;
  QTextDocument selected;
  QTextCursor(&selected).insertFragment(QTextDocumentFragment(textCursor()));
  data->setText(plain_words(selected));
  return data;
}

}  // namespace attnscope
