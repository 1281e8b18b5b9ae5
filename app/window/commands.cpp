#include "app/window/commands.h"

#include <QGridLayout>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QStringList>
#include <QWidget>

#include "app/look/theme.h"

namespace attnscope {

KeysDialog::KeysDialog(const QList<QPair<QString, QString>>& keys, QWidget* parent)
    : QDialog(parent) {
  setWindowTitle(tr("Keys"));
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(24, 20, 24, 20);
  grid->setHorizontalSpacing(14);
  grid->setVerticalSpacing(7);
  const int rows = static_cast<int>((keys.size() + 1) / 2);
  for (int i = 0; i < keys.size(); ++i) {
    auto* key = new QLabel(keys[i].second);
    key->setFont(number_font(font()));
    key->setObjectName("key");
    key->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    auto* what = new QLabel(keys[i].first);
    const int column = i / rows * 3;
    grid->addWidget(key, i % rows, column);
    grid->addWidget(what, i % rows, column + 1);
  }
  grid->setColumnMinimumWidth(2, 20);
}

Commands::Commands(const QList<Command>& commands, QMenuBar& bar, QWidget& window)
    : commands_(commands) {
  for (const Command& command : commands_) {
    auto* action = new QAction(command.text, &window);
    action->setShortcuts(command.keys);
    action->setObjectName(command.id);
    if (!command.keys.isEmpty()) {
      action->setToolTip(QString(command.text).remove('&').remove("…") + " (" +
                         command.keys.front().toString(QKeySequence::NativeText) + ")");
    }
    QObject::connect(action, &QAction::triggered, &window, command.run);
    window.addAction(action);
    actions_.push_back(action);
    if (command.menu.isEmpty() || !command.in_menu) continue;
    QMenu* const menu = made_menu(command, bar);
    if (command.separator_before) menu->addSeparator();
    menu->addAction(action);
  }
}

QMenu* Commands::made_menu(const Command& command, QMenuBar& bar) {
  QMenu* menu = this->menu(command.menu);
  if (!menu) {
    menu = bar.addMenu(command.menu);
    menus_.push_back({command.menu, menu});
  }
  if (command.submenu.isEmpty()) return menu;
  const QString path = command.menu + "/" + command.submenu;
  QMenu* inner = this->menu(path);
  if (!inner) {
    inner = menu->addMenu(command.submenu);
    menus_.push_back({path, inner});
  }
  return inner;
}

QAction* Commands::action(const QString& id) const {
  for (QAction* action : actions_) {
    if (action->objectName() == id) return action;
  }
  return nullptr;
}

QMenu* Commands::menu(const QString& name) const {
  for (const auto& [known, menu] : menus_) {
    if (known == name) return menu;
  }
  return nullptr;
}

void Commands::tint(const QColor& colour) {
  for (qsizetype i = 0; i < commands_.size(); ++i) {
    if (!commands_[i].icon.isEmpty()) {
      actions_[i]->setIcon(tinted_icon(commands_[i].icon, colour));
      actions_[i]->setIconVisibleInMenu(false);
    }
  }
}

QList<PaletteEntry> Commands::entries() const {
  QList<PaletteEntry> entries;
  for (qsizetype i = 0; i < commands_.size(); ++i) {
    QAction* const action = actions_[i];
    if (!action->isEnabled() || commands_[i].id == "palette") continue;
    entries.push_back(
        {action->text().remove('&').remove("…"),
         QString(commands_[i].submenu.isEmpty() ? commands_[i].menu : commands_[i].submenu)
             .remove('&'),
         action->shortcut().toString(QKeySequence::NativeText), [action] { action->trigger(); }});
  }
  return entries;
}

QList<QPair<QString, QString>> Commands::keys() const {
  QList<QPair<QString, QString>> keys;
  for (const Command& command : commands_) {
    QStringList shown;
    for (const QKeySequence& key : command.keys) {
      shown << key.toString(QKeySequence::NativeText);
    }
    if (!shown.isEmpty()) {
      keys.push_back({QString(command.text).remove('&').remove("…"), shown.join(", ")});
    }
  }
  return keys;
}

}  // namespace attnscope
