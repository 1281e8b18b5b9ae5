// A page that scrolls under the pointer must not turn the controls on it.
#pragma once

#include <QObject>

namespace attnscope {

/// As a filter of the application's events: the wheel over lists, number fields and sliders scrolls
/// the page they stand on. Only where there is nothing to scroll do they take it, and only while
/// they have the focus, which the wheel does not give them.
class WheelGuard : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace attnscope
