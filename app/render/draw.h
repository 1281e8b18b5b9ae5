// Draws a figure into a QCustomPlot at any scale.
#pragma once

#include "analysis/figure/figure.h"
#include "app/render/render.h"

class QCustomPlot;

namespace attnscope {

struct DrawOptions {
  double pixels_per_pt = 1;  ///< plot pixels: screen pixels, or 1/100 mm in vector files
  int width_pixels = 0;      ///< width of the plot, which limits legends
  FigureTheme theme = FigureTheme::light;
  bool heat_maps_as_pixels = false;
  bool transparent = false;
};

/// Like draw() of render.h, with all options.
void draw(const Figure& figure, QCustomPlot& plot, const DrawOptions& options);

}  // namespace attnscope
