// Commands of the window with names, keys and menus: a single list for menus, shortcuts and the
// list of keys.
#pragma once

#include <QAction>
#include <QColor>
#include <QDialog>
#include <QKeySequence>
#include <QList>
#include <QPair>
#include <QString>
#include <functional>

#include "app/window/palette_dialog.h"

class QMenuBar;
class QWidget;

namespace attnscope {

struct Command {
  QString id;    ///< "fit"
  QString menu;  ///< "View"; empty: in no menu
  QString text;
  QList<QKeySequence> keys;
  QString icon;  ///< name in assets/icons; may be empty
  std::function<void()> run;
  bool separator_before = false;
  QString submenu = {};  ///< "Panels": a menu in `menu`; empty: `menu` itself
  bool in_menu = true;   ///< false: only a shortcut and the palette, which names the menu
};

/// Actions for a list of commands, in menus of `bar`, with shortcuts active in `window`.
class Commands {
 public:
  Commands(const QList<Command>& commands, QMenuBar& bar, QWidget& window);
  [[nodiscard]] QAction* action(const QString& id) const;
  /// The menu of that name in the bar; null if there is none.
  [[nodiscard]] QMenu* menu(const QString& name) const;
  /// Gives all icons this colour.
  void tint(const QColor& colour);
  /// The enabled commands, for the command palette.
  [[nodiscard]] QList<PaletteEntry> entries() const;
  /// Pairs for the list of keys: "Fit all maps", "F".
  [[nodiscard]] QList<QPair<QString, QString>> keys() const;

 private:
  [[nodiscard]] QMenu* made_menu(const Command& command, QMenuBar& bar);

  QList<Command> commands_;
  QList<QAction*> actions_;
  QList<QPair<QString, QMenu*>> menus_;
};

/// The list of keyboard shortcuts.
class KeysDialog : public QDialog {
  Q_OBJECT
 public:
  /// `keys`: pairs of an action and its key.
  KeysDialog(const QList<QPair<QString, QString>>& keys, QWidget* parent = nullptr);
};

}  // namespace attnscope
