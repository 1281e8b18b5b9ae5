// One panel of a figure inside a QCustomPlot: its axes and its marks.
#pragma once

#include <qcustomplot.h>

#include "analysis/figure/figure.h"
#include "app/render/draw.h"
#include "app/render/render.h"

namespace attnscope {

/// Colours, fonts and pens shared by all parts of a figure.
struct Pens {
  Pens(const Figure& figure, const DrawOptions& options);

  [[nodiscard]] int pixels(double pt) const;
  [[nodiscard]] QFont font(double pt, bool bold = false) const;
  [[nodiscard]] QPen pen(const QColor& colour, double width_pt,
                         LineStyle style = LineStyle::solid) const;

  const Figure& figure;
  DrawOptions options;
  ThemeColours theme;
  double base_pt;   ///< axis labels, titles
  double small_pt;  ///< tick labels, legends, texts in the panel
};

/// Approximate number of ticks per axis if their labels fit.
inline constexpr int usual_ticks = 5;

/// Sets ranges, ticks and labels of a panel's axes.
void set_axes(QCPAxisRect& axes, const Panel& panel, const Pens& pens);
/// Sets up the axis of a colour bar, with ticks at the scale's values.
void set_bar_axis(QCPAxis& axis, const ColourScale& scale, const Pens& pens);
/// Sets the lines, fonts and lengths of one axis.
void style_axis(QCPAxis& axis, const Pens& pens);

/// Adds the panel's marks in order; marks with a label are added to `legend` (may be null).
void add_marks(QCPAxisRect& axes, const Panel& panel, const Pens& pens, QCPLegend* legend);

}  // namespace attnscope
