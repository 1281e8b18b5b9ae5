#include "app/look/role.h"

#include <QStyle>
#include <QVariant>
#include <QWidget>

namespace attnscope {

void set_role(QWidget* widget, const char* role) {
  if (widget->property("role") == role) return;
  widget->setProperty("role", role);
  // Qt evaluates a style sheet's property selectors only when it polishes a widget.
  widget->style()->unpolish(widget);
  widget->style()->polish(widget);
}

}  // namespace attnscope
