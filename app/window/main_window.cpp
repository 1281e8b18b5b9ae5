#include "app/window/main_window.h"

#include <QApplication>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileDialog>
#include <QKeyEvent>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>
#include <map>

#include "app/canvas/atlas_link.h"
#include "app/panels/inputs/inputs_panel.h"
#include "app/panels/lessons/lessons_panel.h"
#include "app/panels/models/models_panel.h"
#include "app/panels/panels.h"
#include "app/session/autosave.h"
#include "app/session/history.h"
#include "app/session/sample_data.h"
#include "app/session/session.h"
#include "app/session/spectrum_store.h"
#include "app/widgets/control_values.h"
#include "app/window/atlas_area.h"
#include "app/window/commands.h"
#include "app/window/comparison_bar.h"
#include "app/window/dropped_file.h"
#include "app/window/export_dialog.h"
#include "app/window/gallery_window.h"
#include "app/window/hover_line.h"
#include "app/window/job_bar.h"
#include "app/window/keys_dialog.h"
#include "app/window/layouts.h"
#include "app/window/manual_window.h"
#include "app/window/notice_bar.h"
#include "app/window/recent_files.h"
#include "app/window/side_room.h"
#include "app/window/top_bar.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

constexpr int kLeftWidth = 292;
constexpr const char* kLastSession = "last-session.json";
constexpr int kRightWidth = 390, kWidestRight = 560;

}  // namespace

MainWindow::MainWindow(Session& session, Theme theme, QWidget* parent)
    : QMainWindow(parent),
      session_(session),
      spectra_(std::make_unique<SpectrumStore>(session)),
      recent_(new RecentFiles(this)),
      history_(new History(session, this)) {
  preferences_.theme = theme;
  setWindowTitle("Attnscope");
  setAcceptDrops(true);
  setDockNestingEnabled(true);
  resize(1600, 1000);
  // First: labels take the program's font when they are made.
  apply_look();
  make_commands();
  commands_->tint(colours_of(theme).text);
  place_panels();
  keep_panel_settings();
  layouts_ = new Layouts(*this, *commands_->menu(tr("&View"))->addMenu(tr("Layouts")));
  connect(&session_, &Session::failed, notice_, &NoticeBar::show_error);
  connect(history_, &History::changed, this, &MainWindow::show_history);
  show_history();
}

MainWindow::~MainWindow() { session_.set_panel_settings_source({}); }

void MainWindow::closeEvent(QCloseEvent* event) {
  if (presenting_) toggle_presentation();
  if (!remembered_.empty()) {
    side_room_->give_back();
    layouts_->remember_last();
    try {
      session_.save(remembered_ / kLastSession);
    } catch (const Error&) {
      // Closing must not fail for what is only a convenience.
    }
  }
  QMainWindow::closeEvent(event);
}

