#include "app/window/panel_docks.h"

#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QEvent>
#include <QLayout>
#include <QMainWindow>
#include <QResizeEvent>
#include <QTabBar>
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "app/look/theme.h"
#include "app/panels/frame/dock_panel.h"
#include "app/panels/frame/figure_panel.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

// Minimum window widths in pixels at the default font size while a reading dock is open: for both
// side columns, and for the right column only.
constexpr int kThreeColumns = 1560, kTwoColumns = 1180;
// Minimum window widths without a reading dock: for both side columns, and for the right column
// only.
constexpr int kBothSides = 1180, kRightSide = 900;

/// Height of the tabs of a dock's group, which QMainWindow::resizeDocks counts as the dock's; 0
/// without tabs.
int tab_bar_height(const QMainWindow& window, const QDockWidget& dock) {
  constexpr int kNear = 8;  // pixels between a dock and its tabs, at most
  for (const auto* bar : window.findChildren<QTabBar*>(Qt::FindDirectChildrenOnly)) {
    const bool below = std::abs(bar->geometry().top() - dock.geometry().bottom()) <= kNear;
    const bool beside = bar->geometry().left() < dock.geometry().right() &&
                        bar->geometry().right() > dock.geometry().left();
    if (bar->isVisible() && below && beside) return bar->height();
  }
  return 0;
}

bool dock_is_open(const QDockWidget* dock) { return dock->toggleViewAction()->isChecked(); }

// Widths in pixels. With narrow sides, the maps of two models get half of a window of 1280 × 800.
constexpr int kLeftWidth = 250, kNarrowLeft = 206;
constexpr int kNarrowRight = 294, kWidestRight = 560, kPercentRight = 23;
constexpr int kNarrow = 1400;       // below this window width the left side is narrow
constexpr int kAboveAndBelow = 70;  // part of the window's height that is not docks
/// Width of a dock in a presentation, the larger of both; the maps have the rest.
struct PresentedWidth {
  int percent;  ///< percentage of the window
  int least;    ///< pixels at the default font size
};
constexpr PresentedWidth kPresentedRead{38, 400}, kPresentedRight{24, 264}, kPresentedLeft{18, 190};

bool is_left(PanelPlace place) {
  return place == PanelPlace::models || place == PanelPlace::inputs || place == PanelPlace::answer;
}

QList<FigurePanel*> figures_in(DockPanel& panel) {
  QList<FigurePanel*> figures = panel.findChildren<FigurePanel*>();
  if (auto* figure = qobject_cast<FigurePanel*>(&panel)) figures << figure;
  return figures;
}

}  // namespace

SideLayout::SideLayout(QMainWindow& window, QList<QDockWidget*> left, QList<QDockWidget*> right,
                       QList<QDockWidget*> read)
    : QObject(&window),
      window_(window),
      left_{std::move(left), kBothSides, kThreeColumns, kNarrowLeft},
      right_{std::move(right), kRightSide, kTwoColumns, kNarrowRight},
      read_(std::move(read)) {
  window_.installEventFilter(this);
  for (QDockWidget* dock : left_.docks + right_.docks) dock->installEventFilter(this);
  for (QDockWidget* dock : read_) {
    connect(dock->toggleViewAction(), &QAction::toggled, this, [this, dock](bool open) {
      if (still_ || !window_.isVisible()) return;
      if (open && !reading_) begin_reading();
      arrange(open);
      if (open) widen(dock);
      if (reading_ && !reading()) end_reading();
    });
  }
}

bool SideLayout::hold_still(bool still) { return std::exchange(still_, still); }

bool SideLayout::reading() const { return std::ranges::any_of(read_, dock_is_open); }

void SideLayout::begin_reading() {
  reading_ = true;
  before_ = sizes_;
  // A dock behind a tab has its size from the one in front.
  before_.removeIf([](auto one) { return one.key()->visibleRegion().isEmpty(); });
  for (auto one = before_.begin(); one != before_.end(); ++one) {
    one.value().rheight() += tab_bar_height(window_, *one.key());
  }
}

void SideLayout::end_reading() {
  reading_ = false;
  QList<QDockWidget*> docks;
  QList<int> widths, heights;
  for (auto one = before_.cbegin(); one != before_.cend(); ++one) {
    if (!one.key()->isVisible() || one.key()->isFloating()) continue;
    docks << one.key();
    widths << one.value().width();
    heights << one.value().height();
  }
  before_.clear();
  window_.resizeDocks(docks, widths, Qt::Horizontal);
  // Hidden docks were one above the other, so Qt restores them only with their minimum heights.
  window_.resizeDocks(docks, heights, Qt::Vertical);
}

