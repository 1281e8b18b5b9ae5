#include "app/panels/frame/plot_instrument.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QLabel>
#include <QMenu>
#include <QMetaMethod>
#include <QMouseEvent>
#include <QStyleHints>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <qcustomplot.h>
#include <utility>

#include "analysis/figure/text_export.h"
#include "analysis/figure/ticks.h"
#include "app/look/theme.h"
#include "app/render/render.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

QString shown_number(double value) { return QString::fromStdString(rounded_text(value, 4)); }

/// The axis label with the tick's name if there is one at `value`, otherwise with the number.
QString on_axis(const Axis& axis, double value) {
  const auto named = std::ranges::find_if(
      axis.ticks, [value](const Tick& tick) { return std::abs(tick.value - value) < 1e-9; });
  const QString text =
      named != axis.ticks.end() ? QString::fromStdString(named->label) : shown_number(value);
  return axis.label.empty() ? text : QString::fromStdString(axis.label) + ": " + text;
}

class NearestPoint {
 public:
  NearestPoint(const Panel& panel, const QCPAxisRect& axes, QPointF pixel, double reach)
      : panel_(panel),
        x_(*axes.axis(QCPAxis::atBottom)),
        y_(*axes.axis(QCPAxis::atLeft)),
        pixel_(pixel),
        best_(reach * reach) {}

