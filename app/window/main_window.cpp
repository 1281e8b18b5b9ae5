#include "app/window/main_window.h"

#include <QApplication>
#include <QClipboard>
#include <QDesktopServices>
#include <QDockWidget>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QScreen>
#include <QStatusBar>
#include <QTimer>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "analysis/html/trace_page.h"
#include "app/canvas/atlas_link.h"
#include "app/canvas/scale_strip.h"
#include "app/panels/frame/figure_panel.h"
#include "app/panels/frame/highlight.h"
#include "app/panels/models/subject_dialogs.h"
#include "app/session/comparison_store.h"
#include "app/session/history.h"
#include "app/session/job_queue.h"
#include "app/session/linked_cursor.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"
#include "app/session/spectrum_store.h"
#include "app/session/watched_files.h"
#include "app/widgets/file_to_save.h"
#include "app/widgets/focus_ring.h"
#include "app/widgets/wheel_guard.h"
#include "app/window/atlas_area.h"
#include "app/window/commands.h"
#include "app/window/comparison_bar.h"
#include "app/window/enlargement.h"
#include "app/window/export_dialog.h"
#include "app/window/export_target.h"
#include "app/window/first_minute.h"
#include "app/window/frame_pace.h"
#include "app/window/gallery_window.h"
#include "app/window/layouts.h"
#include "app/window/manual_window.h"
#include "app/window/map_menu.h"
#include "app/window/notice_bar.h"
#include "app/window/page_composer.h"
#include "app/window/panel_docks.h"
#include "app/window/recent_files.h"
#include "app/window/status_bar.h"
#include "app/window/top_bar.h"
#include "app/window/view_menus.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/overwrite.h"

