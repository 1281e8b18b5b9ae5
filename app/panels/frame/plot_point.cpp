#include "app/panels/frame/plot_point.h"

#include <algorithm>
#include <cmath>
#include <qcustomplot.h>

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

}  // namespace

std::optional<PlotPoint> point_near(const Panel& panel, const QCPAxisRect& axes, QPointF pixel,
                                    double reach) {
  return NearestPoint(panel, axes, pixel, reach).find();
}

std::string key_of(const PlotPoint& point, const std::string& name) {
  const auto found = std::ranges::find(point.keys, name, [](const auto& key) { return key.first; });
  return found == point.keys.end() ? std::string() : found->second;
}

}  // namespace attnscope
