#include "app/panels/playground/playground_panel.h"

#include <QScrollArea>
#include <QVBoxLayout>

#include "app/panels/playground/playground_view.h"

namespace attnscope {

namespace {

constexpr int kWidth = 400;  // three maps beside each other

}  // namespace

PlaygroundPanel::PlaygroundPanel(Session&, QWidget* parent) : DockPanel(tr("Playground"), parent) {
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setWidget(new PlaygroundView);
  setMinimumWidth(kWidth);
  body()->addWidget(scroll, 1);
}

}  // namespace attnscope
