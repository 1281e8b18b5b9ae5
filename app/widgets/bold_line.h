// One line of text with bold parts, for numbers that change with every frame.
#pragma once

#include <QLabel>
#include <map>

namespace attnscope {

/// `text` with 0 for every digit. All digits have one width, so that both are equally wide.
[[nodiscard]] QString with_zeros(QString text);

/// A label whose text is "mean rank <b>13.4</b>": "<b>" and "</b>" enclose bold parts, and there is
/// no other markup. QLabel would lay out a document each time that the text changes.
class BoldLine : public QLabel {
  Q_OBJECT
 public:
  explicit BoldLine(QWidget* parent = nullptr);

  /// Width of `text` in pixels, with the margins of this label.
  [[nodiscard]] int width_of(const QString& text) const;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  mutable std::map<QString, int> widths_;  ///< widths by with_zeros() of the text
};

}  // namespace attnscope
