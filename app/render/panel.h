// One panel of a figure inside a QCustomPlot: its axes and its marks.
#pragma once

#include <qcustomplot.h>

#include "analysis/figure/figure.h"
#include "app/render/draw.h"
#include "app/render/theme.h"

namespace attnscope {

/// What every part of a figure is drawn with.
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

/// So many ticks an axis has, about, where their labels have room.
inline constexpr int usual_ticks = 5;

/// Ranges, ticks and labels.
void set_axes(QCPAxisRect& axes, const Panel& panel, const Pens& pens);
/// One axis of a colour bar, with its ticks in the scale's values.
void set_bar_axis(QCPAxis& axis, const ColourScale& scale, const Pens& pens);
/// Lines, fonts and lengths of one axis.
void style_axis(QCPAxis& axis, const Pens& pens);

/// Adds the panel's marks, in order; those with a label go into `legend` (may be null).
void add_marks(QCPAxisRect& axes, const Panel& panel, const Pens& pens, QCPLegend* legend);

}  // namespace attnscope
