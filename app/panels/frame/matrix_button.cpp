#include "app/panels/frame/matrix_button.h"

#include <QActionGroup>
#include <QMenu>
#include <string>

#include "analysis/matrix/matrix_kind.h"
#include "app/session/session.h"

namespace attnscope {

namespace {

QString title_of(MatrixKind of) {
  switch (of) {
    case MatrixKind::map:
      return MatrixButton::tr("attention map");
    case MatrixKind::scores:
      return MatrixButton::tr("scores");
    case MatrixKind::log_map:
      return MatrixButton::tr("ln A");
    case MatrixKind::seen_by_values:
      return MatrixButton::tr("map seen by values");
    case MatrixKind::value_weighted:
      return MatrixButton::tr("map × ‖v‖");
    case MatrixKind::norm_weighted:
      return MatrixButton::tr("map × ‖v W_O‖");
    case MatrixKind::head_output:
      return MatrixButton::tr("output of heads");
    case MatrixKind::output:
      return MatrixButton::tr("output of layers");
    case MatrixKind::values:
      return MatrixButton::tr("values");
    case MatrixKind::queries:
      return MatrixButton::tr("queries");
    case MatrixKind::keys:
      return MatrixButton::tr("keys");
    case MatrixKind::queries_before_rotary:
      return MatrixButton::tr("queries before rotation");
    case MatrixKind::keys_before_rotary:
      return MatrixButton::tr("keys before rotation");
    case MatrixKind::tokens:
      return MatrixButton::tr("tokens");
    case MatrixKind::token_updates:
      return MatrixButton::tr("token updates");
  }
  return {};
}

/// Menu text of a term that can be added; empty for none.
QString title_of(Added added) {
  switch (added) {
    case Added::residual:
      return MatrixButton::tr("with the residual stream");
    case Added::without_convolution:
      return MatrixButton::tr("without the convolution");
    case Added::convolution:
      return MatrixButton::tr("only the convolution");
    case Added::none:
      break;
  }
  return {};
}

QString explain(Added added) {
  return added == Added::residual
             ? MatrixButton::tr("For outputs: the residual stream after attention, x + γ ⊙ A v W_O")
             : MatrixButton::tr(
                   "DAFT-conv's map is the Toeplitz map T of a convolution plus a part that is "
                   "the same for all queries");
}

QString capitalised(const QString& text) { return text.left(1).toUpper() + text.mid(1); }

}  // namespace

MatrixButton::MatrixButton(Session& session, QWidget* parent)
    : QToolButton(parent),
      session_(session),
      of_(new QActionGroup(this)),
      added_(new QActionGroup(this)) {
  setObjectName("matrix");
  setAccessibleName(tr("Analysed matrix"));
  setPopupMode(QToolButton::InstantPopup);
  setFocusPolicy(Qt::TabFocus);
  setProperty("opens", "menu");
  auto* const menu = new QMenu(this);
  menu->setToolTipsVisible(true);
  setMenu(menu);
  const auto add = [&](const QString& name, const QString& text, const QString& tip) {
    QAction* const action = menu->addAction(capitalised(text), this, &MatrixButton::choose);
    action->setObjectName(name);
    action->setToolTip(capitalised(tip));
    action->setCheckable(true);
    return action;
  };
  for (const EnumName<MatrixKind>& entry : matrix_kind_names) {
    QAction* const action =
        add(QString("matrix_%1").arg(QString::fromUtf8(entry.name)), title_of(entry.value),
            QString::fromStdString(in_words(MatrixChoice{.of = entry.value})));
    action->setData(static_cast<int>(entry.value));
    of_->addAction(action);
  }
  menu->addSeparator();
  centred_ = add("matrix_centred", tr("without the mean row"),
                 tr("X − 1x̄ᵀ: the part that all queries share, sinks too, is subtracted"));
  added_->setExclusionPolicy(QActionGroup::ExclusionPolicy::ExclusiveOptional);
  for (const EnumName<Added>& entry : added_names) {
    if (entry.value == Added::none) continue;
    QAction* const action = add(QString("matrix_%1").arg(QString::fromUtf8(entry.name)),
                                title_of(entry.value), explain(entry.value));
    action->setData(static_cast<int>(entry.value));
    added_->addAction(action);
  }
  connect(&session_, &Session::view_changed, this, &MatrixButton::refresh);
  refresh();
}

void MatrixButton::set_short(bool is_short) {
  if (is_short == is_short_) return;
  is_short_ = is_short;
  refresh();
}

/// Takes over what is checked. A term that does not go with the chosen matrix is dropped.
void MatrixButton::choose() {
  MatrixChoice chosen;
  if (const QAction* const of = of_->checkedAction()) {
    chosen.of = static_cast<MatrixKind>(of->data().toInt());
  }
  chosen.centred = centred_->isChecked();
  if (const QAction* const term = added_->checkedAction()) {
    const auto added = static_cast<Added>(term->data().toInt());
    if (goes_with(added, chosen.of)) chosen.added = added;
  }
  ViewSettings view = session_.view();
  view.matrix = chosen;
  session_.set_view(view);
  refresh();
}

void MatrixButton::refresh() {
  const MatrixChoice& matrix = session_.view().matrix;
  for (QAction* action : of_->actions()) {
    action->setChecked(action->data().toInt() == static_cast<int>(matrix.of));
  }
  centred_->setChecked(matrix.centred);
  for (QAction* action : added_->actions()) {
    const auto added = static_cast<Added>(action->data().toInt());
    action->setEnabled(goes_with(added, matrix.of));
    action->setChecked(added == matrix.added);
  }
  QString text = title_of(matrix.of);
  if (matrix.added != Added::none) text += ", " + title_of(matrix.added);
  if (matrix.centred) text += tr(", centred");
  setText(is_short_ ? QString::fromStdString(short_words(matrix)) : tr("Analyse: %1").arg(text));
  setToolTip(tr("Spectra, ranks, components and comparisons are of: %1")
                 .arg(QString::fromStdString(in_words(matrix))));
}

}  // namespace attnscope
