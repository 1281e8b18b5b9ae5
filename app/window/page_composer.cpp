#include "app/window/page_composer.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDesktopServices>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QSettings>
#include <QShortcut>
#include <QTabWidget>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/figure/figure_command.h"
#include "analysis/figure/fit.h"
#include "analysis/figure/style.h"
#include "app/look/theme.h"
#include "app/panels/frame/settings_form.h"
#include "app/render/render.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"
#include "app/widgets/file_to_save.h"
#include "app/window/export_dialog_settings.h"
#include "app/window/export_target.h"
#include "app/window/figure_list.h"
#include "app/window/page_canvas.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/overwrite.h"

namespace attnscope {

namespace {

constexpr int kDelayMs = 60;
constexpr const char* kPageKey = "export_page";
constexpr const char* kOpensKey = "export_opens";
constexpr const char* kPageFolderKey = "page_folder";
constexpr int kSideWidth = 330;  // pixels

double screen_dpi(const QWidget& widget) {
  const QScreen* const shown_on = widget.screen();
  if (shown_on == nullptr) return widget.logicalDpiX();
  // The size that a screen reports may be wrong.
  const double dpi = shown_on->physicalDotsPerInchX();
  return dpi >= 60 && dpi <= 400 ? dpi : shown_on->logicalDotsPerInchX();
}

QPushButton* plain_button(const char* name, const QString& text, const QString& tip) {
  auto* button = new QPushButton(text);
  button->setObjectName(name);
  button->setToolTip(tip);
  button->setAutoDefault(false);
  return button;
}

QCheckBox* check_box(const char* name, const QString& text, const QString& tip) {
  auto* box = new QCheckBox(text);
  box->setObjectName(name);
  box->setToolTip(tip);
  return box;
}

/// The open models that the figure shows at first.
std::vector<std::size_t> first_subjects(const std::string& recipe, const FigureRequest& open) {
  if (find_figure(recipe).needs.least == 0) return {};
  const FigureFit fit = fit_of(recipe, open.subjects);
  std::vector<std::size_t> shown = fit.subjects;
  if (fit.most > 0 && shown.size() > fit.most) shown.resize(fit.most);
  return shown;
}

}  // namespace

PageDraft kept_page(const FigureRequest& open) {
  PageDraft draft;
  try {
    const QString kept = QSettings().value(kPageKey).toString();
    if (!kept.isEmpty())
      draft = PageDraft::from_file(parse_page_file(kept.toStdString(), "."), open);
  } catch (const Error&) {
    draft = {};  // an unreadable page is replaced by a new one
  }
  if (draft.size() == 0) draft.look.shared_legend = true;
  if (draft.look.width_mm == 0) draft.look.width_mm = CompositeOptions{}.width_mm;
  return draft;
}

void keep_page(const PageDraft& draft, const FigureRequest& open) {
  if (draft.size() == 0) return QSettings().remove(kPageKey);
  QSettings().setValue(kPageKey, QString::fromStdString(page_as_json(draft.to_file(open))));
}

PageComposer::PageComposer(Session& session, QWidget* parent)
    : QDialog(parent), session_(session), open_(request_of(session)) {
  setObjectName("page_composer");
  setWindowTitle(tr("Compose a page"));
  constexpr QSize usual(1240, 860), around(40, 80);  // pixels; frame of the window
  resize(usual.boundedTo(screen()->availableSize() - around));
  open_.first_layer = session_.view().first_layer;
  draft_ = kept_page(open_);

  auto* across = new QHBoxLayout;
  across->setSpacing(14);
  across->addWidget(make_side());
  across->addWidget(make_page(), 1);
  make_target();
  auto* down = new QVBoxLayout(this);
  down->setContentsMargins(16, 14, 16, 14);
  down->setSpacing(10);
  down->addLayout(across, 1);
  down->addWidget(target_);

  delay_.setSingleShot(true);
  delay_.setInterval(kDelayMs);
  connect(&delay_, &QTimer::timeout, this, &PageComposer::make);
  const auto shortcut = [this](QKeySequence::StandardKey key, auto&& act) {
    connect(new QShortcut(key, this), &QShortcut::activated, this, act);
  };
  shortcut(QKeySequence::Undo, [this] {
    if (draft_.undo()) change();
  });
  shortcut(QKeySequence::Redo, [this] {
    if (draft_.redo()) change();
  });
  shortcut(QKeySequence::Save, [this] { save_page(false); });
  shortcut(QKeySequence::Open, [this] { ask_for_page(); });
  target_->propose_anew("page");
  show_look();
  change();
  zoom();
  canvas_->setFocus();
}

PageComposer::~PageComposer() {
  session_.jobs().cancel(job_);
  keep_page(draft_, open_);
}

QWidget* PageComposer::make_side() {
  side_ = new QTabWidget;
  side_->setObjectName("composer_side");
  side_->setFixedWidth(kSideWidth);
  side_->addTab(make_figures(), tr("Figures"));
  side_->addTab(make_panel(), tr("Panel"));
  return side_;
}

QWidget* PageComposer::make_figures() {
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 8, 0, 0);
  figures_ = new QListWidget;
  figures_->setObjectName("composer_figures");
  figures_->setAccessibleName(tr("Figures; Enter adds one to the page"));
  figures_->setDragEnabled(true);
  figures_->setTextElideMode(Qt::ElideRight);
  figures_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  QFont bold = figures_->font();
  bold.setBold(true);
  for (const FigureEntry& entry : figures_by_question(open_.subjects)) {
    auto* item = new QListWidgetItem(entry.title);
    item->setData(Qt::UserRole, QString::fromStdString(entry.recipe));
    item->setToolTip(entry.title);
    const bool is_figure = !entry.recipe.empty();
    if (!is_figure) item->setFont(bold);
    if (!entry.fits) item->setForeground(colours_of(*this).muted);
    item->setFlags(is_figure && entry.fits
                       ? Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsDragEnabled
                       : Qt::NoItemFlags);
    figures_->addItem(item);
  }
  usual_ =
      plain_button("composer_usual", tr("Add spectra, ranks and maps"), tr("A page to begin with"));
  column->addWidget(figures_, 1);
  column->addWidget(usual_);
  connect(figures_, &QListWidget::itemActivated, this, [this](const QListWidgetItem* item) {
    const QString recipe = item->data(Qt::UserRole).toString();
    if (!recipe.isEmpty()) add(recipe.toStdString());
  });
  connect(usual_, &QPushButton::clicked, this, &PageComposer::add_usual);
  return page;
}

