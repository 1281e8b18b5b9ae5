// Heat map cells and colour gradients inside a QCustomPlot panel.
#pragma once

#include <qcustomplot.h>

#include "analysis/figure/cells.h"
#include "analysis/figure/colour_map.h"
#include "analysis/figure/shared_bars.h"

namespace attnscope {

/// Heat map cells that fill an axis rect.
class CellsPlottable : public QCPAbstractPlottable {
  Q_OBJECT

 public:
  /// `as_pixels`: vector output holds an image with one pixel per cell instead of areas.
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

/// A colour map from bottom to top that fills an axis rect, also in vector output a gradient. An
/// arrowhead in the end's colour marks an end beyond which the scale clips values.
class GradientPlottable : public QCPAbstractPlottable {
  Q_OBJECT

 public:
  /// An arrowhead extends `arrow_height` pixels beyond the rect.
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
