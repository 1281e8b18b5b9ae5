// A list to choose from that may be narrower than its entries: the chosen one is shortened with an
// ellipsis, and is whole in the tool tip.
#pragma once

#include <QComboBox>

namespace attnscope {

class ElidedComboBox : public QComboBox {
 public:
  /// Prefers the width of its longest entry, and needs that of `least` letters.
  explicit ElidedComboBox(int least = 8, QWidget* parent = nullptr);
  /// The chosen entry as it is drawn.
  [[nodiscard]] QString shown_text() const;

 protected:
  void initStyleOption(QStyleOptionComboBox* option) const override;
  bool event(QEvent* event) override;
};

}  // namespace attnscope
