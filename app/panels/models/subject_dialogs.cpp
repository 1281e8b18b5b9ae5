#include "app/panels/models/rename_subject.h"

#include <QInputDialog>
#include <QLineEdit>

#include "app/session/session.h"

namespace attnscope {

void ask_for_name(QWidget* parent, Session& session, SubjectId subject) {
  const OpenSubject* const open = session.find(subject);
  if (open == nullptr) return;
  bool accepted = false;
  const QString name = QInputDialog::getText(
      parent, QObject::tr("Rename"),
      QObject::tr("Name here and in figures; nothing: its own name again"), QLineEdit::Normal,
      QString::fromStdString(open->subject.label), &accepted);
  if (accepted) session.rename(subject, name.trimmed().toStdString());
}

}  // namespace attnscope
