#include "app/widgets/file_to_save.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>

namespace attnscope {

bool may_replace(QWidget* parent, const QString& file) {
  const QFileInfo there(file);
  if (!there.exists() && !there.isSymLink()) return true;
  QMessageBox box(QMessageBox::Question, QObject::tr("Replace the file?"),
                  QObject::tr("%1 is there already.").arg(file), QMessageBox::Cancel, parent);
  box.addButton(QMessageBox::Yes)->setText(QObject::tr("Replace"));
  box.setDefaultButton(QMessageBox::Cancel);
  return box.exec() == QMessageBox::Yes;
}

QString unused_file(const QDir& folder, const QString& name, const QString& suffix) {
  QString file = folder.filePath(name + suffix);
  for (int number = 2; QFileInfo::exists(file) || QFileInfo(file).isSymLink(); ++number) {
    file = folder.filePath(QString("%1-%2%3").arg(name).arg(number).arg(suffix));
  }
  return file;
}

QString file_to_save(QWidget* parent, const QString& title, const QString& proposed,
                     const QString& filter, const QString& suffix) {
  // The dialog's own question would be about the name without the suffix.
  QString file = QFileDialog::getSaveFileName(parent, title, proposed, filter, nullptr,
                                              QFileDialog::DontConfirmOverwrite);
  if (file.isEmpty()) return file;
  if (!file.endsWith(suffix, Qt::CaseInsensitive)) file += suffix;
  return may_replace(parent, file) ? file : QString();
}

}  // namespace attnscope
