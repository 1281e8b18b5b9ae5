#include "app/window/export_dialog.h"

#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QSettings>
#include <QStandardItemModel>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "analysis/figure/fit.h"
#include "app/look/theme.h"
#include "app/panels/frame/settings_form.h"
#include "app/render/render.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"
#include "app/widgets/elided_combo_box.h"
#include "app/window/export_dialog_preview.h"
#include "app/window/export_dialog_settings.h"
#include "app/window/export_target.h"
#include "app/window/figure_list.h"
#include "app/window/page_composer.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr int kPreviewDelayMs = 150;  // long enough to type a number

QLabel* heading(const QString& content) {
  auto* label = new QLabel(content);
  label->setProperty("role", "heading");
  return label;
}

QPushButton* copy_button(const QString& what, const QPlainTextEdit* edit) {
  auto* button = new QPushButton(QObject::tr("Copy"));
  button->setAccessibleName(QObject::tr("Copy the %1").arg(what));
  button->setProperty("flat", true);
  button->setAutoDefault(false);
  QObject::connect(button, &QPushButton::clicked, edit,
                   [edit] { QGuiApplication::clipboard()->setText(edit->toPlainText()); });
  return button;
}

QPlainTextEdit* text_box(const char* name, const QString& title, int lines) {
  auto* box = new QPlainTextEdit;
  box->setObjectName(name);
  box->setAccessibleName(title);
  box->setTabChangesFocus(true);
  box->setFixedHeight(box->fontMetrics().lineSpacing() * lines + 16);
  return box;
}

}  // namespace

ExportDialog::ExportDialog(Session& session, QWidget* parent) : QDialog(parent), session_(session) {
  setWindowTitle(tr("Export a figure"));
  constexpr QSize usual(1140, 720), around(40, 80);  // pixels; frame of the window
  resize(usual.boundedTo(screen()->availableSize() - around));
  open_ = request_of(session_);

  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  QWidget* const controls = make_controls();
  scroll->setWidget(controls);
  scroll->viewport()->setAutoFillBackground(false);
  controls->setAutoFillBackground(false);
  constexpr int bar = 14;
  scroll->setFixedWidth(std::max(380, controls->minimumSizeHint().width() + bar));
  auto* across = new QHBoxLayout;
  across->setSpacing(16);
  across->addWidget(scroll);
  across->addWidget(make_sheet(), 1);
  auto* down = new QVBoxLayout(this);
  down->setContentsMargins(16, 14, 16, 14);
  down->setSpacing(12);
  down->addLayout(across, 1);
  make_target();
  down->addWidget(target_);

  delay_.setSingleShot(true);
  delay_.setInterval(kPreviewDelayMs);
  connect(&delay_, &QTimer::timeout, this, &ExportDialog::make);
  fill_figures();
  connect(figure_, &QComboBox::currentIndexChanged, this, &ExportDialog::take_recipe);
  take_recipe();
  show_page_state();
  if (open_.subjects.empty()) {
    target_->show_problem(
        tr("Nothing is open to draw but energy: open a model and an input first."));
  }
}

QWidget* ExportDialog::make_controls() {
  auto* controls = new QWidget;
  auto* column = new QVBoxLayout(controls);
  column->setContentsMargins(0, 0, 10, 0);
  column->setSpacing(9);

  figure_ = new ElidedComboBox(20);
  figure_->setObjectName("export_figure");
  figure_->setAccessibleName(tr("Figure"));
  source_ = new QLabel;
  source_->setWordWrap(true);
  source_->setProperty("role", "muted");
  column->addWidget(heading(tr("Figure")));
  column->addWidget(figure_);
  column->addWidget(source_);
  subjects_ = new QListWidget;
  subjects_->setObjectName("export_subjects");
  subjects_->setAccessibleName(tr("Models shown"));
  subjects_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  subjects_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  subjects_->setTextElideMode(Qt::ElideMiddle);
  subjects_->setSpacing(2);
  column->addWidget(subjects_);
  connect(subjects_, &QListWidget::itemChanged, this, [this] {
    target_->propose(proposal());
    want();
  });

  settings_ = new FigureSettingsForm;
  column->addWidget(settings_);
  connect(settings_, &FigureSettingsForm::changed, this, &ExportDialog::want);

  column->addSpacing(6);
  column->addWidget(heading(tr("Look")));
  look_ = new FigureLookForm;
  column->addWidget(look_);
  connect(look_, &FigureLookForm::changed, this, &ExportDialog::want);

  column->addStretch(1);
  return controls;
}

