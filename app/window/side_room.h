// Where the window is too narrow for three columns beside the atlases, what is opened to be read
// takes the left one's place, and gives it back when it is closed or the window grows.
#pragma once

#include <QList>
#include <QObject>

class QDockWidget;
class QMainWindow;

namespace attnscope {

class SideRoom : public QObject {
  Q_OBJECT
 public:
  /// `left`: the docks that give way; `read`: those they give way to.
  SideRoom(QMainWindow& window, QList<QDockWidget*> left, QList<QDockWidget*> read);

  /// Shows what gave way, as before a layout is remembered.
  void give_back();

  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void arrange();
  void widen(QDockWidget* dock);

  QMainWindow& window_;
  QList<QDockWidget*> left_, read_;
  QList<QDockWidget*> away_;  // of left_: hidden by us, not by the user
};

}  // namespace attnscope
