// Clips polylines to a panel's ranges, for SVG and TeX output.
#pragma once

#include <vector>

namespace attnscope {

struct PlotWindow {
  double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
  bool log_x = false, log_y = false;
};

struct Polyline {
  std::vector<double> x, y;  ///< NaN interrupts the line
};

/// The parts of the polyline inside the window; ends are interpolated (in logarithms on logarithmic
/// axes). Points that cannot be drawn (NaN, or not positive on a logarithmic axis) interrupt it.
[[nodiscard]] Polyline cut(const std::vector<double>& x, const std::vector<double>& y,
                           const PlotWindow& window);

/// The points inside the window.
[[nodiscard]] Polyline points_inside(const std::vector<double>& x, const std::vector<double>& y,
                                     const PlotWindow& window);

}  // namespace attnscope
