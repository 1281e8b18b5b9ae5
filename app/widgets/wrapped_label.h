// A text of several lines that is never cut: its minimum height is that of the text at its width.
#pragma once

#include <QLabel>
#include <QResizeEvent>

namespace attnscope {

/// A QLabel with word wrap alone needs a line or two at least, so that layouts that have too little
/// space cut its text.
class WrappedLabel : public QLabel {
 public:
  explicit WrappedLabel(const QString& text = {}, QWidget* parent = nullptr)
      : QLabel(text, parent) {
    setWordWrap(true);
  }

  [[nodiscard]] QSize minimumSizeHint() const override {
    const QSize least = QLabel::minimumSizeHint();
    // Until it is placed, its width says nothing.
    return {least.width(), isVisible() ? heightForWidth(width()) : least.height()};
  }

 protected:
  void resizeEvent(QResizeEvent* event) override {
    QLabel::resizeEvent(event);
    if (event->oldSize().width() != width()) updateGeometry();
  }
};

}  // namespace attnscope