QWidget* PageComposer::make_panel() {
  auto* inside = new QWidget;
  auto* column = new QVBoxLayout(inside);
  column->setContentsMargins(0, 8, 8, 0);
  column->setSpacing(8);
  panel_title_ = new QLabel;
  panel_title_->setWordWrap(true);
  panel_title_->setProperty("role", "heading");
  column->addWidget(panel_title_);
  models_ = new QListWidget;
  models_->setObjectName("composer_models");
  models_->setAccessibleName(tr("Models shown; F2 names one on this page"));
  models_->setToolTip(tr("Double-click a model to name it on this page"));
  models_->setTextElideMode(Qt::ElideMiddle);
  models_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  models_->setSpacing(2);
  column->addWidget(models_);
  settings_ = new FigureSettingsForm;
  column->addWidget(settings_);
  column->addStretch(1);
  connect(models_, &QListWidget::itemChanged, this, &PageComposer::take_models);
  connect(settings_, &FigureSettingsForm::changed, this, &PageComposer::take_panel);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setWidget(inside);
  return scroll;
}

QWidget* PageComposer::make_look() {
  auto* look = new QWidget;
  auto* rows = new QVBoxLayout(look);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(6);
  place_ = place_box();
  width_ = new QDoubleSpinBox;
  width_->setObjectName("composer_width");
  width_->setAccessibleName(tr("Width of the page in millimetres"));
  width_->setRange(20, 1000);
  width_->setDecimals(1);
  width_->setSuffix(tr(" mm"));
  width_->setKeyboardTracking(false);
  font_size_ = new QDoubleSpinBox;
  font_size_->setObjectName("composer_font_size");
  font_size_->setAccessibleName(tr("Font size in points"));
  font_size_->setRange(4, 24);
  font_size_->setDecimals(1);
  font_size_->setSuffix(tr(" pt"));
  font_size_->setKeyboardTracking(false);
  zoom_ = new QComboBox;
  zoom_->setObjectName("composer_zoom");
  zoom_->setAccessibleName(tr("Zoom of the page"));
  zoom_->addItem(tr("True size"), 100);
  zoom_->addItem(tr("Fit width"), 0);
  for (const int percent : {150, 200}) zoom_->addItem(QString("%1 %").arg(percent), percent);
  size_ = new QLabel;
  size_->setObjectName("composer_size");
  size_->setProperty("role", "muted");
  auto* first = new QHBoxLayout;
  first->setSpacing(8);
  first->addWidget(place_, 1);
  first->addWidget(width_);
  first->addWidget(font_size_);
  first->addWidget(zoom_);
  letters_ = check_box("composer_letters", tr("Letters"), tr("a, b, c before the panels"));
  shared_legend_ = check_box("composer_legend", tr("One legend"),
                             tr("One legend below the page for all panels"));
  shared_colours_ = check_box("composer_colours", tr("One colour scale"),
                              tr("One scale, with one bar, for all maps of one quantity"));
  auto* second = new QHBoxLayout;
  second->setSpacing(12);
  for (QCheckBox* box : {letters_, shared_legend_, shared_colours_}) second->addWidget(box);
  second->addStretch(1);
  second->addWidget(size_);
  rows->addLayout(first);
  rows->addLayout(second);

  connect(place_, &QComboBox::activated, this, [this] {
    const QSizeF size = place_->currentData().toSizeF();
    if (size.isValid()) take_width(size.width());
  });
  connect(width_, &QDoubleSpinBox::valueChanged, this, &PageComposer::take_width);
  connect(font_size_, &QDoubleSpinBox::valueChanged, this, [this](double size) {
    if (quiet_) return;
    const bool usual = std::abs(size - Figure{}.font_size_pt) < 0.01;
    draft_.look.font_size_pt = usual ? 0 : size;
    want();
  });
  const auto toggled = [this](QCheckBox* box, bool CompositeOptions::*option) {
    connect(box, &QCheckBox::toggled, this, [this, option](bool on) {
      if (quiet_) return;
      draft_.look.*option = on;
      want();
    });
  };
  toggled(letters_, &CompositeOptions::letters);
  toggled(shared_legend_, &CompositeOptions::shared_legend);
  toggled(shared_colours_, &CompositeOptions::shared_colours);
  connect(zoom_, &QComboBox::currentIndexChanged, this, &PageComposer::zoom);
  return look;
}

