// One line of text that is shortened to fit, with the whole of it as a tool tip.
#pragma once

#include <QLabel>

namespace attnscope {

class ElidedLabel : public QLabel {
  Q_OBJECT
 public:
  explicit ElidedLabel(Qt::TextElideMode mode = Qt::ElideMiddle, QWidget* parent = nullptr);
  void set_text(const QString& text);
  /// Whether it shows nothing where it cannot show all: what it says stands elsewhere, too.
  void set_whole_or_nothing(bool on);
  /// A tool tip of its own, in place of the whole text.
  void set_tip(const QString& tip);
  [[nodiscard]] const QString& full_text() const { return full_text_; }
  [[nodiscard]] QSize minimumSizeHint() const override;
  [[nodiscard]] QSize sizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void elide();

  Qt::TextElideMode mode_;
  QString full_text_, tip_;
  bool whole_or_nothing_ = false;
};

}  // namespace attnscope