void SideLayout::widen(QDockWidget* dock) {
  // All docks of the side are listed, because Qt would take the space from those that are not.
  QList<QDockWidget*> docks = {dock};
  if (left_.away.empty()) docks << left_.docks;
  QList<int> widths;
  for (QDockWidget* one : docks) {
    widths << (one == dock ? one->widget()->sizeHint().width()
                           : before_.value(one, one->size()).width());
  }
  window_.resizeDocks(docks, widths, Qt::Horizontal);
}

void SideLayout::restore(Side& side) {
  if (side.away.empty()) return;
  for (QDockWidget* dock : std::exchange(side.away, {})) dock->show();
  QList<QDockWidget*> in_front = std::exchange(side.in_front, {});
  for (QDockWidget* dock : in_front) dock->raise();
  if (reading()) return;
  // A reading dock may have left its own width there.
  in_front.removeIf([](const QDockWidget* dock) { return dock->isFloating(); });
  window_.resizeDocks(in_front, QList<int>(in_front.size(), side.width), Qt::Horizontal);
}

void SideLayout::restore() {
  restore(left_);
  restore(right_);
}

bool SideLayout::eventFilter(QObject* watched, QEvent* event) {
  if (watched == &window_) {
    const bool letters = event->type() == QEvent::FontChange;
    if (letters || event->type() == QEvent::Resize || event->type() == QEvent::Show) arrange();
  } else if (event->type() == QEvent::Resize && !reading_) {
    // A dock that becomes visible is resized before its visibility changes.
    auto* const dock = static_cast<QDockWidget*>(watched);
    if (std::ranges::all_of(read_, &QDockWidget::isHidden) && !dock->visibleRegion().isEmpty()) {
      sizes_[dock] = dock->size();
    }
  }
  return QObject::eventFilter(watched, event);
}

void SideLayout::arrange(bool again) {
  // Nothing is arranged while the window itself is hidden, because no dock counts as open then.
  if (still_ || !window_.isVisible()) return;
  const bool reads = reading();
  // Columns grow with the font size, so fewer of them fit next to the maps.
  const double room = window_.width() / text_scale_of(window_.font());
  for (Side* side : {&left_, &right_}) {
    if (room < (reads ? side->least_beside : side->least_width)) {
      put_away(*side, again);
    } else {
      restore(*side);
    }
  }
}

void SideLayout::put_away(Side& side, bool again) {
  if (!side.away.empty() && !again) return;
  const auto known = std::ranges::find_if(side.docks, [this](QDockWidget* dock) {
    return sizes_.contains(dock) && dock_is_open(dock);
  });
  if (known != side.docks.end()) side.width = std::max(side.width, sizes_[*known].width());
  for (QDockWidget* dock : side.docks) {
    if (!dock_is_open(dock)) continue;
    if (!side.away.contains(dock)) side.away.push_back(dock);
    if (!dock->visibleRegion().isEmpty()) side.in_front.push_back(dock);
  }
  for (QDockWidget* dock : side.away) dock->hide();
}

PanelDocks::PanelDocks(QMainWindow& window, const PanelContext& context)
    : QObject(&window), window_(window), context_(context) {
  docks_.reserve(panels().size());
  for (const PanelEntry& entry : panels()) {
    PanelDock& one = docks_.emplace_back(
        PanelDock{&entry, empty_dock(window, QObject::tr(entry.title), entry.name)});
    QStringList pages;
    for (const PanelPage& page : entry.pages) pages << page.name;
    one.dock->setProperty("pages", pages);  // Highlight finds the dock of a page
    one.dock->installEventFilter(this);
    connect(one.dock, &QDockWidget::visibilityChanged, this, [this, &one](bool seen) {
      if (!seen) return;
      made(one).come_to_front();
      for (FigurePanel* figure : figures_in(*one.panel)) figure->come_to_front();
    });
    // The panel is created before other receivers of the signal ask for its size.
    connect(one.dock->toggleViewAction(), &QAction::toggled, this, [this, &one](bool open) {
      if (open && one.entry->place == PanelPlace::beside) made(one);
      if (!open) one.asked_for = false;
      content_.start();
    });
  }
  content_.setSingleShot(true);
  content_.setInterval(0);
  connect(&content_, &QTimer::timeout, this, &PanelDocks::follow_content);
  const auto soon = [this] { content_.start(); };
  connect(&context_.session, &Session::subjects_changed, this, soon);
  connect(&context_.session, &Session::selection_changed, this, [this] {
    const SubjectId selected = context_.session.selection().subject;
    if (std::exchange(selected_, selected) != selected) content_.start();
  });
  connect(&context_.session, &Session::trace_ready, this, soon);
}