QWidget* PageComposer::make_page() {
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  column->addWidget(make_look());
  canvas_ = new PageCanvas;
  scroll_ = new QScrollArea;
  scroll_->setWidgetResizable(true);
  scroll_->setWidget(canvas_);
  column->addWidget(scroll_, 1);
  connect(canvas_, &PageCanvas::chosen, this, &PageComposer::show_panel);
  connect(canvas_, &PageCanvas::move_wanted, this, [this](int id, const PagePlace& place) {
    draft_.move(id, place);
    change();
  });
  connect(canvas_, &PageCanvas::step_wanted, this, [this](int id, int columns, int rows) {
    draft_.move_by(id, columns, rows);
    change();
  });
  connect(canvas_, &PageCanvas::widen_wanted, this, [this](int id, int twelfths) {
    draft_.widen(id, twelfths);
    change();
  });
  connect(canvas_, &PageCanvas::removal_wanted, this, [this](int id) {
    const int next =
        draft_.neighbour(id, 1) == id ? draft_.neighbour(id, -1) : draft_.neighbour(id, 1);
    draft_.remove(id);
    change();
    canvas_->select(next);
  });
  connect(canvas_, &PageCanvas::title_wanted, this, [this](int id, const QString& title) {
    const PagePanel* const panel = draft_.find(id);
    if (panel == nullptr) return;
    PageCell cell = panel->cell;
    cell.title = title.toStdString();
    draft_.edit(id, std::move(cell));
    change();
  });
  connect(canvas_, &PageCanvas::settings_wanted, this, [this] {
    side_->setCurrentIndex(1);
    models_->isVisible() ? models_->setFocus() : settings_->setFocus();
  });
  connect(canvas_, &PageCanvas::figure_dropped, this,
          [this](const QString& recipe, const PagePlace& place) {
            if (!recipe.isEmpty()) add(recipe.toStdString(), place);
          });
  return page;
}

