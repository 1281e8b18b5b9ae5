#include "app/widgets/line_field.h"

#include <QLineEdit>

namespace attnscope {

QLineEdit* line_field(const QString& name, const QString& what, const QString& hint) {
  auto* field = new QLineEdit;
  field->setObjectName(name);
  field->setAccessibleName(what);
  field->setToolTip(what);
  field->setPlaceholderText(hint);
  return field;
}

}  // namespace attnscope
