#include "app/panels/frame/of_button.h"

#include <QActionGroup>
#include <QMenu>

#include "analysis/figure/recipe.h"
#include "analysis/matrix/matrix_kind.h"

namespace attnscope {

namespace {

/// Menu text of a term that can be added; empty for none.
QString words_of(Added added) {
  switch (added) {
    case Added::residual:
      return OfButton::tr("with the residual stream");
    case Added::without_convolution:
      return OfButton::tr("without the convolution");
    case Added::convolution:
      return OfButton::tr("only the convolution");
    case Added::none:
      break;
  }
  return {};
}

QString explain_added(Added added) {
  return added == Added::residual
             ? OfButton::tr("For outputs: the residual stream after attention, x + γ ⊙ A v W_O")
             : OfButton::tr(
                   "DAFT-conv's map is the Toeplitz map T of a convolution plus a part that is "
                   "the same for all queries");
}

}  // namespace

OfButton::OfButton(const std::string& figure, QWidget* parent)
    : QToolButton(parent), of_(new QActionGroup(this)), added_(new QActionGroup(this)) {
  auto* const menu = new QMenu(this);
  menu->setToolTipsVisible(true);
  const ParameterDescription& what = find_setting(figure, "of");
  for (const std::string& name : what.choices) {
    QAction* const action = menu->addAction(QString::fromStdString(name));
    action->setObjectName("of_" + QString::fromStdString(name));
    action->setCheckable(true);
    action->setChecked(name == "map");
    of_->addAction(action);
    connect(action, &QAction::toggled, this, [this](bool on) {
      if (on) show_choice();  // one call per exclusive group is enough
    });
  }
  menu->addSeparator();
  centred_ = menu->addAction(tr("without the mean row"));
  centred_->setObjectName("of_centred");
  centred_->setToolTip(tr("X − 1x̄ᵀ: the part that all queries share, sinks too, is subtracted"));
  centred_->setCheckable(true);
  connect(centred_, &QAction::toggled, this, &OfButton::show_choice);
  added_->setExclusionPolicy(QActionGroup::ExclusionPolicy::ExclusiveOptional);
  for (const EnumName<Added>& entry : added_names) {
    if (entry.value == Added::none) continue;
    QAction* const action = menu->addAction(words_of(entry.value));
    action->setObjectName("added_" + QString::fromUtf8(entry.name));
    action->setToolTip(explain_added(entry.value));
    action->setCheckable(true);
    action->setData(static_cast<int>(entry.value));
    action->setEnabled(goes_with(entry.value, MatrixKind::map));
    added_->addAction(action);
    connect(action, &QAction::toggled, this, &OfButton::show_choice);
  }
  setMenu(menu);
  setPopupMode(QToolButton::InstantPopup);
  setProperty("flat", true);
  setProperty("opens", "menu");
  setText(tr("of %1").arg("map"));
  setToolTip(QString::fromStdString(what.explanation));
  setAccessibleName(tr("Analysed matrix"));
}

void OfButton::show_choice() {
  const MatrixKind chosen = of();
  for (QAction* action : added_->actions()) {
    action->setEnabled(goes_with(static_cast<Added>(action->data().toInt()), chosen));
  }
  setText(tr("of %1").arg(QString::fromStdString(short_words(analysed()))));
  emit another_chosen();
}

MatrixKind OfButton::of() const {
  // While a session's settings are restored, no action may be checked for a moment.
  const QAction* const action = of_->checkedAction();
  return action ? matrix_kind_named(action->text().toStdString()) : MatrixKind::map;
}

MatrixChoice OfButton::analysed() const {
  const QAction* const action = added_->checkedAction();
  // A term that does not apply to the chosen matrix is ignored until it does.
  const bool adds = action && action->isEnabled();
  return {.of = of(),
          .centred = centred_->isChecked(),
          .added = adds ? static_cast<Added>(action->data().toInt()) : Added::none};
}

void OfButton::set(ParameterValues& settings) const {
  const MatrixChoice chosen = analysed();
  settings["of"] = std::string(name_of(matrix_kind_names, chosen.of));
  settings["centred"] = chosen.centred;
  settings["added"] = std::string(name_of(added_names, chosen.added));
}

}  // namespace attnscope