void PageComposer::make_target() {
  target_ = new ExportTarget;
  opens_ = check_box("composer_opens", tr("Open it"), tr("Open the file when it is written"));
  opens_->setChecked(QSettings().value(kOpensKey, true).toBool());
  caption_ = plain_button("composer_caption", tr("Copy caption"),
                          tr("The captions of all panels, for the paper"));
  auto* const open =
      plain_button("composer_open", tr("Open page…"), tr("Open the file of a page (Ctrl+O)"));
  auto* const save = plain_button("composer_save", tr("Save page…"),
                                  tr("Save the page as a file that 'attnscope figure' draws too "
                                     "(Ctrl+S)"));
  auto* const close =
      plain_button("composer_close", tr("Close"), tr("The page is kept for the next time"));
  write_ = new QPushButton(tr("Export"));
  write_->setObjectName("composer_write");
  write_->setAutoDefault(false);  // Enter adds a figure, or edits a panel
  write_->setProperty("primary", true);
  target_->add_button(opens_);
  target_->add_button(write_);
  auto* row = new QHBoxLayout;
  for (QPushButton* button : {open, save, caption_}) row->addWidget(button);
  row->addStretch(1);
  row->addWidget(close);
  qobject_cast<QVBoxLayout*>(target_->layout())->addLayout(row);
  connect(open, &QPushButton::clicked, this, &PageComposer::ask_for_page);
  connect(save, &QPushButton::clicked, this, [this] { save_page(true); });
  connect(caption_, &QPushButton::clicked, this, [this] {
    QGuiApplication::clipboard()->setText(QString::fromStdString(drawn_.figure.caption));
  });
  connect(close, &QPushButton::clicked, this, &QDialog::reject);
  connect(write_, &QPushButton::clicked, this, &PageComposer::write);
}

void PageComposer::add(const std::string& recipe, const std::optional<PagePlace>& place) {
  PageCell cell;
  cell.figure = recipe;
  cell.subjects = first_subjects(recipe, open_);
  if (session_.view().rank_threshold != RankThreshold()) {
    set_threshold(session_.view().rank_threshold, cell.settings);
    const std::vector<ParameterDescription>& known = find_figure(recipe).settings;
    std::erase_if(cell.settings, [&known](const auto& setting) {
      return find_description(known, setting.first) == nullptr;
    });
  }
  const int id = draft_.add(std::move(cell), place);
  change();
  canvas_->select(id);
}

void PageComposer::add_usual() {
  for (const char* recipe : {"cumulative-spectrum", "rank-by-layer", "attention-maps"}) add(recipe);
}

/// Shows the changed page.
void PageComposer::change() {
  canvas_->arrange(draft_);
  show_panel();
  want();
}

void PageComposer::show_look() {
  const bool before = std::exchange(quiet_, true);
  width_->setValue(draft_.look.width_mm);
  font_size_->setValue(draft_.look.font_size_pt > 0 ? draft_.look.font_size_pt
                                                    : Figure{}.font_size_pt);
  letters_->setChecked(draft_.look.letters);
  shared_legend_->setChecked(draft_.look.shared_legend);
  shared_colours_->setChecked(draft_.look.shared_colours);
  show_place_of({draft_.look.width_mm, 0}, *place_);
  quiet_ = before;
}

void PageComposer::take_width(double width_mm) {
  if (quiet_ || width_mm == draft_.look.width_mm) return;
  draft_.look.width_mm = width_mm;
  show_look();
  canvas_->arrange(draft_);
  zoom();
  want();
}