void MainWindow::place_panels() {
  auto* middle = new QWidget;
  auto* column = new QVBoxLayout(middle);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  notice_ = new NoticeBar;
  atlases_ = new AtlasArea(session_, *spectra_);
  column->addWidget(notice_);
  column->addWidget(new ComparisonBar(session_));
  column->addWidget(atlases_, 1);
  setCentralWidget(middle);
  connect(atlases_, &AtlasArea::open_wanted, this, &MainWindow::ask_for_model);
  connect(atlases_, &AtlasArea::samples_wanted, this, &MainWindow::open_samples);

  QMenu* shown_panels = commands_->menu(tr("&View"))->addMenu(tr("Panels"));
  std::map<PanelPlace, QDockWidget*> first_at;
  QList<QDockWidget*> lefts, besides;
  for (const PanelEntry& entry : panels()) {
    DockPanel* const panel = entry.make(session_, *spectra_);
    QDockWidget* const dock = dock_of(panel, entry.name, !entry.open);
    const bool left = entry.place == PanelPlace::models || entry.place == PanelPlace::inputs;
    if (entry.place == PanelPlace::beside) {
      addDockWidget(Qt::LeftDockWidgetArea, dock, Qt::Horizontal);
      besides << dock;
    } else {
      addDockWidget(left ? Qt::LeftDockWidgetArea : Qt::RightDockWidgetArea, dock);
      if (left) lefts << dock;
    }
    const auto [first, is_first] = first_at.emplace(entry.place, dock);
    if (!is_first) tabifyDockWidget(first->second, dock);
    dock->setVisible(entry.open);
    shown_panels->addAction(dock->toggleViewAction());
    panels_.push_back(panel);
  }
  for (const auto& [place, dock] : first_at) dock->raise();
  layout()->activate();  // else the first width is one with room for the docks that are closed
  side_room_ = new SideRoom(*this, lefts, besides);
  connect(findChild<LessonsPanel*>(), &LessonsPanel::panel_wanted, this,
          [this](const QString& name) {
            try {
              show_panel(name.toStdString());
            } catch (const Error& error) {
              notice_->show_error(QString::fromStdString(error.what()));
            }
          });
  auto* models = findChild<ModelsPanel*>();
  connect(models, &ModelsPanel::open_wanted, this, &MainWindow::ask_for_model);
  connect(findChild<InputsPanel*>(), &InputsPanel::open_wanted, this, &MainWindow::ask_for_input);
  auto* recent = new QMenu(tr("Open recent"), this);
  recent_->fill(recent, [this](const std::filesystem::path& file) { open_file(file); });
  QMenu* file_menu = commands_->menu(tr("&File"));
  file_menu->insertMenu(commands_->action("save_session"), recent);
  file_menu->insertSeparator(commands_->action("save_session"));
  models->set_recent_menu(recent);

  QAction* exporting = commands_->action("export");
  exporting->setProperty("texted", true);
  auto* bar =
      new TopBar(session_, {commands_->action("open_model"), commands_->action("open_input")},
                 {commands_->action("fit"), exporting, commands_->action("toggle_theme"),
                  commands_->action("keys")});
  addToolBar(Qt::TopToolBarArea, bar);
  statusBar()->setSizeGripEnabled(false);
  statusBar()->addWidget(new HoverLine(session_), 1);
  statusBar()->addPermanentWidget(new JobBar(session_.jobs()));
}

void MainWindow::keep_panel_settings() {
  // What is open and on what input, the session itself keeps.
  const auto kept = [](const PanelEntry& entry) {
    return entry.place != PanelPlace::models && entry.place != PanelPlace::inputs;
  };
  session_.set_panel_settings_source([this, kept] {
    PanelSettings settings;
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      const PanelEntry& entry = panels()[i];
      if (kept(entry)) settings[entry.name] = control_values(*panels_[i]->parentWidget());
    }
    std::erase_if(settings, [](const auto& panel) { return panel.second.empty(); });
    return settings;
  });
  connect(&session_, &Session::panel_settings_restored, this,
          [this, kept](const PanelSettings& settings) {
            for (std::size_t i = 0; i < panels_.size(); ++i) {
              const auto found = settings.find(panels()[i].name);
              if (kept(panels()[i]) && found != settings.end())
                set_control_values(*panels_[i]->parentWidget(), found->second);
            }
          });
}

void MainWindow::showEvent(QShowEvent* event) {
  QMainWindow::showEvent(event);
  if (arranged_) return;
  arranged_ = true;
  // Docks take sizes only once the window has one.
  const auto dock = [this](const char* name) {
    return findChild<QDockWidget*>(QLatin1String(name));
  };
  const int right = std::clamp(width() * 29 / 100, kRightWidth, kWidestRight);
  resizeDocks({dock("models"), dock("spectrum")}, {kLeftWidth, right}, Qt::Horizontal);
  const int room = height() - 120;
  resizeDocks({dock("models"), dock("inputs")}, {room * 55 / 100, room * 45 / 100}, Qt::Vertical);
  resizeDocks({dock("spectrum"), dock("query"), dock("ranks")},
              {room * 35 / 100, room * 35 / 100, room * 30 / 100}, Qt::Vertical);
  layouts_->set_default();
  if (!remembered_.empty()) layouts_->restore_last();
}

