#include "app/window/export_target.h"

#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QSettings>
#include <QVBoxLayout>

#include "app/render/render.h"
#include "app/widgets/file_to_save.h"
#include "core/error.h"
#include "core/file/overwrite.h"

namespace attnscope {

namespace {

constexpr const char* kFolderKey = "export_folder";

}  // namespace

QString proposed_name(const QString& figure, const QStringList& models) {
  constexpr qsizetype kMostLetters = 60;
  if (models.isEmpty()) return figure;
  QString of = models.size() > 2 ? QObject::tr("%1-models").arg(models.size()) : models.join('-');
  static const QRegularExpression others("[^\\w.]+",
                                         QRegularExpression::UseUnicodePropertiesOption);
  of.replace(others, "-");
  while (of.startsWith('-') || of.startsWith('.')) of.remove(0, 1);
  if (of.size() > kMostLetters) {
    of = of.left(kMostLetters / 2) + "-" + of.right(kMostLetters / 2 - 1);
    of.replace("--", "-");
  }
  while (of.endsWith('-') || of.endsWith('.')) of.chop(1);
  return of.isEmpty() ? figure : figure + "-" + of;
}

ExportTarget::ExportTarget(QWidget* parent) : QWidget(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  problem_ = new QLabel;
  problem_->setObjectName("export_problem");
  problem_->setWordWrap(true);
  problem_->setProperty("role", "error");
  problem_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  problem_->hide();
  column->addWidget(problem_);

  format_ = new QComboBox;
  format_->setObjectName("export_format");
  format_->setAccessibleName(tr("Format"));
  for (const ExportFormat& format : export_formats()) {
    format_->addItem(QString::fromUtf8(format.title), QString::fromUtf8(format.extension));
    format_->setItemData(format_->count() - 1, QString::fromUtf8(format.holds), Qt::ToolTipRole);
  }
  dpi_ = new QDoubleSpinBox;
  dpi_->setObjectName("export_dpi");
  dpi_->setAccessibleName(tr("Resolution in dots per inch"));
  dpi_->setRange(20, 2400);
  dpi_->setDecimals(0);
  dpi_->setValue(300);
  dpi_->setSuffix(tr(" dpi"));
  file_ = new QLineEdit;
  file_->setObjectName("export_file");
  file_->setAccessibleName(tr("File"));
  browse_ = new QPushButton(tr("Browse…"));
  browse_->setObjectName("export_browse");
  browse_->setAutoDefault(false);
  row_ = new QHBoxLayout;
  row_->setSpacing(8);
  row_->addWidget(format_);
  row_->addWidget(dpi_);
  row_->addWidget(file_, 1);
  row_->addWidget(browse_);
  row_->addSpacing(12);
  column->addLayout(row_);

  dpi_->hide();
  connect(format_, &QComboBox::currentIndexChanged, this, &ExportTarget::take_format);
  connect(file_, &QLineEdit::textChanged, this, &ExportTarget::take_file);
  connect(dpi_, &QDoubleSpinBox::valueChanged, this, &ExportTarget::changed);
  connect(browse_, &QPushButton::clicked, this, &ExportTarget::browse);
}

void ExportTarget::add_button(QWidget* button) { row_->addWidget(button); }

QString ExportTarget::file() const { return file_->text().trimmed(); }

QString ExportTarget::extension() const { return format_->currentData().toString(); }

double ExportTarget::dpi() const { return dpi_->value(); }

void ExportTarget::propose(const QString& name) {
  name_ = name;
  if (file() == proposed_) propose_anew(name);
}

void ExportTarget::propose_anew(const QString& name) {
  const QString folder = file().isEmpty()
                             ? QSettings().value(kFolderKey, QDir::homePath()).toString()
                             : QFileInfo(file()).path();
  name_ = name;
  proposed_ = unused_file(QDir(folder), name, extension());
  file_->setText(proposed_);
}

void ExportTarget::take_format() {
  dpi_->setVisible(extension() == ".png");
  const QString path = file();
  if (path == proposed_) return propose_anew(name_);
  const qsizetype dot = path.lastIndexOf('.');
  const bool has_extension = dot > path.lastIndexOf('/') && format_->findData(path.mid(dot)) >= 0;
  file_->setText((has_extension ? path.left(dot) : path) + extension());
}

void ExportTarget::take_file() {
  const QString path = file();
  const int known = format_->findData(path.mid(path.lastIndexOf('.')).toLower());
  if (known >= 0) {
    const QSignalBlocker quiet(format_);
    format_->setCurrentIndex(known);
    dpi_->setVisible(extension() == ".png");
  }
  emit changed();
}

void ExportTarget::browse() {
  QStringList filters;
  for (const ExportFormat& format : export_formats()) {
    filters << QString("%1 (*%2)")
                   .arg(QString::fromUtf8(format.title), QString::fromUtf8(format.extension));
  }
  const QString file = QFileDialog::getSaveFileName(
      this, tr("Export to"), file_->text(), filters.join(";;"), &filters[format_->currentIndex()],
      QFileDialog::DontConfirmOverwrite);
  if (!file.isEmpty()) file_->setText(file);
}

bool ExportTarget::may_write() {
  hide_problem();
  try {
    refuse_to_overwrite_read(file().toStdString());
  } catch (const Error& error) {
    show_problem(QString::fromStdString(error.in_window()));
    return false;
  }
  return may_replace(this, file());
}

void ExportTarget::remember() const {
  QSettings().setValue(kFolderKey, QFileInfo(file()).absolutePath());
}

void ExportTarget::show_problem(const QString& text) {
  problem_->setText("⚠ " + text);
  problem_->show();
}

void ExportTarget::hide_problem() { problem_->hide(); }

void ExportTarget::set_writing(bool writing) {
  for (QWidget* widget : std::initializer_list<QWidget*>{file_, format_, browse_}) {
    widget->setEnabled(!writing);
  }
}

}  // namespace attnscope
