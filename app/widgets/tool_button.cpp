#include "app/widgets/tool_button.h"

#include <QToolButton>

namespace attnscope {

QToolButton* tool_button(const QString& name, const QString& text, const QString& tip) {
  auto* button = new QToolButton;
  button->setObjectName(name);
  button->setText(text);
  button->setToolTip(tip);
  button->setAccessibleName(tip);
  return button;
}

}  // namespace attnscope
