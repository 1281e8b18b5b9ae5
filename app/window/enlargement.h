// Shows one panel or one subject's atlas alone in the window, then restores the former layout.
#pragma once

#include <QByteArray>
#include <QObject>

class QDockWidget;
class QMainWindow;

namespace attnscope {

class AtlasArea;
class PanelDocks;

class Enlargement : public QObject {
  Q_OBJECT
 public:
  /// `atlases` are in the window's central widget, next to the docks.
  Enlargement(QMainWindow& window, PanelDocks& docks, AtlasArea& atlases);

  /// Enlarges the panel with the keyboard focus, otherwise the selected subject's atlas; restores
  /// the layout if something is enlarged.
  void toggle();
  void toggle_panel(QDockWidget& dock);
  void toggle_atlas();
  /// Restores the layout; false if nothing was enlarged.
  bool leave();
  [[nodiscard]] bool is_on() const { return !before_.isEmpty(); }

 private:
  void begin();

  QMainWindow& window_;
  PanelDocks& docks_;
  AtlasArea& atlases_;
  QByteArray before_;  // the former layout of the docks; empty if nothing is enlarged
  bool were_still_ = false;
};

}  // namespace attnscope