void MainWindow::apply_look() {
  constexpr double room = 1.6;  // larger, to be read from the last row
  apply_theme(
      *qobject_cast<QApplication*>(QApplication::instance()),
      {preferences_.theme, preferences_.text_scale * (presenting_ ? room : 1), presenting_});
  if (commands_) commands_->tint(colours_of(*this).text);
}

void MainWindow::set_theme(Theme theme) {
  preferences_.theme = theme;
  apply_look();
  write_preferences(preferences_);
}

void MainWindow::set_preferences(const Preferences& preferences) {
  preferences_ = preferences;
  apply_look();
  ViewSettings view = session_.view();
  view.colour_map = preferences.colour_map;
  view.rank_threshold = preferences.rank_threshold;
  view.first_layer = preferences.layers_from_one ? 1 : 0;
  session_.set_view(view);
}

void MainWindow::ask_for_preferences() {
  PreferencesDialog dialog(preferences_, this);
  if (dialog.exec() != QDialog::Accepted) return;
  set_preferences(dialog.preferences());
  write_preferences(preferences_);
}

void MainWindow::remember_between_runs(const std::filesystem::path& folder) {
  remembered_ = folder;
  const std::vector<std::filesystem::path> left = Autosave::left_behind(folder);
  autosave_ = new Autosave(session_, folder, this);
  if (left.empty()) return;
  const std::filesystem::path& latest = left.front();
  notice_->offer(tr("Attnscope ended unexpectedly the last time. What was open then can be opened "
                    "again."),
                 tr("Open it"), [this, latest] {
                   restore_unnamed(latest);
                   Autosave::discard(latest);
                 });
  for (std::size_t i = 1; i < left.size(); ++i) Autosave::discard(left[i]);
}

bool MainWindow::reopen_last() {
  std::error_code ignored;
  const std::filesystem::path last = remembered_ / kLastSession;
  if (remembered_.empty() || !std::filesystem::exists(last, ignored)) return false;
  restore_unnamed(last);
  return true;
}

void MainWindow::show_history() {
  const auto show = [this](const char* id, const QString& verb, const QString& what) {
    QAction* action = commands_->action(id);
    action->setEnabled(!what.isEmpty());
    action->setText(what.isEmpty() ? verb : verb + ": " + what);
  };
  show("undo", tr("&Undo"), history_->undo_text());
  show("redo", tr("Re&do"), history_->redo_text());
}

void MainWindow::show_manual(const QString& page) {
  if (!manual_) manual_ = new ManualWindow(this);
  manual_->show_page(page);
  manual_->show();
  manual_->raise();
}

void MainWindow::show_panel(const std::string& name) {
  auto* dock = findChild<QDockWidget*>(QString::fromStdString(name));
  if (!dock) throw unknown_name("panel", name, name_list(panels(), &PanelEntry::name));
  dock->show();
  dock->raise();
}

void MainWindow::open_lesson(const std::filesystem::path& file) {
  findChild<LessonsPanel*>()->open_lesson(file);
  show_panel("lessons");
}

bool MainWindow::settled() const {
  return session_.idle() && atlases_->settled() &&
         std::ranges::none_of(panels_, [](const DockPanel* panel) { return panel->is_behind(); });
}

void MainWindow::open_file(const std::filesystem::path& file) {
  switch (use_of(file)) {
    case FileUse::input:
      session_.set_input(input_locator_of(file));
      return;
    case FileUse::session:
      restore_session(file);
      return;
    case FileUse::model:
      recent_->add(file);
      session_.open(file);
      return;
  }
}

