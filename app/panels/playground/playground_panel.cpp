#include "app/panels/playground/playground_panel.h"

#include <QVBoxLayout>

#include "app/panels/playground/playground_view.h"

namespace attnscope {

namespace {

constexpr int kWidth = 400;  // three maps beside each other

}  // namespace

PlaygroundPanel::PlaygroundPanel(Session&, QWidget* parent) : DockPanel(tr("Playground"), parent) {
  set_preferred_width(kWidth);
  auto* const view = new PlaygroundView;
  view->setObjectName("playground_view");
  body()->addWidget(view, 1);
}

}  // namespace attnscope
