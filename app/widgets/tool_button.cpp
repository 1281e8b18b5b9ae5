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

QToolButton* segment_button(const QString& name, const QString& text, const QString& tip,
                            const char* place) {
  QToolButton* const button = tool_button(name, text, tip);
  button->setCheckable(true);
  button->setAutoExclusive(true);
  button->setProperty("segment", place);
  button->setFocusPolicy(Qt::TabFocus);
  return button;
}

}  // namespace attnscope