void PageComposer::show_panel() {
  const PagePanel* const panel = draft_.find(canvas_->selected());
  side_->setTabEnabled(1, panel != nullptr);
  if (panel == nullptr) return;
  const bool before = std::exchange(quiet_, true);
  const FigureRecipe& recipe = find_figure(panel->cell.figure);
  panel_title_->setText(QString::fromUtf8(recipe.title));
  const FigureRequest named = named_request(draft_, open_);
  models_->clear();
  const FigureFit fit = fit_of(recipe.name, open_.subjects);
  for (const std::size_t index : fit.subjects) {
    auto* item = new QListWidgetItem(QString::fromStdString(named.subjects[index].label));
    item->setFlags(Qt::ItemIsUserCheckable | Qt::ItemIsEnabled | Qt::ItemIsSelectable |
                   Qt::ItemIsEditable);
    item->setData(Qt::UserRole, static_cast<int>(index));
    item->setToolTip(QString::fromStdString(open_.subjects[index].label));
    const bool shown = std::ranges::find(panel->cell.subjects, index) != panel->cell.subjects.end();
    item->setCheckState(shown ? Qt::Checked : Qt::Unchecked);
    models_->addItem(item);
  }
  models_->setVisible(models_->count() > 0 && panel->absent.models.empty());
  const int rows = std::min(models_->count(), 5);
  models_->setFixedHeight(rows * (fontMetrics().lineSpacing() + 7) + 8);
  settings_->show_recipe(recipe, panel->cell.settings);
  quiet_ = before;
}

void PageComposer::take_panel() {
  const int id = canvas_->selected();
  const PagePanel* const panel = draft_.find(id);
  if (quiet_ || panel == nullptr) return;
  PageCell cell = panel->cell;
  cell.settings = settings_->settings();
  draft_.edit(id, std::move(cell));
  want();
}

/// Takes the models that are checked, and their names on the page.
void PageComposer::take_models() {
  const int id = canvas_->selected();
  const PagePanel* const panel = draft_.find(id);
  if (quiet_ || panel == nullptr) return;
  PageCell cell = panel->cell;
  cell.subjects.clear();
  for (int row = 0; row < models_->count(); ++row) {
    const QListWidgetItem* const item = models_->item(row);
    const auto index = static_cast<std::size_t>(item->data(Qt::UserRole).toInt());
    if (item->checkState() == Qt::Checked) cell.subjects.push_back(index);
    const std::string name = item->text().trimmed().toStdString();
    const bool own = !name.empty() && name != open_.subjects[index].label;
    if (own) {
      draft_.names[index] = name;
    } else {
      draft_.names.erase(index);
    }
  }
  draft_.edit(id, std::move(cell));
  want();
}

void PageComposer::zoom() {
  const int percent = zoom_->currentData().toInt();
  constexpr int around = 2 * 24 + 20;  // pixels: margin of the page, scroll bar
  const double fitting = 25.4 * (scroll_->viewport()->width() - around) / draft_.look.width_mm;
  canvas_->set_dpi(percent > 0 ? screen_dpi(*this) * percent / 100.0 : std::max(fitting, 20.0));
}

void PageComposer::resizeEvent(QResizeEvent* event) {
  QDialog::resizeEvent(event);
  zoom();
}

/// A page that is wider than the space for it is shown whole at first.
void PageComposer::showEvent(QShowEvent* event) {
  QDialog::showEvent(event);
  if (canvas_->minimumWidth() > scroll_->viewport()->width()) {
    zoom_->setCurrentIndex(zoom_->findData(0));
  }
}

void PageComposer::want() {
  ++wanted_;
  current_ = false;
  usual_->setVisible(draft_.size() == 0);
  if (draft_.size() == 0) {
    delay_.stop();
    session_.jobs().cancel(job_);
    drawn_ = {};
    size_->clear();
    return show_reason(tr("The page is empty: add a figure from the list."));
  }
  delay_.start();
}

void PageComposer::make() {
  session_.jobs().cancel(job_);
  const std::int64_t wanted = wanted_;
  size_->setText(tr("drawing…"));
  job_ = session_.jobs().submit(
      tr("Drawing the page"),
      [this, wanted, draft = draft_, open = open_,
       known = drawn_.figures](const Progress& progress) -> JobQueue::Delivery {
        auto drawn = std::make_shared<DrawnPage>(drawn_page(draft, open, known, progress));
        return [this, wanted, drawn] {
          if (wanted == wanted_) take(std::move(*drawn));
        };
      },
      [this, wanted](const JobFailure& failure) {
        if (wanted != wanted_) return;
        size_->clear();
        show_reason(failure.cancelled ? tr("Cancelled.") : QString::fromStdString(failure.what));
      },
      this);
}

void PageComposer::take(DrawnPage drawn) {
  drawn_ = std::move(drawn);
  current_ = true;
  canvas_->show_page(drawn_.figure);
  size_->setText(tr("%1 × %2 mm")
                     .arg(drawn_.figure.width_mm, 0, 'f', 0)
                     .arg(drawn_.figure.height_mm, 0, 'f', 0));
  show_reason(drawn_.problems.empty() ? QString()
                                      : QString::fromStdString(drawn_.problems.begin()->second));
  if (std::exchange(writing_, false)) finish();
}

