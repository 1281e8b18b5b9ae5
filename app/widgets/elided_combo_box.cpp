#include "app/widgets/elided_combo_box.h"

#include <QAbstractItemView>
#include <QHelpEvent>
#include <QStyle>
#include <QStyleOptionComboBox>
#include <QToolTip>

namespace attnscope {

ElidedComboBox::ElidedComboBox(int least, QWidget* parent) : QComboBox(parent) {
  setSizeAdjustPolicy(AdjustToContents);
  setMinimumContentsLength(least);
  view()->setTextElideMode(Qt::ElideNone);
}

QString ElidedComboBox::shown_text() const {
  QStyleOptionComboBox option;
  initStyleOption(&option);
  return option.currentText;
}

void ElidedComboBox::initStyleOption(QStyleOptionComboBox* option) const {
  QComboBox::initStyleOption(option);
  const int room =
      style()
          ->subControlRect(QStyle::CC_ComboBox, option, QStyle::SC_ComboBoxEditField, this)
          .width();
  option->currentText = fontMetrics().elidedText(option->currentText, Qt::ElideMiddle, room);
}

bool ElidedComboBox::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || shown_text() == currentText()) {
    return QComboBox::event(event);
  }
  const QString tip = toolTip();
  QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(),
                     tip.isEmpty() ? currentText() : currentText() + "\n" + tip, this);
  return true;
}

}  // namespace attnscope
