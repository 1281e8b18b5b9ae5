// Where the window is too narrow for its columns beside the atlases, what is opened to be read
// takes the left one's place, in a small window the right one's too, and gives them back when it is
// closed or the window grows.
#pragma once

#include <QList>
#include <QObject>

class QDockWidget;
class QMainWindow;

namespace attnscope {

class SideRoom : public QObject {
  Q_OBJECT
 public:
  /// `left`, `right`: the docks that give way; `read`: those they give way to.
  SideRoom(QMainWindow& window, QList<QDockWidget*> left, QList<QDockWidget*> right,
           QList<QDockWidget*> read);

  /// Shows what gave way, as before a layout is remembered.
  void give_back();

  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// One column, and what of it was hidden by us, not by the user.
  struct Side {
    QList<QDockWidget*> docks;
    int least_width;  ///< of the window in pixels, so that it stays
    QList<QDockWidget*> away = {};
    QList<QDockWidget*> in_front = {};  ///< of those that are tabs
  };
  void arrange();
  void put_away(Side& side);
  static void give_back(Side& side);
  void widen(QDockWidget* dock);

  QMainWindow& window_;
  Side left_, right_;
  QList<QDockWidget*> read_;
};

}  // namespace attnscope
