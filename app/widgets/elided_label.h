// One line of text that is shortened to fit, with the full text as its tool tip.
#pragma once

#include <QLabel>
#include <optional>

namespace attnscope {

class ElidedLabel : public QLabel {
  Q_OBJECT
 public:
  explicit ElidedLabel(Qt::TextElideMode mode = Qt::ElideMiddle, QWidget* parent = nullptr);
  void set_text(const QString& text);
  /// True: shows nothing if the text does not fit. For text that is also shown elsewhere.
  void set_whole_or_nothing(bool on);
  /// Shown instead of a part of the text where the text does not fit.
  void set_short_text(const QString& text);
  /// Replaces the full text as the tool tip.
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
  QString full_text_, short_text_, tip_;
  mutable std::optional<int> full_width_;  ///< width of full_text_, pixels; empty: unknown
  bool whole_or_nothing_ = false;
};

}  // namespace attnscope