void MainWindow::open_samples() {
  const std::vector<std::filesystem::path> models = first_minute_models();
  const std::vector<std::filesystem::path> inputs = sample_inputs();
  if (models.empty() || inputs.empty()) {
    notice_->show_error(
        tr("The sample data is not installed; set ATTNSCOPE_SAMPLE_DATA to the "
           "folder sample_data of the source tree."));
    return;
  }
  if (!session_.input() && session_.input_locator().empty()) {
    session_.set_input(inputs.front().string());
  }
  for (const std::filesystem::path& model : models) session_.open(model);
}

void MainWindow::restore_session(const std::filesystem::path& file) {
  try {
    session_.restore(file);
    session_file_ = file;
    recent_->add(file);
    setWindowTitle(QString::fromStdString(file.stem().string()) + " – Attnscope");
  } catch (const Error& error) {
    notice_->show_error(QString::fromStdString(error.what()));
  }
}

void MainWindow::restore_unnamed(const std::filesystem::path& file) {
  try {
    session_.restore(file);
  } catch (const Error& error) {
    notice_->show_error(QString::fromStdString(error.what()));
  }
}

void MainWindow::ask_for_model() {
  const QStringList files = QFileDialog::getOpenFileNames(
      this, tr("Open models or traces"), QSettings().value("model_folder").toString(),
      tr("Weights and traces (*.safetensors *.pt *.pth *.bin *.h5 *.hdf5 *.npz *.json);;All files "
         "(*)"));
  for (const QString& file : files) {
    QSettings().setValue("model_folder", QFileInfo(file).absolutePath());
    const std::filesystem::path path = file.toStdString();
    recent_->add(path);
    session_.open(path);
  }
}

void MainWindow::ask_for_input() {
  const QString file = QFileDialog::getOpenFileName(
      this, tr("Open an input"), QSettings().value("input_folder").toString(),
      tr("Images, texts, arrays, data sets (*.png *.jpg *.jpeg *.txt *.md *.npy *.npz *.h5 *.hdf5 "
         "*.gz);;All files "
         "(*)"));
  if (file.isEmpty()) return;
  QSettings().setValue("input_folder", QFileInfo(file).absolutePath());
  session_.set_input(input_locator_of(file.toStdString()));
}

void MainWindow::save_session(bool ask) {
  std::filesystem::path file = session_file_;
  if (ask || file.empty()) {
    QString chosen = QFileDialog::getSaveFileName(this, tr("Save the session"), "session.json",
                                                  tr("Sessions (*.json)"));
    if (chosen.isEmpty()) return;
    if (QFileInfo(chosen).suffix().isEmpty()) chosen += ".json";
    file = chosen.toStdString();
  }
  try {
    session_.save(file);
    session_file_ = file;
    recent_->add(file);
    statusBar()->showMessage(tr("Saved %1").arg(QString::fromStdString(file.string())), 4000);
    setWindowTitle(QString::fromStdString(file.stem().string()) + " – Attnscope");
  } catch (const Error& error) {
    notice_->show_error(QString::fromStdString(error.what()));
  }
}

void MainWindow::ask_for_session() {
  const QString file = QFileDialog::getOpenFileName(this, tr("Restore a session"), QString(),
                                                    tr("Sessions (*.json)"));
  if (!file.isEmpty()) restore_session(file.toStdString());
}

void MainWindow::export_figure() {
  ExportDialog dialog(session_, this);
  connect(&dialog, &ExportDialog::exported, this, [this](const QString& file) {
    statusBar()->showMessage(tr("Wrote %1").arg(file), 6000);
  });
  dialog.exec();
}

void MainWindow::show_gallery() {
  if (gallery_ == nullptr) {
    gallery_ = new GalleryWindow(session_, this);
    connect(gallery_, &GalleryWindow::export_wanted, this,
            [this](const std::string& recipe, const ParameterValues& settings,
                   const std::vector<std::size_t>& subjects) {
              ExportDialog dialog(session_, gallery_);
              dialog.show_figure(recipe, settings, subjects);
              dialog.exec();
            });
  }
  gallery_->show();
  gallery_->raise();
}

