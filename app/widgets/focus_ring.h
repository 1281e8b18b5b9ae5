// Shows which widget has the keys: a ring around what they have reached, whatever it is and however
// it is drawn. After a click it is not needed.
#pragma once

#include <QObject>
#include <QPointer>

class QWidget;

namespace attnscope {

/// Of all windows of the program, while it lives.
class FocusRing : public QObject {
  Q_OBJECT
 public:
  explicit FocusRing(QObject* parent = nullptr);
  ~FocusRing() override;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void surround(QWidget* widget);

  QPointer<QWidget> ring_;  ///< a child of what it surrounds
};

}  // namespace attnscope
