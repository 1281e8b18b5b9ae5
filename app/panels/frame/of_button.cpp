#include "app/panels/frame/of_button.h"

#include <QActionGroup>
#include <QMenu>

#include "analysis/figure/recipe.h"

namespace attnscope {

OfButton::OfButton(QWidget* parent) : QToolButton(parent), of_(new QActionGroup(this)) {
  auto* const menu = new QMenu(this);
  const ParameterDescription& what = find_setting("rank-by-layer", "of");
  for (const std::string& name : what.choices) {
    QAction* const action = menu->addAction(QString::fromStdString(name));
    action->setCheckable(true);
    action->setChecked(name == "map");
    of_->addAction(action);
    connect(action, &QAction::toggled, this, [this, action](bool on) {
      if (!on) return;  // of those that exclude each other one is enough
      setText(tr("of %1").arg(action->text()));
      emit another_chosen();
    });
  }
  setMenu(menu);
  setPopupMode(QToolButton::InstantPopup);
  setProperty("flat", true);
  setText(tr("of %1").arg("map"));
  setToolTip(QString::fromStdString(what.explanation));
  setAccessibleName(tr("Ranks of what"));
}

std::string OfButton::chosen() const {
  // While a session's settings are taken, for a moment none is.
  const QAction* const action = of_->checkedAction();
  return action ? action->text().toStdString() : "map";
}

}  // namespace attnscope