  std::optional<PlotPoint> find() {
    for (const Mark& mark : panel_.marks) {
      std::visit([this](const auto& one) { look(one); }, mark);
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool inside(double x, double y) const {
    return x_.range().contains(x) && y_.range().contains(y);
  }

  void look(const Line& line) {
    for (std::size_t i = 0; i < std::min(line.x.size(), line.y.size()); ++i) {
      if (!inside(line.x[i], line.y[i])) continue;
      offer(line.x[i], line.y[i], line.label.empty() ? line.name : line.label, line.keys);
    }
  }
  void look(const PointMark& point) {
    if (inside(point.x, point.y)) offer(point.x, point.y, point.text, point.keys);
  }
  void look(const Bars& bars) {
    const double at = x_.pixelToCoord(pixel_.x());
    for (std::size_t i = 0; i < std::min(bars.x.size(), bars.heights.size()); ++i) {
      const double from = bars.x[i] - bars.width / 2;
      if (at < from || at > from + bars.width) continue;
      const double low = std::exchange(stack_[bars.x[i]], stack_[bars.x[i]] + bars.heights[i]);
      const double y = y_.pixelToCoord(pixel_.y());
      if (y < std::min(low, low + bars.heights[i]) || y > std::max(low, low + bars.heights[i])) {
        continue;
      }
      take(bars.x[i], low + bars.heights[i], bars.label, bars.keys);
      found_->value = on_axis(panel_.y, bars.heights[i]);
    }
  }
  void look(const HeatMap& map) {
    const auto column = static_cast<std::int64_t>(std::lround(x_.pixelToCoord(pixel_.x())));
    const auto row = static_cast<std::int64_t>(std::lround(y_.pixelToCoord(pixel_.y())));
    if (column < 0 || row < 0 || column >= map.columns || row >= map.rows) return;
    take(static_cast<double>(column), static_cast<double>(row), panel_.title, map.keys);
    const auto value =
        static_cast<double>(map.values[static_cast<std::size_t>(row * map.columns + column)]);
    found_->value = std::isnan(value) ? QStringLiteral("no value") : shown_number(value);
    found_->at = on_axis(panel_.x, static_cast<double>(column)) + "\n" +
                 on_axis(panel_.y, static_cast<double>(row));
    found_->is_cell = true;
  }
  void look(const Band&) {}
  void look(const Rule&) {}
  void look(const Picture&) {}
  void look(const TextMark&) {}

  void offer(double x, double y, const std::string& series, const Keys& keys) {
    if (!std::isfinite(x) || !std::isfinite(y)) return;
    const QPointF away = QPointF(x_.coordToPixel(x), y_.coordToPixel(y)) - pixel_;
    const double distance = QPointF::dotProduct(away, away);
    if (!(distance < best_)) return;
    best_ = distance;
    take(x, y, series, keys);
  }

  void take(double x, double y, const std::string& series, const Keys& keys) {
    PlotPoint point{
        x,          y, QString::fromStdString(series), on_axis(panel_.y, y), on_axis(panel_.x, x),
        panel_.keys};
    point.keys.insert(point.keys.end(), keys.begin(), keys.end());
    if (!panel_.x.key.empty()) point.keys.emplace_back(panel_.x.key, rounded_text(x, 9));
    found_ = std::move(point);
  }

  const Panel& panel_;
  const QCPAxis& x_;
  const QCPAxis& y_;
  QPointF pixel_;
  double best_;
  std::map<double, double> stack_;
  std::optional<PlotPoint> found_;
};

constexpr double kReach = 28;          // greatest distance of a point from the cursor, pixels
constexpr double kClosest = 1e-3;      // least zoomed range, as a share of the whole axis
constexpr double kShareOfFont = 0.84;  // font size relative to the window's
constexpr double kMostEnlarged = 1.6;  // up to which draw() enlarges everything with the plot

/// True if an axis can switch between linear and logarithmic.
bool can_change(const Panel& panel, bool x) {
  if (panel.square_cells || !(x ? panel.x : panel.y).visible) return false;
  const bool only_lines = std::ranges::all_of(panel.marks, [](const Mark& mark) {
    return !std::holds_alternative<HeatMap>(mark) && !std::holds_alternative<Picture>(mark) &&
           !std::holds_alternative<Bars>(mark);
  });
  if (!only_lines) return false;
  return std::ranges::any_of(panel.marks, [x](const Mark& mark) {
    const auto* const line = std::get_if<Line>(&mark);
    return line != nullptr && std::ranges::any_of(x ? line->x : line->y, [](double value) {
             return std::isfinite(value) && value > 0;
           });
  });
}

void change(Axis& axis) {
  axis.logarithmic = !axis.logarithmic;
  if (!axis.logarithmic) return;
  if (axis.minimum && *axis.minimum <= 0) axis.minimum.reset();
  std::erase_if(axis.ticks, [](const Tick& tick) { return tick.value <= 0; });
}

/// The nearest line point or marked point within `reach` pixels, or the cell or bar under `pixel`.
/// `axes` must show `panel`.
std::optional<PlotPoint> point_near(const Panel& panel, const QCPAxisRect& axes, QPointF pixel,
                                    double reach) {
  return NearestPoint(panel, axes, pixel, reach).find();
}

}  // namespace

std::string key_of(const PlotPoint& point, const std::string& name) {
  const auto found = std::ranges::find(point.keys, name, [](const auto& key) { return key.first; });
  return found == point.keys.end() ? std::string() : found->second;
}

PlotInstrument::PlotInstrument(QCustomPlot& plot) : QObject(&plot), plot_(plot) {
  // Replots are painted with the window's next frame; otherwise each one would repaint and show the
  // whole window at once, including the canvases.
  plot_.setPlottingHint(QCP::phImmediateRefresh, false);
  plot_.setMouseTracking(true);
  plot_.setFocusPolicy(Qt::StrongFocus);
  plot_.installEventFilter(this);
  readout_ = new QLabel(&plot_);
  readout_->setObjectName("plot_readout");
  readout_->setTextFormat(Qt::PlainText);
  readout_->setAttribute(Qt::WA_TransparentForMouseEvents);
  readout_->hide();
}

void PlotInstrument::show(std::shared_ptr<const Figure> figure, const QWidget& look) {
  Figure on_screen = with_axes(*figure);
  // A figure drawn larger than on its paper has thicker lines and larger markers, too: they grow
  // with the window's letters.
  const double larger = std::clamp(text_scale_of(look.font()), 1.0, kMostEnlarged);
  on_screen.width_mm = plot_.width() * mm_per_pixel / larger;
  on_screen.height_mm = plot_.height() * mm_per_pixel / larger;
  on_screen.font_family = look.font().family().toStdString();
  on_screen.font_size_pt = kShareOfFont * look.font().pointSizeF() / larger;
  const WindowColours& colours = colours_of(look);
  draw(on_screen, plot_, colours.theme == Theme::dark ? FigureTheme::dark : FigureTheme::light);
  take(on_screen, std::move(figure));
  // The window's background replaces the figure's own, which is for paper.
  plot_.setBackground(colours.panel);
  for (QCPLegend* legend : plot_.findChildren<QCPLegend*>()) legend->setBrush(Qt::NoBrush);
  plot_.replot();
}

Figure PlotInstrument::with_axes(const Figure& figure) const {
  Figure wanted = figure;
  for (Panel& panel : wanted.panels) {
    if (toggled_.x && can_change(panel, true)) change(panel.x);
    if (toggled_.y && can_change(panel, false)) change(panel.y);
  }
  return wanted;
}

void PlotInstrument::take(const Figure& drawn, std::shared_ptr<const Figure> figure) {
  const bool same_panels =
      std::ranges::equal(drawn.panels, drawn_.panels, [](const Panel& one, const Panel& other) {
        return one.x.label == other.x.label && one.y.label == other.y.label &&
               one.title == other.title && one.x.logarithmic == other.x.logarithmic &&
               one.y.logarithmic == other.y.logarithmic;
      });
  drawn_ = drawn;
  figure_ = std::move(figure);
  stop_hovering();
  whole_.clear();
  if (!same_panels) closer_.clear();
  closer_.resize(drawn_.panels.size());
  for (std::size_t panel = 0; panel < drawn_.panels.size(); ++panel) {
    QCPAxisRect* const axes = axes_of(panel);
    if (axes == nullptr) return;
    const QCPRange x = axes->axis(QCPAxis::atBottom)->range();
    const QCPRange y = axes->axis(QCPAxis::atLeft)->range();
    whole_.push_back({x.lower, x.upper, y.lower, y.upper});
    if (const auto& look = closer_[panel]) {
      axes->axis(QCPAxis::atBottom)->setRange(look->x_low, look->x_high);
      axes->axis(QCPAxis::atLeft)->setRange(look->y_low, look->y_high);
      keep_inside(panel);
    }
  }
}

QCPAxisRect* PlotInstrument::axes_of(std::size_t panel) const {
  return static_cast<int>(panel) < plot_.axisRectCount() ? plot_.axisRect(static_cast<int>(panel))
                                                         : nullptr;
}

std::optional<std::size_t> PlotInstrument::panel_at(QPointF pixel) const {
  for (std::size_t panel = 0; panel < whole_.size(); ++panel) {
    const QCPAxisRect* const axes = axes_of(panel);
    if (axes != nullptr && axes->rect().contains(pixel.toPoint())) return panel;
  }
  return std::nullopt;
}

/// Panels with square cells, such as maps, are enlarged in the atlas instead.
bool PlotInstrument::zooms(std::size_t panel) const { return !drawn_.panels[panel].square_cells; }

void PlotInstrument::hover(QPointF pixel) {
  const std::optional<std::size_t> panel = panel_at(pixel);
  point_ =
      panel ? point_near(drawn_.panels[*panel], *axes_of(*panel), pixel, kReach) : std::nullopt;
  if (!point_) return stop_hovering();
  show_point(*panel);
}

void PlotInstrument::show_point(std::size_t panel) {
  QCPAxisRect& axes = *axes_of(panel);
  if (!mark_) {
    mark_ = new QCPItemTracer(&plot_);
    mark_->setLayer("overlay");
    mark_->setStyle(QCPItemTracer::tsCircle);
    mark_->setSelectable(false);
  }
  mark_->setVisible(!point_->is_cell);
  mark_->setClipAxisRect(&axes);
  mark_->setClipToAxisRect(false);
  mark_->position->setAxes(axes.axis(QCPAxis::atBottom), axes.axis(QCPAxis::atLeft));
  mark_->position->setAxisRect(&axes);
  mark_->position->setCoords(point_->x, point_->y);
  mark_->setSize(9);
  mark_->setPen(QPen(colours_of(plot_).text, 1.5));
  plot_.layer("overlay")->replot();

  QStringList lines;
  if (!point_->series.isEmpty()) lines << point_->series;
  lines << point_->value << point_->at;
  readout_->setText(lines.join('\n'));
  readout_->adjustSize();
  const QPoint at(static_cast<int>(axes.axis(QCPAxis::atBottom)->coordToPixel(point_->x)),
                  static_cast<int>(axes.axis(QCPAxis::atLeft)->coordToPixel(point_->y)));
  constexpr int kAway = 10;
  QRect box(at + QPoint(kAway, kAway), readout_->size());
  if (box.right() > plot_.width()) box.moveRight(at.x() - kAway);
  if (box.bottom() > plot_.height()) box.moveBottom(at.y() - kAway);
  box.moveLeft(std::max(0, box.left()));
  box.moveTop(std::max(0, box.top()));
  readout_->move(box.topLeft());
  readout_->show();
}

void PlotInstrument::stop_hovering() {
  point_.reset();
  readout_->hide();
  if (!mark_ || !mark_->visible()) return;
  mark_->setVisible(false);
  plot_.layer("overlay")->replot();
}

void PlotInstrument::keep_inside(std::size_t panel) {
  QCPAxisRect& axes = *axes_of(panel);
  const auto keep = [](QCPAxis& axis, double low, double high) {
    const bool logarithmic = axis.scaleType() == QCPAxis::stLogarithmic && low > 0;
    const auto to = [&](double value) { return logarithmic ? std::log(value) : value; };
    const auto from = [&](double value) { return logarithmic ? std::exp(value) : value; };
    const double whole = to(high) - to(low);
    const double length =
        std::clamp(to(axis.range().upper) - to(axis.range().lower), kClosest * whole, whole);
    const double start = std::clamp(to(axis.range().lower), to(low), to(high) - length);
    const bool all = length >= whole * (1 - 1e-9);
    axis.setRange(all ? low : from(start), all ? high : from(start + length));
    return all;
  };
  const Look& whole = whole_[panel];
  QCPAxis& x = *axes.axis(QCPAxis::atBottom);
  QCPAxis& y = *axes.axis(QCPAxis::atLeft);
  const bool all_x = keep(x, whole.x_low, whole.x_high), all_y = keep(y, whole.y_low, whole.y_high);
  if (all_x && all_y) {
    closer_[panel].reset();
  } else {
    closer_[panel] = {x.range().lower, x.range().upper, y.range().lower, y.range().upper};
  }
}

void PlotInstrument::zoom(std::size_t panel, QPointF pixel, double factor) {
  QCPAxisRect& axes = *axes_of(panel);
  QCPAxis& x = *axes.axis(QCPAxis::atBottom);
  QCPAxis& y = *axes.axis(QCPAxis::atLeft);
  x.scaleRange(1 / factor, x.pixelToCoord(pixel.x()));
  y.scaleRange(1 / factor, y.pixelToCoord(pixel.y()));
  keep_inside(panel);
  plot_.replot(QCustomPlot::rpQueuedReplot);
}

void PlotInstrument::pan(std::size_t panel, QPointF by) {
  QCPAxisRect& axes = *axes_of(panel);
  const auto move = [](QCPAxis& axis, double low_pixel, double high_pixel, double pixels) {
    axis.setRange(axis.pixelToCoord(low_pixel - pixels), axis.pixelToCoord(high_pixel - pixels));
  };
  const QRect rect = axes.rect();
  QCPAxis& x = *axes.axis(QCPAxis::atBottom);
  QCPAxis& y = *axes.axis(QCPAxis::atLeft);
  move(x, rect.left(), rect.left() + rect.width(), by.x());
  move(y, y.rangeReversed() ? rect.top() : rect.bottom(),
       y.rangeReversed() ? rect.top() + rect.height() : rect.bottom() - rect.height(), by.y());
  keep_inside(panel);
  plot_.replot(QCustomPlot::rpQueuedReplot);
}

void PlotInstrument::show_all() {
  for (std::size_t panel = 0; panel < whole_.size(); ++panel) {
    const Look& whole = whole_[panel];
    axes_of(panel)->axis(QCPAxis::atBottom)->setRange(whole.x_low, whole.x_high);
    axes_of(panel)->axis(QCPAxis::atLeft)->setRange(whole.y_low, whole.y_high);
    closer_[panel].reset();
  }
  plot_.replot(QCustomPlot::rpQueuedReplot);
}

bool PlotInstrument::eventFilter(QObject* watched, QEvent* event) {
  switch (event->type()) {
    case QEvent::MouseButtonPress: {
      const auto* mouse = static_cast<QMouseEvent*>(event);
      if (mouse->button() == Qt::LeftButton) pressed_ = dragged_ = mouse->position();
      break;
    }
    case QEvent::MouseMove: {
      const auto* mouse = static_cast<QMouseEvent*>(event);
      if (!pressed_ || !(mouse->buttons() & Qt::LeftButton)) {
        hover(mouse->position());
        emit hovered(std::optional(point_));
        break;
      }
      const std::optional<std::size_t> panel = panel_at(*pressed_);
      const bool moved = (mouse->position() - *pressed_).manhattanLength() >=
                         QGuiApplication::styleHints()->startDragDistance();
      if (panel && closer_[*panel] && (moved || *dragged_ != *pressed_)) {
        stop_hovering();
        pan(*panel, mouse->position() - *dragged_);
        dragged_ = mouse->position();
      }
      break;
    }
    case QEvent::MouseButtonRelease: {
      const auto* mouse = static_cast<QMouseEvent*>(event);
      const bool clicked = pressed_ && *dragged_ == *pressed_ &&
                           (mouse->position() - *pressed_).manhattanLength() <
                               QGuiApplication::styleHints()->startDragDistance();
      pressed_.reset();
      dragged_.reset();
      if (mouse->button() != Qt::LeftButton) break;
      hover(mouse->position());
      if (clicked && point_) emit picked(PlotPoint(*point_));
      break;
    }
    case QEvent::MouseButtonDblClick:
      show_all();
      break;
    case QEvent::Leave:
      stop_hovering();
      emit hovered({});
      break;
    case QEvent::Wheel: {
      const auto* wheel = static_cast<QWheelEvent*>(event);
      const std::optional<std::size_t> panel = panel_at(wheel->position());
      const int angle = wheel->angleDelta().y();
      if (!panel || !zooms(*panel) || angle == 0) break;
      zoom(*panel, wheel->position(), std::pow(1.2, angle / 120.0));
      hover(wheel->position());
      return true;
    }
    case QEvent::ContextMenu: {
      const auto* asked = static_cast<QContextMenuEvent*>(event);
      if (!figure_) break;
      hover(asked->pos());
      QMenu menu(&plot_);
      fill(menu);
      menu.exec(asked->globalPos());
      return true;
    }
    default:
      break;
  }
  return QObject::eventFilter(watched, event);
}

void PlotInstrument::add_axis_action(QMenu& menu, const QString& text, bool Logarithmic::*axis) {
  const bool x = axis == &Logarithmic::x;
  const auto changeable =
      std::ranges::find_if(drawn_.panels, [x](const Panel& panel) { return can_change(panel, x); });
  if (changeable == drawn_.panels.end()) return;
  QAction* const action = menu.addAction(text, this, [this, axis] {
    toggled_.*axis = !(toggled_.*axis);
    closer_.clear();
    emit axes_wanted();
  });
  action->setObjectName(x ? "log_x" : "log_y");
  action->setCheckable(true);
  action->setChecked((x ? changeable->x : changeable->y).logarithmic);
}

void PlotInstrument::fill(QMenu& menu) {
  QClipboard* const clipboard = QGuiApplication::clipboard();
  const auto add = [&](const char* name, const QString& text, auto run) {
    menu.addAction(text, this, run)->setObjectName(name);
  };
  if (point_) {
    const QString value = point_->value, all = readout_->text();
    add("copy_value", tr("Copy “%1”").arg(value), [clipboard, all] { clipboard->setText(all); });
    const QString subject = QString::fromStdString(key_of(*point_, "model"));
    if (!subject.isEmpty() &&
        isSignalConnected(QMetaMethod::fromSignal(&PlotInstrument::rename_wanted))) {
      add("rename", tr("Rename %1…").arg(subject),
          [this, subject] { emit rename_wanted(subject); });
    }
    menu.addSeparator();
  }
  add("copy_csv", tr("Copy all values as CSV"),
      [this, clipboard] { clipboard->setText(QString::fromStdString(figure_as_csv(*figure_))); });
  add("copy_figure", tr("Copy the figure"), [this, clipboard] {
    constexpr double kLarger = 2;
    stop_hovering();
    clipboard->setPixmap(plot_.toPixmap(0, 0, kLarger));
  });
  if (isSignalConnected(QMetaMethod::fromSignal(&PlotInstrument::export_wanted))) {
    add("export_this", tr("Export this figure…"), [this] { emit export_wanted(); });
  }
  menu.addSeparator();
  add_axis_action(menu, tr("Logarithmic across"), &Logarithmic::x);
  add_axis_action(menu, tr("Logarithmic upwards"), &Logarithmic::y);
  add("show_all", tr("Whole range (double click)"), [this] { show_all(); });
  menu.actions().back()->setEnabled(
      std::ranges::any_of(closer_, [](const auto& look) { return look.has_value(); }));
}

}  // namespace attnscope
