// A page that scrolls under the pointer must not turn the controls on it.
#pragma once

#include <QObject>

namespace attnscope {

/// As a filter of the application's events: lists, number fields and sliders take the wheel only
/// while they have the focus, which the wheel does not give them; else the page scrolls.
class WheelGuard : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace attnscope
