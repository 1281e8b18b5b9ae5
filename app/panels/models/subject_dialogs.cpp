#include "app/panels/models/subject_dialogs.h"

#include <QInputDialog>
#include <QLineEdit>

#include "app/panels/describe/role_editor.h"
#include "app/panels/models/model_dialog.h"
#include "app/session/session.h"
#include "core/error.h"

namespace attnscope {

void ask_for_name(QWidget* parent, Session& session, SubjectId subject) {
  const OpenSubject* const open = session.find(subject);
  if (open == nullptr) return;
  bool accepted = false;
  const QString name = QInputDialog::getText(
      parent, QObject::tr("Rename"),
      QObject::tr("Name in the window and in figures (empty: the default name)"), QLineEdit::Normal,
      QString::fromStdString(open->subject.label), &accepted);
  if (accepted) session.rename(subject, name.trimmed().toStdString());
}

void ask_for_options(QWidget* parent, Session& session, SubjectId subject) {
  const OpenSubject* const open = session.find(subject);
  if (open == nullptr) return;
  ModelDialog dialog(*open, parent);
  if (dialog.exec() == QDialog::Accepted) session.set_options(subject, dialog.options());
}

bool ask_for_roles(QWidget* parent, Session& session, SubjectId subject) {
  const OpenSubject* const open = session.find(subject);
  if (open == nullptr) return false;
  for (RoleEditor* const other : parent->window()->findChildren<RoleEditor*>()) other->close();
  try {
    auto* const editor =
        new RoleEditor(session, open->file, open->options, subject, parent->window());
    editor->setAttribute(Qt::WA_DeleteOnClose);
    editor->show();
    return true;
  } catch (const Error& error) {
    emit session.failed(QString::fromStdString(error.what()));
    return false;
  }
}

}  // namespace attnscope
