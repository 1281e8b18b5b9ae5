// Cells and colour gradients inside a QCustomPlot panel.
#pragma once

#include <qcustomplot.h>

#include "analysis/figure/clipping.h"
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
  [[nodiscard]] QRect clipRect() const override;

 private:
  Cells cells_;
  bool as_pixels_;
};

/// A colour map from bottom to top, filling an axis rect: a gradient, in vector output too. Where
/// the scale stands for values beyond an end, an arrowhead in that end's colour points on.
class GradientPlottable : public QCPAbstractPlottable {
  Q_OBJECT

 public:
  /// An arrowhead reaches `arrow_height` pixels past the rect.
  GradientPlottable(QCPAxis* key_axis, QCPAxis* value_axis, const ColourScale& scale,
                    const Clipping& clipping, int arrow_height, QPen outline)
      : QCPAbstractPlottable(key_axis, value_axis),
        colours_(scale),
        clipping_(clipping),
        arrow_height_(arrow_height),
        outline_(std::move(outline)) {}

  double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }
  QCPRange getKeyRange(bool& found, QCP::SignDomain) const override;
  QCPRange getValueRange(bool& found, QCP::SignDomain, const QCPRange&) const override;

 protected:
  void draw(QCPPainter* painter) override;
  void drawLegendIcon(QCPPainter*, const QRectF&) const override {}
  [[nodiscard]] QRect clipRect() const override;

 private:
  void draw_arrow(QCPPainter& painter, const QRectF& frame, bool up) const;

  ScaleColours colours_;
  Clipping clipping_;
  int arrow_height_;
  QPen outline_;
};

}  // namespace attnscope
