// Every command of the window: its name, its key, its place in the menus. One list for menus, keys
// and the list of keys.
#pragma once

#include <QAction>
#include <QColor>
#include <QKeySequence>
#include <QList>
#include <QString>
#include <functional>

#include "app/window/palette_dialog.h"

class QMenuBar;
class QWidget;

namespace attnscope {

struct Command {
  QString id;    ///< "fit"
  QString menu;  ///< "View"; empty: no menu
  QString text;
  QList<QKeySequence> keys;
  QString icon;  ///< of assets/icons; may be empty
  std::function<void()> run;
  bool separator_before = false;
};

/// The actions of a list of commands, in menus of `bar`, with their keys alive in `window`.
class Commands {
 public:
  Commands(const QList<Command>& commands, QMenuBar& bar, QWidget& window);
  [[nodiscard]] QAction* action(const QString& id) const;
  [[nodiscard]] QMenu* menu(const QString& name) const;
  /// Icons in this colour.
  void tint(const QColor& colour);
  /// Each enabled command, for the palette.
  [[nodiscard]] QList<PaletteEntry> entries() const;
  /// "Fit all maps", "F": what the list of keys shows.
  [[nodiscard]] QList<QPair<QString, QString>> keys() const;

 private:
  QList<Command> commands_;
  QList<QAction*> actions_;
  QList<QPair<QString, QMenu*>> menus_;
};

}  // namespace attnscope
