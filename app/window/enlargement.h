// One panel, or one subject's atlas, alone in the window; then everything back as it was.
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
  /// `atlases` stand in the window's central widget, beside the docks.
  Enlargement(QMainWindow& window, PanelDocks& docks, AtlasArea& atlases);

  /// The panel that has the keys, else the selected subject's atlas; or everything back.
  void toggle();
  void toggle_panel(QDockWidget& dock);
  void toggle_atlas();
  /// Everything back; false if nothing was enlarged.
  bool give_back();
  [[nodiscard]] bool is_on() const { return !before_.isEmpty(); }

 private:
  void begin();

  QMainWindow& window_;
  PanelDocks& docks_;
  AtlasArea& atlases_;
  QByteArray before_;  // the docks' places; empty: nothing is enlarged
};

}  // namespace attnscope
