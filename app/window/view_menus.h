// Menus of the view's settings: which number is on the maps and whether they are sorted by it, the
// colours, the identity mapping. The chosen one is marked.
#pragma once

#include <QList>
#include <QObject>
#include <QString>
#include <functional>

#include "app/window/palette_dialog.h"

class QAction;
class QMenu;
class QWidget;

namespace attnscope {

class Session;
struct ViewSettings;

class ViewMenus : public QObject {
  Q_OBJECT
 public:
  /// Adds the menus to `view`, which owns them.
  ViewMenus(Session& session, QMenu& view);

  [[nodiscard]] QMenu& numbers() { return *numbers_; }
  [[nodiscard]] QMenu& colours() { return *colours_; }
  /// Every choice, for the command palette.
  [[nodiscard]] QList<PaletteEntry> entries() const;

 private:
  using Change = std::function<void(ViewSettings&)>;
  using Test = std::function<bool(const ViewSettings&)>;
  /// A menu item that makes `change`, marked while `is_set` holds.
  struct Item {
    QAction* action;
    Test is_set;
  };
  QAction* add(QMenu& menu, const QString& name, const QString& text, const Test& is_set,
               const Change& change);
  void add_numbers();
  void add_colours();
  void add_identity(QMenu& menu);
  void refresh();

  Session& session_;
  QMenu* numbers_;
  QMenu* colours_;
  QList<Item> items_;
};

/// Opens `menu`, which must outlive the widget, at each click on the widget.
void open_on_click(QWidget& widget, QMenu& menu);

}  // namespace attnscope
