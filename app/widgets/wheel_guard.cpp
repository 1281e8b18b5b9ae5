#include "app/widgets/wheel_guard.h"

#include <QAbstractScrollArea>
#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QEvent>
#include <QScrollBar>

namespace attnscope {

namespace {

bool is_control(const QObject* object) {
  if (qobject_cast<const QScrollBar*>(object) != nullptr) return false;
  return qobject_cast<const QComboBox*>(object) != nullptr ||
         qobject_cast<const QAbstractSpinBox*>(object) != nullptr ||
         qobject_cast<const QAbstractSlider*>(object) != nullptr;
}

/// The scroll bar of the nearest enclosing page that can scroll; null if none can.
QScrollBar* bar_of_page(QWidget* control) {
  for (QWidget* over = control->parentWidget(); over; over = over->parentWidget()) {
    auto* page = qobject_cast<QAbstractScrollArea*>(over);
    if (page == nullptr) continue;
    QScrollBar* const bar = page->verticalScrollBar();
    if (bar->maximum() > bar->minimum()) return bar;
  }
  return nullptr;
}

}  // namespace

bool WheelGuard::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Polish && is_control(watched)) {
    auto* control = static_cast<QWidget*>(watched);
    if (control->focusPolicy() == Qt::WheelFocus) control->setFocusPolicy(Qt::StrongFocus);
  }
  if (event->type() == QEvent::Wheel && is_control(watched)) {
    auto* control = static_cast<QWidget*>(watched);
    if (QScrollBar* const bar = bar_of_page(control)) {
      QCoreApplication::sendEvent(bar, event);
      return true;
    }
    if (!control->hasFocus()) {
      event->ignore();
      return true;
    }
  }
  return QObject::eventFilter(watched, event);
}

}  // namespace attnscope
