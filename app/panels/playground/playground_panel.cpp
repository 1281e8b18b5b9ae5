#include "app/panels/playground/playground_panel.h"

#include <QScrollArea>
#include <QVBoxLayout>

#include "app/panels/playground/playground_view.h"

namespace attnscope {

PlaygroundPanel::PlaygroundPanel(Session&, QWidget* parent) : DockPanel(tr("Playground"), parent) {
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setWidget(new PlaygroundView);
  body()->addWidget(scroll, 1);
}

}  // namespace attnscope