DockPanel& PanelDocks::made(PanelDock& one) {
  if (one.panel) return *one.panel;
  DockPanel* const panel = one.panel = one.entry->make(context_);
  fill_dock(*one.dock, *panel);
  panel->header()->installEventFilter(this);
  connect(panel, &DockPanel::command_wanted, this, &PanelDocks::command_wanted);
  connect(panel, &DockPanel::panel_wanted, this, &PanelDocks::panel_wanted);
  connect(panel, &DockPanel::manual_wanted, this, &PanelDocks::manual_wanted);
  connect(panel, &DockPanel::export_wanted, this, &PanelDocks::export_wanted);
  for (FigurePanel* figure : figures_in(*panel)) {
    if (figure != panel) {
      connect(figure, &DockPanel::export_wanted, this, &PanelDocks::export_wanted);
    }
    connect(figure, &FigurePanel::rename_wanted, this, &PanelDocks::rename_wanted);
  }
  connect(panel, &DockPanel::enlarge_wanted, this, [this, dock = one.dock](bool only_back) {
    only_back ? emit place_wanted() : emit enlarge_wanted(dock);
  });
  if (!one.settings.empty()) panel->restore_settings(one.settings);
  return *panel;
}

PanelDocks::~PanelDocks() {
  delete side_layout_;  // it refers to the docks
  for (const PanelDock& one : docks_) delete one.dock;
}

QDockWidget* PanelDocks::first_at(PanelPlace place) const {
  const auto found = std::ranges::find_if(
      docks_, [place](const PanelDock& one) { return one.entry->place == place; });
  return found->dock;
}

void PanelDocks::place() {
  QList<QDockWidget*> lefts, rights, besides;
  // The list is in the order of menus; docks are one above the other in the order of their places.
  std::vector<PanelDock*> ordered;
  for (PanelDock& one : docks_) ordered.push_back(&one);
  std::ranges::stable_sort(ordered, {}, [](const PanelDock* one) { return one->entry->place; });
  for (PanelDock* const placed : ordered) {
    PanelDock& one = *placed;
    const PanelEntry* const entry = one.entry;
    QDockWidget* const dock = one.dock;
    if (entry->place == PanelPlace::beside) {
      window_.addDockWidget(Qt::LeftDockWidgetArea, dock, Qt::Horizontal);
      besides << dock;
    } else {
      const bool left = is_left(entry->place);
      window_.addDockWidget(left ? Qt::LeftDockWidgetArea : Qt::RightDockWidgetArea, dock);
      (left ? lefts : rights) << dock;
    }
    QDockWidget* const first = first_at(entry->place);
    if (first != dock) window_.tabifyDockWidget(first, dock);
    one.absent = entry->opens() && !has_content(one);
    dock->setVisible(entry->opens() && !one.absent);
  }
  for (PanelDock& one : docks_) {
    if (one.dock != first_at(one.entry->place)) continue;
    if (one.entry->place != PanelPlace::beside) made(one);
    one.dock->raise();
  }
  // The layout is activated first, otherwise the first width includes space for closed docks.
  window_.layout()->activate();
  side_layout_ = new SideLayout(window_, lefts, rights, besides);
}

std::array<int, 2> PanelDocks::usual_widths() const {
  const int width = window_.width();
  return {width < kNarrow ? kNarrowLeft : kLeftWidth,
          std::clamp(width * kPercentRight / 100, kNarrowRight, kWidestRight)};
}

void PanelDocks::set_side_widths(const std::array<int, 2>& widths) {
  side_widths_ = widths;
  window_.resizeDocks({first_at(PanelPlace::models), first_at(PanelPlace::spectrum)},
                      {widths[0], widths[1]}, Qt::Horizontal);
}

