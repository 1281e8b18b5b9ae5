#include "analysis/figure/polyline.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnscope {

namespace {

constexpr double interruption = std::numeric_limits<double>::quiet_NaN();

/// Liang–Barsky step: narrows [first, last] of a segment to where start + t · step <= bound.
bool narrow(double start, double step, double bound, double& first, double& last) {
  const double room = bound - start;
  if (step == 0) return room >= 0;
  const double t = room / step;
  if (step > 0) {
    last = std::min(last, t);
  } else {
    first = std::max(first, t);
  }
  return first <= last;
}

}  // namespace

Polyline cut(const std::vector<double>& x, const std::vector<double>& y, const PlotWindow& window) {
  const auto to = [](double value, bool log) { return log ? std::log10(value) : value; };
  const auto from = [](double value, bool log) { return log ? std::pow(10, value) : value; };
  const double x_low = to(window.x_low, window.log_x);
  const double x_high = to(window.x_high, window.log_x);
  const double y_low = to(window.y_low, window.log_y);
  const double y_high = to(window.y_high, window.log_y);

  Polyline inside;
  const auto add = [&](double px, double py) {
    inside.x.push_back(px);
    inside.y.push_back(py);
  };
  const std::size_t count = std::min(x.size(), y.size());
  bool open = false;  // true if the last point added continues into the next segment
  for (std::size_t i = 1; i < count; ++i) {
    const double ax = to(x[i - 1], window.log_x);
    const double ay = to(y[i - 1], window.log_y);
    const double dx = to(x[i], window.log_x) - ax;
    const double dy = to(y[i], window.log_y) - ay;
    double first = 0;
    double last = 1;
    const bool visible =
        std::isfinite(ax + ay) && std::isfinite(dx + dy) && narrow(ax, dx, x_high, first, last) &&
        narrow(-ax, -dx, -x_low, first, last) && narrow(ay, dy, y_high, first, last) &&
        narrow(-ay, -dy, -y_low, first, last);
    if (!visible) {
      open = false;
      continue;
    }
    if (!open || first > 0) {
      if (!inside.x.empty()) add(interruption, interruption);
      add(first > 0 ? from(ax + first * dx, window.log_x) : x[i - 1],
          first > 0 ? from(ay + first * dy, window.log_y) : y[i - 1]);
    }
    add(last < 1 ? from(ax + last * dx, window.log_x) : x[i],
        last < 1 ? from(ay + last * dy, window.log_y) : y[i]);
    open = last >= 1;
  }
  return inside;
}

Polyline points_inside(const std::vector<double>& x, const std::vector<double>& y,
                       const PlotWindow& window) {
  Polyline inside;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (x[i] >= window.x_low && x[i] <= window.x_high && y[i] >= window.y_low &&
        y[i] <= window.y_high) {
      inside.x.push_back(x[i]);
      inside.y.push_back(y[i]);
    }
  }
  return inside;
}

}  // namespace attnscope
