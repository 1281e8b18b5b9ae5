// Hides side docks when the window is too narrow for them, or its font too large: first the left
// ones, then the right ones, and both earlier while a dock for reading is open. They reappear with
// their former widths when the window grows or the reading dock closes.
#pragma once

#include <QHash>
#include <QList>
#include <QObject>
#include <QSize>

class QDockWidget;
class QMainWindow;

namespace attnscope {

class SideLayout : public QObject {
  Q_OBJECT
 public:
  /// `left`, `right`: the docks that may be hidden; `read`: the reading docks that replace them.
  SideLayout(QMainWindow& window, QList<QDockWidget*> left, QList<QDockWidget*> right,
             QList<QDockWidget*> read);

  /// Shows the hidden docks, as before a layout is stored.
  void restore();
  /// While `still`, no docks are hidden or shown automatically.
  void hold_still(bool still);

  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// One column, and its docks hidden by this class instead of the user.
  struct Side {
    QList<QDockWidget*> docks;
    /// Minimum window widths at the default font size for the column to stay: without a reading
    /// dock, and with one.
    int least_width, least_beside;
    QList<QDockWidget*> away = {};
    QList<QDockWidget*> in_front = {};  ///< the front docks among tabs
  };
  void arrange();
  void put_away(Side& side);
  static void restore(Side& side);
  void widen(QDockWidget* dock);
  [[nodiscard]] bool reading() const;
  void begin_reading();
  void end_reading();

  QMainWindow& window_;
  Side left_, right_;
  QList<QDockWidget*> read_;
  QHash<QDockWidget*, QSize> sizes_;   ///< sizes while no reading dock was open
  QHash<QDockWidget*, QSize> before_;  ///< sizes when the present reading dock was opened
  bool reading_ = false, still_ = false;
};

}  // namespace attnscope
