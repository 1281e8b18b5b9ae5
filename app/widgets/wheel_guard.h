// Prevents scrolling a page from changing the controls under the pointer.
#pragma once

#include <QObject>

namespace attnscope {

/// Event filter of the application: the wheel over lists, number fields and sliders scrolls the
/// page that contains them. Where no page can scroll, the control takes the wheel if it has the
/// focus; the wheel itself never sets the focus.
class WheelGuard : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace attnscope
