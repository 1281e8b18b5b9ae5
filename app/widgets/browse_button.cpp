#include "app/widgets/browse_button.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QMenu>
#include <QSettings>

namespace attnscope {

namespace {

constexpr const char* kLastFolder = "data_set_folder";

}  // namespace

QLineEdit* line_field(const QString& name, const QString& what, const QString& hint) {
  auto* field = new QLineEdit;
  field->setObjectName(name);
  field->setAccessibleName(what);
  field->setToolTip(what);
  field->setPlaceholderText(hint);
  return field;
}

BrowseButton::BrowseButton(const QString& what, const QString& filter, QLineEdit* field,
                           QWidget* parent, Paths paths)
    : QToolButton(parent), what_(what), filter_(filter), field_(field) {
  setText("…");
  setToolTip(tr("Choose %1").arg(what));
  setAccessibleName(toolTip());
  if (paths == Paths::files) {
    connect(this, &QToolButton::clicked, this, [this] { browse(false); });
    return;
  }
  setPopupMode(QToolButton::InstantPopup);
  auto* const menu = new QMenu(this);
  menu->addAction(tr("A file…"), this, [this] { browse(false); })->setObjectName("choose_file");
  menu->addAction(tr("A folder, with one folder a class…"), this, [this] { browse(true); })
      ->setObjectName("choose_folder");
  setMenu(menu);
}

void BrowseButton::browse(bool folder) {
  const QString start = field_->text().isEmpty() ? QSettings().value(kLastFolder).toString()
                                                 : QFileInfo(field_->text()).absolutePath();
  const QString title = tr("Choose %1").arg(what_);
  const QString path = folder ? QFileDialog::getExistingDirectory(window(), title, start)
                              : QFileDialog::getOpenFileName(window(), title, start, filter_);
  if (path.isEmpty()) return;
  QSettings().setValue(kLastFolder, QFileInfo(path).absolutePath());
  field_->setText(path);
  emit chosen(path);
}

}  // namespace attnscope
