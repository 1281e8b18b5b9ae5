// Polylines cut at a panel's ranges: what draws a figure may not clip, as SVG here and TeX.
#pragma once

#include <vector>

namespace attnscope {

struct PlotWindow {
  double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
  bool log_x = false, log_y = false;
};

struct Polyline {
  std::vector<double> x, y;  ///< NaN where the line is interrupted
};

/// The parts of the polyline inside the window, ends interpolated (in logarithms on logarithmic
/// axes). Points without a place (NaN, or not positive on a logarithmic axis) interrupt it.
[[nodiscard]] Polyline cut(const std::vector<double>& x, const std::vector<double>& y,
                           const PlotWindow& window);

/// The points inside the window.
[[nodiscard]] Polyline points_inside(const std::vector<double>& x, const std::vector<double>& y,
                                     const PlotWindow& window);

}  // namespace attnscope
