#include "app/window/export_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QVBoxLayout>
#include <algorithm>

#include "analysis/figure/figure_command.h"
#include "analysis/figure/recipe.h"
#include "app/render/render.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"
#include "app/window/theme.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr const char* kFilter =
    QT_TR_NOOP("Figures (*.pdf *.svg *.png);;Data (*.csv *.tex *.json)");

QString text(std::string_view view) {
  return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

}  // namespace

ExportDialog::ExportDialog(Session& session, QWidget* parent) : QDialog(parent), session_(session) {
  setWindowTitle(tr("Export a figure"));
  setMinimumWidth(520);
  figure_ = new QComboBox;
  figure_->setObjectName("export_figure");
  figure_->setAccessibleName(tr("Figure"));
  for (const FigureRecipe& recipe : figure_recipes()) {
    figure_->addItem(text(recipe.title), text(recipe.name));
  }
  source_ = new QLabel;
  source_->setProperty("role", "muted");
  file_ = new QLineEdit;
  file_->setObjectName("export_file");
  file_->setAccessibleName(tr("File"));
  auto* browse = new QPushButton(tr("Browse…"));
  auto* file_row = new QHBoxLayout;
  file_row->addWidget(file_, 1);
  file_row->addWidget(browse);
  width_ = new QDoubleSpinBox;
  width_->setObjectName("export_width");
  width_->setAccessibleName(tr("Width in millimetres"));
  width_->setRange(30, 400);
  width_->setDecimals(1);
  width_->setSuffix(tr(" mm"));
  width_->setValue(84);
  auto* width_hint = new QLabel(tr("84 mm: one column of a paper; 174 mm: two"));
  width_hint->setProperty("role", "muted");
  auto* width_row = new QHBoxLayout;
  width_row->addWidget(width_);
  width_row->addWidget(width_hint, 1);
  problem_ = new QLabel;
  problem_->setObjectName("export_problem");
  problem_->setWordWrap(true);
  problem_->setProperty("role", "error");
  problem_->hide();

  auto* form = new QFormLayout;
  form->setVerticalSpacing(9);
  form->setHorizontalSpacing(16);
  form->addRow(tr("Figure"), figure_);
  form->addRow(QString(), source_);
  form->addRow(tr("File"), file_row);
  form->addRow(tr("Width"), width_row);
  auto* note = new QLabel(
      tr("PDF and SVG are true vectors; CSV, TeX (PGFPlots) and JSON hold the numbers."));
  note->setProperty("role", "muted");
  note->setWordWrap(true);
  form->addRow(QString(), note);

  command_ = new QLineEdit;
  command_->setObjectName("export_command");
  command_->setReadOnly(true);
  command_->setFont(number_font(font()));
  command_->setAccessibleName(tr("The command line that writes the same file"));
  form->addRow(tr("Command"), command_);

  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  write_ = buttons->addButton(tr("Export"), QDialogButtonBox::AcceptRole);
  write_->setObjectName("export_write");
  write_->setDefault(true);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(18, 16, 18, 14);
  column->setSpacing(12);
  column->addLayout(form);
  column->addWidget(problem_);
  column->addWidget(buttons);

  const auto suggest = [this] {
    const FigureRecipe& recipe = find_figure(figure_->currentData().toString().toStdString());
    source_->setText(text(recipe.source));
    const QString folder = QSettings().value("export_folder", QDir::homePath()).toString();
    file_->setText(QDir(folder).filePath(text(recipe.name) + ".pdf"));
  };
  if (figure_->count() > 0) suggest();
  connect(file_, &QLineEdit::textChanged, this, &ExportDialog::show_command);
  connect(width_, &QDoubleSpinBox::valueChanged, this, &ExportDialog::show_command);
  connect(figure_, &QComboBox::currentIndexChanged, this, suggest);
  connect(browse, &QPushButton::clicked, this, &ExportDialog::browse);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(write_, &QPushButton::clicked, this, &ExportDialog::write);
  show_command();
  const auto& subjects = session_.subjects();
  if (std::ranges::none_of(subjects,
                           [](const OpenSubject& open) { return open.subject.trace != nullptr; })) {
    show_problem(tr("Nothing is open to draw: open a model and an input first."));
    write_->setEnabled(false);
  }
}

FigureRequest ExportDialog::request() const {
  FigureRequest request = request_of(session_);
  request.width_mm = width_->value();
  return request;
}

void ExportDialog::show_command() {
  const std::string name = figure_->currentData().toString().toStdString();
  command_->setText(QString::fromStdString(figure_command(name, request()) + " --out " +
                                           shell_word(file_->text().trimmed().toStdString())));
  command_->setCursorPosition(0);
}

void ExportDialog::browse() {
  const QString file =
      QFileDialog::getSaveFileName(this, tr("Export to"), file_->text(), tr(kFilter));
  if (!file.isEmpty()) file_->setText(file);
}

void ExportDialog::show_problem(const QString& text) {
  problem_->setText("⚠ " + text);
  problem_->show();
}

void ExportDialog::write() {
  problem_->hide();
  const FigureRequest request = this->request();
  const std::string name = figure_->currentData().toString().toStdString();
  const QString file = file_->text().trimmed();
  write_->setEnabled(false);
  write_->setText(tr("Exporting…"));
  const auto restore = [this] {
    write_->setEnabled(true);
    write_->setText(tr("Export"));
  };
  session_.jobs().submit(
      tr("Making %1").arg(text(find_figure(name).title)),
      [this, request, name, file, restore](const Progress& progress) -> JobQueue::Delivery {
        auto figure = std::make_shared<const Figure>(make_figure(name, request, progress));
        return [this, figure, file, restore] {
          restore();
          finish(*figure, file);
        };
      },
      [this, restore](const JobFailure& failure) {
        restore();
        show_problem(failure.cancelled ? tr("Cancelled.") : QString::fromStdString(failure.what));
      },
      this);
}

void ExportDialog::finish(const Figure& figure, const QString& file) {
  try {
    export_figure(figure, file.toStdString());
  } catch (const Error& error) {
    show_problem(QString::fromStdString(error.what()));
    return;
  }
  QSettings().setValue("export_folder", QFileInfo(file).absolutePath());
  emit exported(file);
  accept();
}

}  // namespace attnscope
