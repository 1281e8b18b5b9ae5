// Figure → a filled QCustomPlot, at any scale.
#pragma once

#include "analysis/figure/figure.h"
#include "app/render/render.h"

class QCustomPlot;

namespace attnscope {

struct DrawOptions {
  double pixels_per_pt = 1;  ///< the plot's pixels: of a screen, or 1/100 mm in vector files
  int width_pixels = 0;      ///< of the plot: how wide a legend may be
  FigureTheme theme = FigureTheme::light;
  bool heat_maps_as_pixels = false;
  bool transparent = false;
};

/// As draw() of render.h, with everything said.
void draw(const Figure& figure, QCustomPlot& plot, const DrawOptions& options);

}  // namespace attnscope