/// While there is a reason, the page is not exported.
void PageComposer::show_reason(const QString& why_not) {
  why_not_ = why_not;
  write_->setEnabled(why_not.isEmpty());
  write_->setToolTip(why_not);
  caption_->setEnabled(why_not.isEmpty());
  if (!why_not.isEmpty()) {
    writing_ = false;
    target_->set_writing(false);
  }
  if (why_not.isEmpty() || draft_.size() == 0) {
    target_->hide_problem();
  } else {
    target_->show_problem(why_not);
  }
}

void PageComposer::open_page(const std::filesystem::path& file) {
  PageDraft opened = PageDraft::from_file(read_page_file(file), open_);
  if (opened.look.width_mm == 0) opened.look.width_mm = CompositeOptions{}.width_mm;
  draft_ = std::move(opened);
  file_ = file;
  target_->propose_anew(QString::fromStdString(file.stem().string()));
  show_look();
  change();
  zoom();
}

void PageComposer::ask_for_page() {
  const QString file = QFileDialog::getOpenFileName(this, tr("Open a page"),
                                                    QSettings().value(kPageFolderKey).toString(),
                                                    tr("Pages (*.json);;All files (*)"));
  if (file.isEmpty()) return;
  QSettings().setValue(kPageFolderKey, QFileInfo(file).absolutePath());
  try {
    open_page(file.toStdString());
  } catch (const Error& error) {
    target_->show_problem(QString::fromStdString(error.in_window()));
  }
}

/// Saves the page to its own file, or to one that the user chooses. False if it was not saved.
bool PageComposer::save_page(bool ask) {
  std::filesystem::path file = file_;
  if (ask || file.empty()) {
    const QDir folder(QSettings().value(kPageFolderKey, QDir::homePath()).toString());
    const QString proposed =
        file.empty() ? unused_file(folder, "page", ".json") : QString::fromStdString(file.string());
    const QString chosen =
        file_to_save(this, tr("Save the page"), proposed, tr("Pages (*.json)"), ".json");
    if (chosen.isEmpty()) return false;
    QSettings().setValue(kPageFolderKey, QFileInfo(chosen).absolutePath());
    file = chosen.toStdString();
  }
  try {
    // The page's own file was read, and may be replaced.
    if (file != file_) refuse_to_overwrite_read(file);
    write_file(file, page_as_json(draft_.to_file(open_)));
  } catch (const Error& error) {
    target_->show_problem(QString::fromStdString(error.in_window()));
    return false;
  }
  file_ = file;
  return true;
}

void PageComposer::write() {
  if (!target_->may_write()) return;
  if (current_) return finish();
  writing_ = true;
  target_->set_writing(true);
  write_->setEnabled(false);
}

/// Writes the page, and its own file next to it unless it has one.
void PageComposer::finish() {
  target_->set_writing(false);
  write_->setEnabled(why_not_.isEmpty());
  const QString file = target_->file();
  const QFileInfo written(file);
  if (file_.empty()) {
    file_ = unused_file(written.absoluteDir(), written.completeBaseName() + "-page", ".json")
                .toStdString();
  }
  if (!save_page(false)) return;
  try {
    Figure figure = drawn_.figure;
    FigureCommand command;
    command.figure = file_.string();
    command.width_mm = figure.width_mm;
    command.font_size_pt = draft_.look.font_size_pt;
    command.first_layer = open_.first_layer;
    if (target_->extension() == ".png") command.dpi = target_->dpi();
    command.out = file.toStdString();
    figure.command = to_string(command);
    ExportOptions options;
    options.png_dpi = target_->dpi();
    export_figure(figure, file.toStdString(), options);
  } catch (const Error& error) {
    return target_->show_problem(QString::fromStdString(error.in_window()));
  }
  target_->remember();
  QSettings().setValue(kOpensKey, opens_->isChecked());
  if (opens_->isChecked()) QDesktopServices::openUrl(QUrl::fromLocalFile(file));
  emit exported(file);
  accept();
}

}  // namespace attnscope
