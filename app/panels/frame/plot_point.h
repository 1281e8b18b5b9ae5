// The point of a drawn figure that lies nearest to a place on the screen.
#pragma once

#include <QPointF>
#include <QString>
#include <optional>

#include "analysis/figure/figure.h"

class QCPAxisRect;

namespace attnscope {

/// One value of a figure, as it is drawn.
struct PlotPoint {
  double x = 0, y = 0;   ///< in the panel's axes
  QString series;        ///< what it is of; may be empty
  QString value;         ///< "cumulative share f(r): 0.912": what is copied
  QString at;            ///< "number of singular values r: 18"
  Keys keys;             ///< of its panel and its mark
  bool is_cell = false;  ///< of a heat map
};

/// Within `reach` pixels of a line's points or a marked point; the cell or the bar under `pixel`.
/// `axes` show the panel.
[[nodiscard]] std::optional<PlotPoint> point_near(const Panel& panel, const QCPAxisRect& axes,
                                                  QPointF pixel, double reach);

/// The value of a key, or empty.
[[nodiscard]] std::string key_of(const PlotPoint& point, const std::string& name);

}  // namespace attnscope