void PanelDocks::follow_window() {
  constexpr int kSame = 2;  // pixels
  const auto as_set = [&](PanelPlace place, int width) {
    const QDockWidget* const dock = first_at(place);
    return !dock->isVisible() || std::abs(dock->width() - width) <= kSame;
  };
  // While a reading dock is open, the side docks keep the widths that result from it.
  const bool reading = std::ranges::any_of(docks_, [](const PanelDock& one) {
    return one.entry->place == PanelPlace::beside && !one.dock->isHidden();
  });
  if (reading || side_widths_ == usual_widths()) return;
  if (!as_set(PanelPlace::models, side_widths_[0])) return;
  if (!as_set(PanelPlace::spectrum, side_widths_[1])) return;
  set_side_widths(usual_widths());
}

void PanelDocks::arrange() {
  const auto dock = [this](PanelPlace place) { return first_at(place); };
  using enum PanelPlace;
  set_side_widths(usual_widths());
  const int room = window_.height() - kAboveAndBelow;
  window_.resizeDocks({dock(models), dock(inputs), dock(answer)},
                      {room * 36 / 100, room * 32 / 100, room * 32 / 100}, Qt::Vertical);
  window_.resizeDocks({dock(spectrum), dock(map), dock(numbers)},
                      {room * 35 / 100, room * 35 / 100, room * 30 / 100}, Qt::Vertical);
}

FigurePanel* PanelDocks::figure_with_keys() {
  for (QWidget* one = QApplication::focusWidget(); one != nullptr; one = one->parentWidget()) {
    if (auto* figure = qobject_cast<FigurePanel*>(one)) return figure;
  }
  return nullptr;
}

void PanelDocks::show(const std::string& name) {
  const auto found =
      std::ranges::find_if(docks_, [&name](const PanelDock& one) { return one.entry->has(name); });
  if (found == docks_.end()) {
    throw unknown_name("panel", name, name_list(panel_names()));
  }
  made(*found).show_page(name);
  bring_to_front(*found);
}

void PanelDocks::bring_to_front(PanelDock& one) {
  one.absent = false;
  one.asked_for = !has_content(one);
  one.dock->show();
  one.dock->raise();
}

bool PanelDocks::has_content(const PanelDock& one) const {
  return one.entry->has_content == nullptr || one.entry->has_content(context_.session);
}

bool PanelDocks::side_is_open(const PanelDock& of) const {
  return std::ranges::any_of(docks_, [&](const PanelDock& one) {
    return one.entry->place != PanelPlace::beside && !one.dock->isHidden() &&
           is_left(one.entry->place) == is_left(of.entry->place);
  });
}

void PanelDocks::show_behind(QDockWidget& dock) {
  QDockWidget* front = nullptr;
  for (QDockWidget* other : window_.tabifiedDockWidgets(&dock)) {
    if (!other->visibleRegion().isEmpty()) front = other;
  }
  dock.show();
  if (front != nullptr) front->raise();
}

void PanelDocks::take_layout() {
  for (PanelDock& one : docks_) {
    if (one.entry->has_content != nullptr && one.entry->opens()) {
      one.absent = one.dock->isHidden();
    }
  }
  follow_content();
}

void PanelDocks::follow_content() {
  if (side_layout_->is_still()) return;
  for (PanelDock& one : docks_) {
    if (has_content(one)) {
      // A side that is hidden as a whole stays so.
      const bool comes = one.absent && side_is_open(one);
      if (comes) show_behind(*one.dock);
      one.absent = one.absent && !comes;
      one.asked_for = false;
    } else if (!one.dock->isHidden() && !one.asked_for) {
      one.absent = true;
      one.dock->hide();
    }
  }
  name_by_tabs();
  emit content_changed();
}

void PanelDocks::name_by_tabs() {
  for (const PanelDock& one : docks_) {
    if (one.panel == nullptr) continue;
    const QList<QDockWidget*> tabs = window_.tabifiedDockWidgets(one.dock);
    one.panel->set_named_by_tab(
        std::ranges::any_of(tabs, [](const QDockWidget* other) { return !other->isHidden(); }));
  }
}

bool PanelDocks::open_document(const std::filesystem::path& file) {
  for (PanelDock& one : docks_) {
    if (!made(one).open_document(file)) continue;
    bring_to_front(one);
    return true;
  }
  return false;
}