namespace attnscope {

namespace {

// Key of the atlases' settings in a session file, which also holds the panels' settings.
constexpr const char* kAtlases = "atlases";
constexpr const char* kLens = "Lens";
constexpr QSize kLeastMiddle(240, 200);  // pixels
constexpr std::string_view kLessons = "lessons";

/// Letters of a presentation, to be read from the last row: the fewer pixels the screen has, the
/// larger each of them is there already. In steps, so that a drag of the window changes few.
double scale_for_room(int width) {
  constexpr double kLeast = 1.25, kMost = 1.6, kSteps = 20;
  constexpr int kWide = 1600;  // pixels
  return std::clamp(std::round(kSteps * kMost * width / kWide) / kSteps, kLeast, kMost);
}

}  // namespace

MainWindow::MainWindow(Session& session, Theme theme, QWidget* parent)
    : QMainWindow(parent),
      session_(session),
      spectra_(std::make_unique<SpectrumStore>(session)),
      comparisons_(std::make_unique<ComparisonStore>(session)),
      link_(std::make_unique<AtlasLink>(session, *comparisons_)),
      recent_(new RecentFiles(this)),
      history_(new History(session, this)),
      recent_menu_(new QMenu(tr("Open recent"), this)) {
  new FocusRing(this);
  link_->print_numbers_of(*spectra_);
  preferences_.theme = theme;
  setWindowTitle("Attnscope");
  setAcceptDrops(true);
  // Animated docks are off, because an animation would redraw every atlas many times.
  setDockOptions(AllowNestedDocks | AllowTabbedDocks);
  resize(1600, 1000);
  setStatusBar(new LowStatusBar);
  // The look is applied first, because labels take the program's font when they are created.
  apply_look();
  qApp->installEventFilter(new WheelGuard(this));
  auto* const pace = new FramePace(*this, session_.jobs());
  connect(&session_, &Session::weights_coming, pace, &FramePace::collect);
  new TextEnd(session_, this);
  new WatchedFiles(session_, this);
  recent_->fill(recent_menu_, [this](const std::filesystem::path& file) { open_file(file); });
  docks_ = new PanelDocks(*this, {session_, *spectra_, *comparisons_, *link_, *recent_menu_});
  menus_ = new QMenuBar(this);
  make_commands();
  commands_->tint(colours_of(theme).text);
  view_menus_ = new ViewMenus(session_, *commands_->menu(tr("&View")));
  view_menus_->numbers().addAction(commands_->action("map_number"));
  place_everything();
  keep_panel_settings();
  layouts_ = new Layouts(*this, *commands_->menu(tr("&View"))->addMenu(tr("Layouts")));
  connect(layouts_, &Layouts::changed, docks_, &PanelDocks::take_layout);
  connect(layouts_, &Layouts::changing, this, [this] {
    enlargement_->leave();
    docks_->restore_sides();
  });
  connect(layouts_, &Layouts::changed, this, [this] { before_lessons_.reset(); });
  // The dock closes only after it has said so.
  connect(
      docks_, &PanelDocks::closed, this,
      [this](const std::string& name) {
        if (name == kLessons) lessons_closed();
      },
      Qt::QueuedConnection);
  connect(&session_, &Session::failed, notice_, &NoticeBar::show_error);
  connect(history_, &History::changed, this, &MainWindow::show_history);
  show_history();
}

MainWindow::~MainWindow() {
  // A visible window would pass the mouse on to the widgets that are left.
  hide();
  session_.set_panel_settings_source({});
  // The widgets are deleted before the stores, which are members that they use.
  delete docks_;
  delete takeCentralWidget();
}

void MainWindow::place_everything() {
  // The panels are created first; meanwhile the graphics driver that the atlases need is loading.
  docks_->place();
  auto* middle = new QWidget;
  auto* column = new QVBoxLayout(middle);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  notice_ = new NoticeBar;
  auto* const samples = new QMenu(tr("Sample &models"), this);
  fill_samples(*samples);
  atlases_ = new AtlasArea(session_, *spectra_, *link_, *samples);
  atlases_->offer_numbers(view_menus_->numbers());
  drop_highlight_ = new Highlight(*this, session_);
  first_minute_ = new FirstMinuteCard(*samples, *new Highlight(*this, session_));
  column->addWidget(notice_);
  column->addWidget(new ComparisonBar(session_, *link_));
  column->addWidget(atlases_, 1);
  column->addWidget(first_minute_);
  // Contents of the middle shrink or are hidden if they do not fit, but never widen the window.
  middle->setMinimumSize(kLeastMiddle);
  setCentralWidget(middle);

  map_menu_ = new MapMenu(session_, *link_, *this);
  connect(map_menu_, &MapMenu::export_wanted, this, &MainWindow::export_so);
  connect(map_menu_, &MapMenu::panel_wanted, docks_, &PanelDocks::panel_wanted);
  connect(docks_, &PanelDocks::export_wanted, this, &MainWindow::export_so);
  connect(docks_, &PanelDocks::rename_wanted, this, [this](const QString& name) {
    for (const OpenSubject& open : session_.subjects()) {
      if (open.subject.label != name.toStdString()) continue;
      return ask_for_name(this, session_, open.id);
    }
  });
  enlargement_ = new Enlargement(*this, *docks_, *atlases_);
  // Lessons speak of rows of layers.
  connect(findChild<QDockWidget*>("lessons"), &QDockWidget::visibilityChanged, link_.get(),
          &AtlasLink::keep_rows);
  connect(docks_, &PanelDocks::content_changed, this, &MainWindow::enable_panel_commands);
  const auto run_command = [this](const QString& id) {
    if (QAction* const action = commands_->action(id)) action->trigger();
  };
  connect(docks_, &PanelDocks::command_wanted, this, run_command);
  connect(atlases_, &AtlasArea::command_wanted, this, run_command);
  connect(first_minute_, &FirstMinuteCard::command_wanted, this, run_command);
  const auto bring_panel = [this](const QString& name) {
    try {
      show_panel(name.toStdString());
    } catch (const Error& error) {
      notice_->show_error(QString::fromStdString(error.what()));
    }
  };
  connect(docks_, &PanelDocks::panel_wanted, this, bring_panel);
  connect(docks_, &PanelDocks::manual_wanted, this, &MainWindow::show_manual);
  connect(first_minute_, &FirstMinuteCard::panel_wanted, this, bring_panel);
  QMenu* file_menu = commands_->menu(tr("&File"));
  file_menu->insertMenu(commands_->action("save_session"), recent_menu_);
  file_menu->insertMenu(commands_->action("save_session"), samples);
  file_menu->insertSeparator(commands_->action("save_session"));

  QAction* exporting = commands_->action("export");
  exporting->setProperty("texted", true);
  auto* bar = new TopBar(session_, menus_, {commands_->action("open_model")},
                         {commands_->action("lens"), exporting, commands_->action("left_side"),
                          commands_->action("right_side")});
  addToolBar(Qt::TopToolBarArea, bar);
  statusBar()->setSizeGripEnabled(false);
  statusBar()->addWidget(new HoverLine(session_, *link_), 1);
  auto* const jobs = new JobBar(session_.jobs(), [this] { return anything_stopped(); });
  connect(jobs, &JobBar::resume_wanted, this, [this] {
    session_.resume();
    spectra_->resume();
    comparisons_->resume();
    for (DockPanel* panel : findChildren<DockPanel*>()) panel->resume();
  });
  statusBar()->addPermanentWidget(jobs);
  auto* const strip = new ScaleStrip(session_, *link_);
  strip->setToolTip(tr("Colours of the maps: click to choose"));
  open_on_click(*strip, view_menus_->colours());
  statusBar()->addPermanentWidget(strip);
}

bool MainWindow::anything_stopped() const {
  return session_.input_stopped() ||
         std::ranges::any_of(session_.subjects(),
                             [this](const OpenSubject& open) {
                               return open.stopped || spectra_->is_stopped(open.id);
                             }) ||
         comparisons_->is_stopped() ||
         std::ranges::any_of(findChildren<DockPanel*>(), &DockPanel::is_stopped);
}

void MainWindow::keep_panel_settings() {
  session_.set_panel_settings_source([this] {
    PanelSettings settings = docks_->settings();
    settings[kAtlases][kLens] = link_->lens_open() ? "open" : "closed";
    return settings;
  });
  connect(&session_, &Session::restored, this, [this](const PanelSettings& settings) {
    docks_->restore_settings(settings);
    const auto atlases = settings.find(kAtlases);
    const bool says = atlases != settings.end() && atlases->second.contains(kLens);
    link_->set_lens_open(says && atlases->second.at(kLens) == "open");
  });
}

void MainWindow::resize_within_screen(QSize wanted) {
  // The frame's size is known only after the window is shown; this one is larger than the usual.
  constexpr QSize kFrame(8, 44);
  resize(wanted.boundedTo(screen()->availableSize() - kFrame));
}

void MainWindow::showEvent(QShowEvent* event) {
  QMainWindow::showEvent(event);
  if (arranged_) return;
  arranged_ = true;
  docks_->arrange();  // docks accept sizes only once the window has one
  layouts_->set_default();
  if (!remembered_.empty()) layouts_->restore_last();
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  if (!arranged_ || enlargement_->is_on()) return;
  if (presenting_) {
    if (scale_for_room(width()) != presented_scale_) apply_look();
    return docks_->share_room();
  }
  if (before_presenting_ && size() == size_before_presenting_) {
    docks_->put_back(*before_presenting_);
  } else {
    docks_->follow_window();
  }
}

void MainWindow::apply_look() {
  // A wait cursor is shown, because Qt polishes every widget again, which takes a moment.
  QApplication::setOverrideCursor(Qt::WaitCursor);
  presented_scale_ = presenting_ ? scale_for_room(width()) : 1;
  apply_theme(*qobject_cast<QApplication*>(QApplication::instance()),
              {preferences_.theme, preferences_.text_scale * presented_scale_, presenting_});
  if (commands_) commands_->tint(colours_of(*this).text);
  // The status bar has a single line, to leave space for the maps.
  constexpr int kAroundText = 1;  // pixels: the line above
  statusBar()->setFixedHeight(QFontMetrics(QApplication::font()).height() + kAroundText);
  QApplication::restoreOverrideCursor();
}

void MainWindow::set_theme(Theme theme) {
  preferences_.theme = theme;
  apply_look();
  write_preferences(preferences_);
}

void MainWindow::set_preferences(const Preferences& preferences) {
  const bool other_letters = preferences.text_scale != preferences_.text_scale;
  preferences_ = preferences;
  apply_look();
  // Panels widened by larger letters would otherwise stay wide.
  if (other_letters && arranged_ && !presenting_) {
    QTimer::singleShot(0, docks_, &PanelDocks::take_usual_widths);
  }
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
  enlargement_->leave();
  docks_->show(name);
  if (presenting_) docks_->present(name);
}

void MainWindow::show_lessons() {
  first_minute_->hide();  // one guide at a time
  const auto* const dock = findChild<QDockWidget*>(QString::fromUtf8(kLessons));
  if (presenting_ || !dock->isHidden()) return show_panel(std::string(kLessons));
  enlargement_->leave();
  docks_->restore_sides();
  const DockPlaces before = docks_->places();
  for (const WorkLayout& layout : work_layouts()) {
    if (layout.beside != nullptr && layout.beside == kLessons) layouts_->go_to(layout);
  }
  before_lessons_ = before;
}

void MainWindow::lessons_closed() {
  if (!before_lessons_) return;
  const DockPlaces before = *std::exchange(before_lessons_, std::nullopt);
  if (presenting_) {
    before_presenting_ = before;
  } else {
    docks_->put_back(before);
  }
}

void MainWindow::open_document(const std::filesystem::path& file) { docks_->open_document(file); }

bool MainWindow::settled() const {
  return session_.idle() && comparisons_->settled() && atlases_->settled() && docks_->settled();
}

void MainWindow::export_figure() {
  // The exported figure is what the user works with: the focused figure, the enlarged map, or the
  // selected maps.
  if (FigurePanel* const figure = PanelDocks::figure_with_keys(); figure && figure->figure()) {
    return figure->want_export();
  }
  ParameterValues settings = shown_map_settings(session_);
  const bool some = session_.selection().to || link_->shows_one_map();
  if (!some) {
    settings.erase("layers");
    settings["heads"] = std::string("all");
  }
  export_so("attention-maps", settings);
}

void MainWindow::export_so(const std::string& recipe, const ParameterValues& settings,
                           const std::vector<std::size_t>& subjects) {
  ExportDialog dialog(session_, this);
  connect(&dialog, &ExportDialog::exported, this, &MainWindow::show_exported);
  // The composer opens once this dialog is closed.
  connect(&dialog, &ExportDialog::page_wanted, this, &MainWindow::compose_page,
          Qt::QueuedConnection);
  dialog.show_figure(recipe, settings, subjects);
  dialog.exec();
}

void MainWindow::export_html() {
  const FigureRequest request = request_of(session_);
  if (request.subjects.empty()) {
    return notice_->show_error(tr("A page shows maps: open a model and an input first."));
  }
  QStringList models;
  for (const Subject& subject : request.subjects) models << QString::fromStdString(subject.label);
  const QString file =
      file_to_save(this, tr("Export as HTML"), proposed_name("maps", models) + ".html",
                   tr("Pages of HTML (*.html)"), ".html");
  if (file.isEmpty()) return;
  try {
    refuse_to_overwrite_read(file.toStdString());
  } catch (const Error& error) {
    return notice_->show_error(QString::fromStdString(error.what()));
  }
  TracePageOptions options;
  options.identity = session_.view().identity;
  options.shown.threshold = session_.view().rank_threshold;
  options.out = file.toStdString();
  session_.jobs().submit(
      tr("Exporting %1").arg(QFileInfo(file).fileName()),
      [this, request, options, file](const Progress& progress) -> JobQueue::Delivery {
        write_file(file.toStdString(), trace_page(request, options, progress));
        return [this, file] { show_exported(file); };
      },
      [this](const JobFailure& failure) {
        if (!failure.cancelled) notice_->show_error(QString::fromStdString(failure.what));
      },
      this);
}

void MainWindow::compose_page() {
  PageComposer composer(session_, this);
  connect(&composer, &PageComposer::exported, this, &MainWindow::show_exported);
  composer.exec();
}

void MainWindow::show_exported(const QString& file) {
  const auto open = [this](const QString& path) {
    if (QDesktopServices::openUrl(QUrl::fromLocalFile(path))) return;
    notice_->show_error(tr("No program of this desktop opens %1.").arg(path));
  };
  // No name of a file breaks into lines; one of 60 characters leaves room for the buttons.
  const QString name = fontMetrics().elidedText(QFileInfo(file).fileName(), Qt::ElideMiddle, 320);
  notice_->show_note(
      tr("Exported %1").arg(name),
      {{tr("Open"), [open, file] { open(file); }},
       {tr("Show in folder"), [open, file] { open(QFileInfo(file).absolutePath()); }},
       {tr("Copy path"), [file] { QApplication::clipboard()->setText(file); }}});
}

void MainWindow::show_gallery() {
  if (gallery_ == nullptr) {
    gallery_ = new GalleryWindow(session_, this);
    connect(gallery_, &GalleryWindow::export_wanted, this,
            [this](const std::string& recipe, const ParameterValues& settings,
                   const std::vector<std::size_t>& subjects) {
              ExportDialog dialog(session_, gallery_);
              connect(&dialog, &ExportDialog::exported, this, &MainWindow::show_exported);
              connect(&dialog, &ExportDialog::page_wanted, this, &MainWindow::compose_page,
                      Qt::QueuedConnection);
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
  keys.removeIf([](const auto& key) { return key.first.startsWith(tr("Your layout")); });
  keys.push_back({tr("Your layouts"), "Ctrl+5 – 9"});
  keys.push_back({tr("Select a model"), "1 – 9"});
  keys.push_back({tr("Blink: the reference's maps in place of the others'"), tr("Space")});
  keys.push_back({tr("Previous, next layer"), "↑ ↓"});
  keys.push_back({tr("Previous, next head"), "← →"});
  keys.push_back({tr("Previous, next query"), "Shift+arrows"});
  keys.push_back({tr("Copy the value under the cursor"), "Ctrl+C"});
  keys.push_back({tr("Into the lens and through its fields"), tr("Tab, then ← →")});
  keys.push_back({tr("Zoom, move, enlarge a map"), tr("wheel, drag, double click")});
  keys.push_back({tr("Several maps at once"), tr("Shift and a click or a drag")});
  keys.push_back({tr("Zoom a plot, reset"), tr("wheel, double click")});
  keys.push_back({tr("Context menu of a map, a plot, a model"), tr("right button")});
  keys.push_back({tr("Maximise or restore a panel or a model"), tr("double click on its title")});
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
  const IdentityView before = view.identity;
  if (identity_toggle_ && identity_toggle_->after == before) {
    view.identity = identity_toggle_->before;
    identity_toggle_.reset();
  } else {
    const std::shared_ptr<const Trace> trace = session_.trace(session_.selection().subject);
    const bool shown = trace ? shows_identity(*trace, before) : before == IdentityView::with;
    view.identity = shown ? IdentityView::without : IdentityView::with;
    identity_toggle_ = {before, view.identity};
  }
  session_.set_view(view);
}

void MainWindow::next_map_number() {
  ViewSettings view = session_.view();
  constexpr int kCount = std::size(map_number_names);
  view.map_number = static_cast<MapNumber>((static_cast<int>(view.map_number) + 1) % kCount);
  session_.set_view(view);
  static constexpr const char* kSaid[] = {
      QT_TR_NOOP("No number on the maps"), QT_TR_NOOP("On each map: its equivalent rank at τ"),
      QT_TR_NOOP("On each map: its effective rank, exp of the entropy of its singular values"),
      QT_TR_NOOP("On each map: its stable rank, ‖A‖²_F / σ₁²"),
      QT_TR_NOOP("On each map: the mean entropy of its rows, in nats")};
  statusBar()->showMessage(tr(kSaid[static_cast<std::size_t>(view.map_number)]), 4000);
}

void MainWindow::toggle_sorted() {
  ViewSettings view = session_.view();
  view.sorted_by_number = !view.sorted_by_number;
  if (view.map_number == MapNumber::none) view.map_number = MapNumber::equivalent_rank;
  session_.set_view(view);
  statusBar()->showMessage(view.sorted_by_number
                               ? tr("Maps in the order of their numbers, named layer · head")
                               : tr("Maps by layer and head"),
                           4000);
}

void MainWindow::pin_selected() {
  const SubjectId selected = session_.selection().subject;
  session_.set_reference(session_.reference() == selected ? SubjectId::none : selected);
}

void MainWindow::toggle_difference() {
  const std::vector<OpenSubject>& subjects = session_.subjects();
  if (session_.reference() == SubjectId::none && subjects.size() >= 2) {
    session_.set_reference(subjects.front().id);
  }
  ViewSettings view = session_.view();
  view.comparison =
      view.comparison == ComparisonView::maps ? ComparisonView::difference : ComparisonView::maps;
  session_.set_view(view);
}

void MainWindow::toggle_presentation() {
  enlargement_->leave();
  presenting_ = !presenting_;
  setUpdatesEnabled(false);  // redrawn once at the end
  if (presenting_) {
    before_presenting_ = docks_->places();
    size_before_presenting_ = size();
    state_before_presenting_ = windowState();
    docks_->hold_still(true);
    setWindowState(windowState() | Qt::WindowFullScreen);
    apply_look();
    docks_->present();
  } else {
    setWindowState(state_before_presenting_);
    apply_look();
    docks_->put_back(*before_presenting_);
    docks_->hold_still(false);
  }
  setUpdatesEnabled(true);
  // The letters' sizes count in the layout from the next events on, the window's own size when the
  // desktop has changed it.
  QTimer::singleShot(0, this, [this] {
    if (presenting_) return docks_->share_room();
    if (before_presenting_) docks_->put_back(*before_presenting_);
  });
  if (presenting_) return;
  constexpr int kWindowResizedMs = 1000;
  QTimer::singleShot(kWindowResizedMs, this, [this] {
    if (!presenting_) before_presenting_.reset();
  });
}

void MainWindow::select_subject(std::size_t place) {
  if (place >= session_.subjects().size()) return;
  const Selection& selection = session_.selection();
  session_.select_map(session_.subjects()[place].id, selection.layer, selection.head);
}

void MainWindow::walk(std::int64_t layers, std::int64_t heads) {
  if (heads != 0 && link_->shows_one_map()) return link_->step_map(static_cast<int>(heads));
  const Selection& selection = session_.selection();
  session_.select_map(selection.subject, selection.layer + layers, selection.head + heads);
}

bool MainWindow::focusNextPrevChild(bool next) {
  // A dock behind another tab is not hidden but outside the window, as may be its tab bar.
  const auto is_behind = [](const QWidget* widget) {
    while (widget != nullptr && !widget->inherits("QDockWidget") && !widget->inherits("QTabBar")) {
      widget = widget->parentWidget();
    }
    return widget != nullptr && widget->visibleRegion().isEmpty();
  };
  const QWidget* const from = QApplication::focusWidget();
  do {
    if (!QMainWindow::focusNextPrevChild(next)) return false;
  } while (QApplication::focusWidget() != from && is_behind(QApplication::focusWidget()));
  return true;
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    const QString copied = map_menu_->copy_value();
    statusBar()->showMessage(
        copied.isEmpty() ? tr("Point at a map to copy its value") : tr("Copied %1").arg(copied),
        4000);
    return;
  }
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
      return link_->blink();
    case Qt::Key_Escape:
      if (link_->shows_one_map()) return link_->fit();
      if (enlargement_->leave()) return;
      if (presenting_) return toggle_presentation();
      return QMainWindow::keyPressEvent(event);
    default:
      QMainWindow::keyPressEvent(event);
  }
}

}  // namespace attnscope
