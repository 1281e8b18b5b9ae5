#include "tests/app/support/cut_text.h"

#include <QAbstractButton>
#include <QLabel>
#include <QTextDocument>
#include <QTextEdit>

namespace attnscope {

namespace {

QString said(const QWidget& widget, const QString& words) {
  return QString("%1×%2: %3").arg(widget.width()).arg(widget.height()).arg(words.left(80));
}

bool is_cut(const QLabel& label) {
  if (label.wordWrap()) return label.heightForWidth(label.width()) > label.height();
  return label.sizeHint().width() > label.width() || label.sizeHint().height() > label.height();
}

bool is_cut(const QTextEdit& text) {
  const QTextDocument& document = *text.document();
  return document.size().height() > text.viewport()->height() ||
         document.idealWidth() > text.viewport()->width();
}

}  // namespace

QStringList cut_texts(const QWidget& page) {
  QStringList cut;
  for (const QWidget* widget : page.findChildren<QWidget*>()) {
    if (!widget->isVisibleTo(&page)) continue;
    if (const auto* label = qobject_cast<const QLabel*>(widget)) {
      if (!label->text().isEmpty() && is_cut(*label)) cut << said(*label, label->text());
    } else if (const auto* text = qobject_cast<const QTextEdit*>(widget)) {
      if (is_cut(*text)) cut << said(*text, text->toPlainText());
    } else if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) {
      if (button->minimumSizeHint().width() > button->width() ||
          button->fontMetrics().height() > button->height()) {
        cut << said(*button, button->text());
      }
    }
    // The part of a widget beyond the right edge of the page is not visible.
    const int right = widget->mapTo(&page, QPoint(widget->width(), 0)).x();
    if (right > page.width()) cut << said(*widget, widget->objectName() + " over the edge");
  }
  return cut;
}

}  // namespace attnscope
