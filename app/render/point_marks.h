// Marked points with drop lines and texts that keep out of each other's way.
#pragma once

#include <qcustomplot.h>
#include <vector>

namespace attnscope {

/// All marked points of one panel. Texts are placed when painted, in the pixels there are: beside
/// their drop line just over the x axis, clear of each other, of curves and of the legend.
class PointMarksItem : public QCPAbstractItem {
  Q_OBJECT

 public:
  struct Point {
    double x = 0, y = 0;
    QString text;
    QColor colour;
    bool drop_lines = true;
  };
  struct Look {
    QFont font;
    QColor background;
    double line_width = 1, marker_size = 4, gap = 2;  ///< pixels
  };

  PointMarksItem(QCPAxisRect& axes, std::vector<Point> points, Look look);

  double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }

 protected:
  void draw(QCPPainter* painter) override;

 private:
  [[nodiscard]] QPointF pixel(const Point& point) const;
  [[nodiscard]] std::vector<QRectF> placed_texts(const QFontMetricsF& metrics) const;

  QCPAxisRect& axes_;
  std::vector<Point> points_;
  Look look_;
};

}  // namespace attnscope
