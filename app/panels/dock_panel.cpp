#include "app/panels/dock_panel.h"

#include <QDockWidget>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/window/theme.h"

namespace attnscope {

DockPanel::DockPanel(const QString& title, QWidget* parent) : QFrame(parent), title_(title) {
  setObjectName("panel");
  setAccessibleName(title);

  header_ = new QFrame;
  header_->setObjectName("panel");
  header_row_ = new QHBoxLayout(header_);
  header_row_->setContentsMargins(14, 8, 8, 4);
  header_row_->setSpacing(4);
  auto* name = new QLabel(title);
  name->setObjectName("panel_title");
  header_row_->addWidget(name);
  header_row_->addStretch(1);

  stack_ = new QStackedLayout(this);
  auto* content = new QWidget;
  body_ = new QVBoxLayout(content);
  body_->setContentsMargins(14, 2, 14, 12);
  body_->setSpacing(8);
  stack_->addWidget(content);
  instead_ = new QLabel;
  instead_->setWordWrap(true);
  instead_->setAlignment(Qt::AlignCenter);
  instead_->setMargin(22);
  instead_->setProperty("role", "muted");
  stack_->addWidget(instead_);
}

QToolButton* DockPanel::add_action(const QString& icon, const QString& name) {
  auto* button = new QToolButton;
  button->setProperty("flat", true);
  button->setProperty("icon_name", icon);
  button->setToolTip(name);
  button->setAccessibleName(name);
  button->setIconSize(QSize(16, 16));
  add_to_header(button);
  tint_icons();
  return button;
}

void DockPanel::add_to_header(QWidget* widget) { header_row_->addWidget(widget); }

void DockPanel::show_instead(const QString& text, bool is_error) {
  instead_->setText(text);
  const char* role = is_error ? "error" : "muted";
  if (instead_->property("role") != role) {
    instead_->setProperty("role", role);
    instead_->setStyleSheet(instead_->styleSheet());
  }
  stack_->setCurrentIndex(text.isEmpty() ? 0 : 1);
}

void DockPanel::changeEvent(QEvent* event) {
  QFrame::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) tint_icons();
}

void DockPanel::tint_icons() {
  for (QToolButton* button : header_->findChildren<QToolButton*>()) {
    const QString name = button->property("icon_name").toString();
    if (!name.isEmpty()) button->setIcon(tinted_icon(name, colours_of(*this).muted));
  }
}

QDockWidget* dock_of(DockPanel* panel, const QString& object_name) {
  auto* dock = new QDockWidget(panel->title());
  dock->setObjectName(object_name);
  dock->setTitleBarWidget(panel->header());
  dock->setWidget(panel);
  dock->setFeatures(QDockWidget::DockWidgetMovable | QDockWidget::DockWidgetClosable);
  return dock;
}

}  // namespace attnscope
