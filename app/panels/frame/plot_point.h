// The point of a drawn figure that is nearest to a position on the screen.
#pragma once

#include <QPointF>
#include <QString>
#include <optional>

#include "analysis/figure/figure.h"

class QCPAxisRect;

namespace attnscope {

/// One value of a drawn figure.
struct PlotPoint {
  double x = 0, y = 0;   ///< coordinates in the panel's axes
  QString series;        ///< name of the series; may be empty
  QString value;         ///< "cumulative share f(r): 0.912"; this is copied
  QString at;            ///< "number of singular values r: 18"
  Keys keys;             ///< keys of its panel and its mark
  bool is_cell = false;  ///< it is a cell of a heat map
};

/// The nearest line point or marked point within `reach` pixels, or the cell or bar under `pixel`.
/// `axes` must show `panel`.
[[nodiscard]] std::optional<PlotPoint> point_near(const Panel& panel, const QCPAxisRect& axes,
                                                  QPointF pixel, double reach);

/// The value of a key; empty if it is missing.
[[nodiscard]] std::string key_of(const PlotPoint& point, const std::string& name);

}  // namespace attnscope
