#include "app/widgets/segments.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QMenu>
#include <QStackedLayout>
#include <QToolButton>
#include <algorithm>

namespace attnscope {

Segments::Segments(QWidget* parent)
    : QWidget(parent),
      row_(new QWidget),
      folded_(new QToolButton),
      stack_(new QStackedLayout(this)) {
  auto* const row = new QHBoxLayout(row_);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  folded_->setObjectName("segments_menu");
  folded_->setProperty("opens", "menu");
  folded_->setPopupMode(QToolButton::InstantPopup);
  folded_->setFocusPolicy(Qt::TabFocus);
  auto* const menu = new QMenu(folded_);
  folded_->setMenu(menu);
  connect(menu, &QMenu::aboutToShow, this, &Segments::fill_menu);
  stack_->addWidget(row_);
  stack_->addWidget(folded_);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void Segments::add(QToolButton* button) {
  buttons_ << button;
  row_->layout()->addWidget(button);
  connect(button, &QToolButton::toggled, this, &Segments::name_chosen);
  name_chosen();
}

QSize Segments::sizeHint() const { return row_->sizeHint(); }

QSize Segments::minimumSizeHint() const {
  return {std::min(folded_->sizeHint().width(), row_->sizeHint().width()),
          row_->minimumSizeHint().height()};
}

void Segments::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fold();
}

bool Segments::event(QEvent* event) {
  // A button was shown or hidden, or the letters have another size.
  if (event->type() == QEvent::LayoutRequest) {
    fold();
    updateGeometry();
  }
  return QWidget::event(event);
}

void Segments::fold() {
  stack_->setCurrentWidget(width() < row_->sizeHint().width() ? static_cast<QWidget*>(folded_)
                                                              : row_);
}

void Segments::fill_menu() {
  QMenu* const menu = folded_->menu();
  menu->clear();
  for (QToolButton* button : buttons_) {
    if (button->isHidden()) continue;
    QAction* const action = menu->addAction(button->text(), button, &QToolButton::click);
    action->setToolTip(button->toolTip());
    action->setCheckable(true);
    action->setChecked(button->isChecked());
    action->setEnabled(button->isEnabled());
  }
}

void Segments::name_chosen() {
  for (const QToolButton* button : buttons_) {
    if (!button->isChecked()) continue;
    folded_->setText(button->text());
    folded_->setToolTip(button->toolTip());
    folded_->setAccessibleName(tr("Shown: %1").arg(button->text()));
  }
}

}  // namespace attnscope