QWidget* ExportDialog::make_sheet() {
  auto* sheet = new QWidget;
  auto* column = new QVBoxLayout(sheet);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);

  auto* zoom = new QComboBox;
  zoom->setObjectName("export_zoom");
  zoom->setAccessibleName(tr("Zoom of the preview"));
  for (const int percent : {100, 150, 200, 300}) {
    zoom->addItem(percent == 100 ? tr("True size") : QString("%1 %").arg(percent), percent);
  }
  size_ = new QLabel;
  size_->setObjectName("export_size");
  size_->setProperty("role", "muted");
  auto* top = new QHBoxLayout;
  top->addWidget(heading(tr("Preview")));
  top->addWidget(size_, 1);
  page_ = new QPushButton(tr("Add to page"));
  page_->setObjectName("export_add_to_page");
  show_page_ = new QPushButton;
  show_page_->setObjectName("export_show_page");
  for (QPushButton* button : {page_, show_page_}) {
    button->setAutoDefault(false);
    top->addWidget(button);
  }
  top->addWidget(zoom);
  column->addLayout(top);
  connect(page_, &QPushButton::clicked, this, &ExportDialog::add_to_page);
  connect(show_page_, &QPushButton::clicked, this, [this] {
    emit page_wanted();
    reject();
  });
  preview_ = new FigurePreview;
  column->addWidget(preview_, 1);
  connect(zoom, &QComboBox::currentIndexChanged, this,
          [this, zoom] { preview_->set_zoom(zoom->currentData().toInt() / 100.0); });

  caption_ = text_box("export_caption", tr("Caption"), 4);
  auto* draft = new QPushButton(tr("Rewrite caption"));
  draft->setProperty("flat", true);
  draft->setAutoDefault(false);
  draft->setToolTip(tr("Replace your text with the caption that the program writes"));
  auto* caption_row = new QHBoxLayout;
  caption_row->addWidget(heading(tr("Caption")), 1);
  caption_row->addWidget(draft);
  caption_row->addWidget(copy_button(tr("caption"), caption_));
  column->addLayout(caption_row);
  column->addWidget(caption_);
  connect(caption_, &QPlainTextEdit::textChanged, this, [this] {
    own_caption_ = true;
    show_command();
  });
  connect(draft, &QPushButton::clicked, this, [this] {
    own_caption_ = false;
    dress();
  });

  command_ = text_box("export_command", tr("The command line that writes the same file"), 3);
  command_->setReadOnly(true);
  command_->setFont(number_font(font()));
  auto* command_row = new QHBoxLayout;
  command_row->addWidget(heading(tr("The same file, from a shell")), 1);
  command_row->addWidget(copy_button(tr("command line"), command_));
  column->addLayout(command_row);
  column->addWidget(command_);
  return sheet;
}

void ExportDialog::make_target() {
  target_ = new ExportTarget;
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  buttons->button(QDialogButtonBox::Cancel)->setIcon(QIcon());
  write_ = buttons->addButton(tr("Export"), QDialogButtonBox::AcceptRole);
  write_->setObjectName("export_write");
  write_->setDefault(true);
  target_->add_button(buttons);
  connect(target_, &ExportTarget::changed, this, &ExportDialog::show_command);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(write_, &QPushButton::clicked, this, &ExportDialog::write);
}

void ExportDialog::fill_figures() {
  attnscope::fill_figures(*figure_, figures_by_question(open_.subjects));
  const auto* const items = qobject_cast<QStandardItemModel*>(figure_->model());
  int first = 0;
  while (first < figure_->count() && !items->item(first)->isEnabled()) ++first;
  figure_->setCurrentIndex(first);
}

std::string ExportDialog::recipe() const { return figure_->currentData().toString().toStdString(); }

void ExportDialog::show_figure(const std::string& recipe, const ParameterValues& settings,
                               const std::vector<std::size_t>& subjects) {
  const int index = figure_->findData(QString::fromStdString(recipe));
  if (index >= 0) figure_->setCurrentIndex(index);
  settings_->show_recipe(find_figure(this->recipe()), settings);
  if (!subjects.empty()) {
    const QSignalBlocker quiet(subjects_);
    for (int row = 0; row < subjects_->count(); ++row) {
      QListWidgetItem* const item = subjects_->item(row);
      const auto index = static_cast<std::size_t>(item->data(Qt::UserRole).toInt());
      const bool shown = std::find(subjects.begin(), subjects.end(), index) != subjects.end();
      item->setCheckState(shown ? Qt::Checked : Qt::Unchecked);
    }
  }
  want();
}