void MainWindow::show_keys() {
  QList<QPair<QString, QString>> keys = commands_->keys();
  keys.removeIf([](const auto& key) { return key.second.size() == 1 && key.second[0].isDigit(); });
  keys.push_back({tr("Select a subject"), "1 – 9"});
  keys.push_back({tr("Blink: the reference's maps in place of the others'"), tr("Space")});
  keys.push_back({tr("Walk layers"), "↑ ↓"});
  keys.push_back({tr("Walk heads"), "← →"});
  keys.push_back({tr("Walk queries"), "Shift+arrows"});
  keys.push_back({tr("Into the lens and through its fields"), tr("Tab, then ← →")});
  keys.push_back({tr("Zoom, move, enlarge a map"), tr("wheel, drag, double click")});
  KeysDialog(keys, this).exec();
}

void MainWindow::show_about() {
  QMessageBox::about(
      this, tr("About Attnscope"),
      tr("<b>Attnscope %1</b><br>A microscope for transformer attention: what it looks like, what "
         "rank it has, and what it costs.<br><br>GPL-3.0-or-later.")
          .arg(ATTNSCOPE_VERSION));
}

void MainWindow::toggle_identity() {
  ViewSettings view = session_.view();
  const std::shared_ptr<const Trace> trace = session_.trace(session_.selection().subject);
  const bool shown =
      trace ? shows_identity(*trace, view.identity) : view.identity == IdentityView::with;
  view.identity = shown ? IdentityView::without : IdentityView::with;
  session_.set_view(view);
}

void MainWindow::pin_selected() {
  const std::int64_t selected = session_.selection().subject;
  session_.set_reference(session_.reference() == selected ? -1 : selected);
}

void MainWindow::toggle_difference() {
  const std::int64_t others = std::ssize(session_.subjects());
  if (session_.reference() < 0 && others >= 2) session_.set_reference(0);
  ViewSettings view = session_.view();
  view.comparison =
      view.comparison == ComparisonView::maps ? ComparisonView::difference : ComparisonView::maps;
  session_.set_view(view);
}

void MainWindow::toggle_presentation() {
  presenting_ = !presenting_;
  if (presenting_) {
    before_presenting_ = saveState();
    // The maps and what is spoken about; the rest is for whoever sits at the machine.
    const QDockWidget* const lessons = findChild<QDockWidget*>("lessons");
    for (QDockWidget* dock : findChildren<QDockWidget*>()) {
      if (dock != lessons && dock->objectName() != "spectrum") dock->hide();
    }
  }
  apply_look();
  if (!presenting_) restoreState(before_presenting_);
}

void MainWindow::select_subject(std::int64_t subject) {
  if (subject >= std::ssize(session_.subjects())) return;
  Selection selection = session_.selection();
  selection.subject = subject;
  session_.select(selection);
}

void MainWindow::select_class_token() {
  Selection selection = session_.selection();
  selection.query = 0;
  session_.select(selection);
}

void MainWindow::walk(std::int64_t layers, std::int64_t heads) {
  Selection selection = session_.selection();
  selection.layer += layers;
  selection.head += heads;
  session_.select(selection);
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Up:
      return walk(-1, 0);
    case Qt::Key_Down:
      return walk(1, 0);
    case Qt::Key_Left:
      return walk(0, -1);
    case Qt::Key_Right:
      return walk(0, 1);
    case Qt::Key_Space:
      return AtlasLink::of(session_).blink();
    default:
      QMainWindow::keyPressEvent(event);
  }
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) {
      open_file(url.toLocalFile().toStdString());
    } else {
      notice_->show_error(tr("Only files on this machine can be dropped: %1").arg(url.toString()));
    }
  }
  event->acceptProposedAction();
}

}  // namespace attnscope
