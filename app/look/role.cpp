#include "app/look/role.h"

#include <QStyle>
#include <QVariant>
#include <QWidget>

namespace attnscope {

void set_role(QWidget* widget, const char* role) {
  if (widget->property("role") == role) return;
  widget->setProperty("role", role);
  // A style sheet looks at properties only as it takes a widget.
  widget->style()->unpolish(widget);
  widget->style()->polish(widget);
}

}  // namespace attnscope