void ExportDialog::take_recipe() {
  const FigureRecipe& chosen = find_figure(recipe());
  source_->setText(QString::fromUtf8(chosen.source));
  fill_subjects();
  // Initial values are those of the window.
  const ViewSettings& view = session_.view();
  ParameterValues values;
  if (view.rank_threshold != RankThreshold()) set_threshold(view.rank_threshold, values);
  settings_->show_recipe(chosen, values);
  target_->propose_anew(proposal());
  own_caption_ = false;
  want();
}

void ExportDialog::fill_subjects() {
  const QSignalBlocker quiet(subjects_);
  subjects_->clear();
  const FigureFit fit = fit_of(recipe(), open_.subjects);
  for (const std::size_t index : fit.subjects) {
    auto* item = new QListWidgetItem(QString::fromStdString(open_.subjects[index].label));
    item->setFlags(Qt::ItemIsUserCheckable | Qt::ItemIsEnabled);
    item->setData(Qt::UserRole, static_cast<int>(index));
    item->setToolTip(item->text());
    // Energy figures show the papers' networks by default.
    const bool shown = find_figure(recipe()).needs.least > 0 &&
                       (fit.most == 0 || static_cast<std::size_t>(subjects_->count()) < fit.most);
    item->setCheckState(shown ? Qt::Checked : Qt::Unchecked);
    subjects_->addItem(item);
  }
  const int rows = std::min(subjects_->count(), 5);
  subjects_->setFixedHeight(rows * (fontMetrics().lineSpacing() + 7) + 8);
  subjects_->setVisible(subjects_->count() > 1);
}

std::vector<std::size_t> ExportDialog::chosen_subjects() const {
  std::vector<std::size_t> chosen;
  for (int row = 0; row < subjects_->count(); ++row) {
    const QListWidgetItem* const item = subjects_->item(row);
    if (item->checkState() == Qt::Checked) {
      chosen.push_back(static_cast<std::size_t>(item->data(Qt::UserRole).toInt()));
    }
  }
  return chosen;
}

FigureRequest ExportDialog::request() const {
  FigureRequest request = with_subjects(open_, chosen_subjects());
  const FigureLook look = look_->look();
  request.settings = settings_->settings();
  request.width_mm = look.width_mm;
  request.font_size_pt = look.font_size_pt;
  request.first_layer = session_.view().first_layer;
  return request;
}

FigureStyle ExportDialog::figure_style() const {
  FigureStyle style = look_->look().style;
  if (own_caption_) style.caption = caption_->toPlainText().trimmed().toStdString();
  return style;
}

std::string ExportDialog::command() const {
  FigureCommand command = command_of(recipe(), request());
  command.style = figure_style();
  command.transparent = look_->look().transparent;
  if (target_->extension() == ".png") command.dpi = target_->dpi();
  command.out = target_->file().toStdString();
  return to_string(command);
}

void ExportDialog::want() {
  ++wanted_;
  current_ = false;
  show_reason(why_not());
  if (why_not_.isEmpty()) return delay_.start();
  delay_.stop();
  session_.jobs().cancel(job_);
}

/// The reason why the figure cannot be made, known before it is made; empty if it can.
QString ExportDialog::why_not() const {
  const FigureFit fit = fit_of(recipe(), open_.subjects, settings_->settings());
  const std::size_t least = find_figure(recipe()).needs.least, shown = chosen_subjects().size();
  if (!fit.missing.empty()) {
    return tr("The figure %1.").arg(QString::fromUtf8(fit.missing));
  }
  if (shown < least) {
    return least == 1 ? tr("Choose a model to show.") : tr("Choose at least two models to show.");
  }
  if (fit.most > 0 && shown > fit.most) return tr("The figure shows one model: choose one.");
  if (fit.unset.empty()) return {};
  const ParameterDescription& setting = find_setting(recipe(), find_figure(recipe()).needs.setting);
  return tr("The figure %1: choose it under “%2”.")
      .arg(QString::fromUtf8(fit.unset), setting_title(setting));
}

