// Cells and colour gradients inside a QCustomPlot panel.
#pragma once

#include <qcustomplot.h>

#include "analysis/figure/colour_map.h"
#include "app/render/draw_cells.h"

namespace attnscope {

/// Cells that fill an axis rect.
class CellsPlottable : public QCPAbstractPlottable {
  Q_OBJECT

 public:
  /// `as_pixels`: in vector output an image of one pixel a cell instead of areas.
  CellsPlottable(QCPAxis* key_axis, QCPAxis* value_axis, Cells cells, bool as_pixels)
      : QCPAbstractPlottable(key_axis, value_axis),
        cells_(std::move(cells)),
        as_pixels_(as_pixels) {}

  double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }
  QCPRange getKeyRange(bool& found, QCP::SignDomain) const override;
  QCPRange getValueRange(bool& found, QCP::SignDomain, const QCPRange&) const override;

 protected:
  void draw(QCPPainter* painter) override;
  void drawLegendIcon(QCPPainter*, const QRectF&) const override {}

 private:
  Cells cells_;
  bool as_pixels_;
};

/// A colour map from bottom to top, filling an axis rect: a gradient, in vector output too.
class GradientPlottable : public QCPAbstractPlottable {
  Q_OBJECT

 public:
  GradientPlottable(QCPAxis* key_axis, QCPAxis* value_axis, const ColourMap& map, bool reversed)
      : QCPAbstractPlottable(key_axis, value_axis), map_(map), reversed_(reversed) {}

  double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }
  QCPRange getKeyRange(bool& found, QCP::SignDomain) const override;
  QCPRange getValueRange(bool& found, QCP::SignDomain, const QCPRange&) const override;

 protected:
  void draw(QCPPainter* painter) override;
  void drawLegendIcon(QCPPainter*, const QRectF&) const override {}

 private:
  const ColourMap& map_;
  bool reversed_;
};

}  // namespace attnscope
