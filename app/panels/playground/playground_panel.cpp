#include "app/panels/playground/playground_panel.h"

#include <QEvent>
#include <QResizeEvent>
#include <QVBoxLayout>

#include "app/panels/frame/large_type.h"
#include "app/panels/playground/playground_view.h"

namespace attnscope {

namespace {

constexpr int kPlaygroundWidth = 400;  // three maps next to each other

}  // namespace

PlaygroundPanel::PlaygroundPanel(Session&, QWidget* parent) : DockPanel(tr(kTitle), parent) {
  set_preferred_width(kPlaygroundWidth);
  view_ = new PlaygroundView;
  view_->setObjectName("playground_view");
  body()->addWidget(view_, 1);
  add_enlarge_action();
}

void PlaygroundPanel::fit_type() {
  if (view_ != nullptr) (void)set_type_for_room(*view_, width());
}

void PlaygroundPanel::resizeEvent(QResizeEvent* event) {
  fit_type();
  DockPanel::resizeEvent(event);
}

void PlaygroundPanel::changeEvent(QEvent* event) {
  DockPanel::changeEvent(event);
  if (event->type() == QEvent::FontChange) fit_type();
}

}  // namespace attnscope