/// Shows the reason in place of the figure and of everything that is said about it. While there is
/// one, nothing can be exported or added to a page.
void ExportDialog::show_reason(const QString& why_not) {
  why_not_ = why_not;
  write_->setEnabled(!writing_ && why_not.isEmpty());
  page_->setEnabled(why_not.isEmpty());
  for (QPushButton* button : {write_, page_}) button->setToolTip(why_not);
  if (!why_not.isEmpty()) {
    made_.reset();
    current_ = true;
    size_->clear();
    preview_->show_message(why_not);
    const QSignalBlocker quiet(caption_);
    if (!own_caption_) caption_->clear();
  }
  show_command();
}

void ExportDialog::make() {
  delay_.stop();
  session_.jobs().cancel(job_);
  const std::int64_t wanted = wanted_;
  const std::string name = recipe();
  const FigureRequest request = this->request();
  size_->setText(tr("drawing…"));
  const auto failed = [this, wanted](const QString& what) {
    if (wanted != wanted_) return;
    if (std::exchange(writing_, false)) {
      set_writing(false);
      target_->show_problem(what);
    }
    show_reason(what);
  };
  job_ = session_.jobs().submit(
      tr("Drawing: %1").arg(QString::fromUtf8(find_figure(name).title)),
      [this, request, name, wanted](const Progress& progress) -> JobQueue::Delivery {
        auto figure = std::make_shared<Figure>(make_figure(name, request, progress));
        return [this, figure, wanted] {
          if (wanted != wanted_) return;
          made_ = std::move(*figure);
          current_ = true;
          dress();
          if (writing_) finish();
        };
      },
      [failed](const JobFailure& failure) {
        failed(failure.cancelled ? tr("Cancelled.") : QString::fromStdString(failure.what));
      },
      this);
}

void ExportDialog::dress() {
  if (!made_) return;
  try {
    const Figure figure = dressed(*made_, figure_style());
    if (!own_caption_) {
      const QSignalBlocker quiet(caption_);
      caption_->setPlainText(QString::fromStdString(figure.caption));
    }
    preview_->show_figure(figure, look_->look().transparent);
    size_->setText(
        tr("%1 × %2 mm").arg(figure.width_mm, 0, 'f', 0).arg(figure.height_mm, 0, 'f', 0));
  } catch (const Error& error) {
    show_reason(QString::fromStdString(error.in_window()));
  }
  show_command();
}

void ExportDialog::show_command() {
  command_->setPlainText(why_not_.isEmpty() ? QString::fromStdString(command()) : QString());
}

/// The name of the figure and of its models, for a file.
QString ExportDialog::proposal() const {
  const QString figure = QString::fromUtf8(find_figure(recipe()).name);
  QStringList models;
  for (const std::size_t index : chosen_subjects()) {
    models << QString::fromStdString(open_.subjects[index].label);
  }
  return proposed_name(figure, models);
}

void ExportDialog::add_to_page() {
  PageDraft page = kept_page(open_);
  PageCell cell;
  cell.figure = recipe();
  cell.settings = settings_->settings();
  cell.subjects = chosen_subjects();
  page.add(std::move(cell));
  keep_page(page, open_);
  show_page_state();
}

void ExportDialog::show_page_state() {
  const std::size_t figures = kept_page(open_).size();
  show_page_->setText(figures == 0 ? tr("Compose…") : tr("Compose %1…").arg(figures));
  show_page_->setToolTip(tr("Arrange the figures of the page"));
}

void ExportDialog::write() {
  if (!target_->may_write()) return;
  if (current_) return finish();
  set_writing(true);
  make();
}

/// While the figure is being drawn for writing, the file that the user confirmed cannot be changed.
void ExportDialog::set_writing(bool writing) {
  writing_ = writing;
  target_->set_writing(writing);
  write_->setEnabled(!writing && why_not_.isEmpty());
  figure_->setEnabled(!writing);
}

void ExportDialog::finish() {
  set_writing(false);
  const QString file = target_->file();
  try {
    if (!made_) {
      throw Error(ErrorKind::usage, "no figure was drawn to export").about(recipe());
    }
    Figure figure = dressed(*made_, figure_style());
    figure.command = command();
    ExportOptions options;
    options.transparent = look_->look().transparent;
    options.png_dpi = target_->dpi();
    export_figure(figure, file.toStdString(), options);
  } catch (const Error& error) {
    target_->show_problem(QString::fromStdString(error.in_window()));
    return;
  }
  target_->remember();
  look_->remember();
  emit exported(file);
  accept();
}

}  // namespace attnscope
