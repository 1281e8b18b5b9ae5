// Where the window is too narrow for its columns beside the atlases, or its letters too large, what
// is opened to be read takes the left one's place, in a small window the right one's too, and gives
// them back, as wide as they were, when it is closed or the window grows.
#pragma once

#include <QHash>
#include <QList>
#include <QObject>
#include <QSize>

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
  /// While it holds, nothing is put away or given back.
  void hold_still(bool still);

  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// One column, and what of it was hidden by us, not by the user.
  struct Side {
    QList<QDockWidget*> docks;
    /// Of the window in pixels at usual letters, so that it stays; and beside what is read.
    int least_width, least_beside;
    QList<QDockWidget*> away = {};
    QList<QDockWidget*> in_front = {};  ///< of those that are tabs
  };
  void arrange();
  void put_away(Side& side);
  static void give_back(Side& side);
  void widen(QDockWidget* dock);
  [[nodiscard]] bool reading() const;
  void begin_reading();
  void end_reading();

  QMainWindow& window_;
  Side left_, right_;
  QList<QDockWidget*> read_;
  QHash<QDockWidget*, QSize> sizes_;   ///< while nothing was read
  QHash<QDockWidget*, QSize> before_;  ///< the same, when what is read now was opened
  bool reading_ = false, still_ = false;
};

}  // namespace attnscope