void PanelDocks::toggle(Side side) {
  std::vector<QDockWidget*> docks, usual;  // all docks of the side; those of a new window
  for (const PanelDock& one : docks_) {
    if (one.entry->place == PanelPlace::beside) continue;
    if (is_left(one.entry->place) != (side == Side::left)) continue;
    docks.push_back(one.dock);
    if (one.entry->opens()) usual.push_back(one.dock);
  }
  std::vector<QDockWidget*>& closed = closed_[side == Side::left ? 0 : 1];
  if (std::ranges::all_of(docks, &QDockWidget::isHidden)) {
    for (QDockWidget* dock : closed.empty() ? usual : closed) dock->show();
    closed.clear();
    return;
  }
  closed.clear();
  for (QDockWidget* dock : docks) {
    if (!dock->isHidden()) closed.push_back(dock);
  }
  for (QDockWidget* dock : closed) dock->hide();
}

void PanelDocks::present(const std::string& spoken_of) {
  const PanelDock* read = nullptr;
  for (const PanelDock& one : docks_) {
    if (one.entry->place != PanelPlace::beside || one.dock->isHidden()) continue;
    const bool in_front = !one.dock->visibleRegion().isEmpty();
    if (read == nullptr || in_front || one.entry->has(spoken_of)) read = &one;
    if (one.entry->has(spoken_of)) break;
  }
  for (const PanelDock& one : docks_) {
    const bool stays = read ? &one == read : one.entry->presented && !one.dock->isHidden();
    one.dock->setVisible(stays || one.entry->has(spoken_of));
  }
  name_by_tabs();
  share_room();
}

void PanelDocks::share_room() {
  QList<QDockWidget*> docks;
  QList<int> widths;
  for (const PanelDock& one : docks_) {
    if (one.dock->isHidden() || one.dock->isFloating()) continue;
    const PanelPlace place = one.entry->place;
    const PresentedWidth wanted = place == PanelPlace::beside ? kPresentedRead
                                  : is_left(place)            ? kPresentedLeft
                                                              : kPresentedRight;
    docks << one.dock;
    widths << std::max(window_.width() * wanted.percent / 100,
                       static_cast<int>(wanted.least * text_scale_of(window_.font())));
  }
  window_.resizeDocks(docks, widths, Qt::Horizontal);
  // The docks of one column share its height.
  window_.resizeDocks(docks, QList<int>(docks.size(), window_.height()), Qt::Vertical);
}

DockPlaces PanelDocks::places() const {
  DockPlaces places{window_.saveState(), {}, {}};
  for (const PanelDock& one : docks_) {
    if (one.dock->isFloating() || one.dock->visibleRegion().isEmpty()) continue;
    places.docks << one.dock;
    places.sizes << one.dock->size() + QSize(0, tab_bar_height(window_, *one.dock));
  }
  return places;
}

void PanelDocks::put_back(const DockPlaces& places) {
  window_.restoreState(places.state);
  QList<QDockWidget*> docks;
  QList<int> widths, heights;
  for (qsizetype i = 0; i < places.docks.size(); ++i) {
    if (places.docks[i]->isHidden()) continue;
    docks << places.docks[i];
    widths << places.sizes[i].width();
    heights << places.sizes[i].height();
  }
  window_.resizeDocks(docks, widths, Qt::Horizontal);
  window_.resizeDocks(docks, heights, Qt::Vertical);
  side_layout_->arrange();
}

void PanelDocks::restore_sides() { side_layout_->restore(); }

bool PanelDocks::hold_still(bool still) {
  content_.start();
  return side_layout_->hold_still(still);
}

bool PanelDocks::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::MouseButtonDblClick) {
    for (const PanelDock& one : docks_) {
      if (!one.panel || one.panel->header() != watched) continue;
      emit enlarge_wanted(one.dock);
      return true;
    }
  }
  // A dock that is only hidden, behind a tab or by a layout, gets no close event.
  if (event->type() == QEvent::Close) emit closed(watched->objectName().toStdString());
  return QObject::eventFilter(watched, event);
}

PanelSettings PanelDocks::settings() const {
  PanelSettings settings;
  for (const PanelDock& one : docks_) {
    ControlValues values = one.panel ? one.panel->settings() : one.settings;
    if (!values.empty()) settings[one.entry->name] = std::move(values);
  }
  return settings;
}

void PanelDocks::restore_settings(const PanelSettings& settings) {
  for (PanelDock& one : docks_) {
    const auto found = settings.find(one.entry->name);
    if (found == settings.end()) continue;
    if (one.panel) {
      one.panel->restore_settings(found->second);
    } else {
      one.settings = found->second;
    }
  }
}

bool PanelDocks::settled() const {
  return std::ranges::none_of(
      docks_, [](const PanelDock& one) { return one.panel && one.panel->is_behind(); });
}

}  // namespace attnscope
