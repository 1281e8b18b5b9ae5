// Draws a ring around the widget that received the keyboard focus by key, whatever its type or
// style. A click shows no ring.
#pragma once

#include <QObject>
#include <QPointer>

class QWidget;

namespace attnscope {

/// Covers all windows of the program during its lifetime.
class FocusRing : public QObject {
  Q_OBJECT
 public:
  explicit FocusRing(QObject* parent = nullptr);
  ~FocusRing() override;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void surround(QWidget* widget);

  QPointer<QWidget> ring_;  ///< a child of the widget that it surrounds
};

}  // namespace attnscope
