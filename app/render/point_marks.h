// Texts of marked points and rules inside a panel, placed without overlap.
#pragma once

#include <qcustomplot.h>
#include <vector>

namespace attnscope {

/// All marked points of one panel, and the texts of its horizontal rules. Texts are placed during
/// painting, without overlapping each other, curves or the legend: a point's text next to its drop
/// line just above the x axis, a rule's text along the rule.
class PointMarksItem : public QCPAbstractItem {
  Q_OBJECT

 public:
  struct Point {
    double x = 0, y = 0;
    QString text;
    QColor colour;
    bool drop_lines = true;
  };
  struct RuleText {
    double y = 0;
    QString text;
    QColor colour;
  };
  struct Look {
    QFont font;
    QColor background;
    double line_width = 1, marker_size = 4, gap = 2;  ///< pixels
  };

  PointMarksItem(QCPAxisRect& axes, std::vector<Point> points, std::vector<RuleText> rules,
                 Look look);

  double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }

 protected:
  void draw(QCPPainter* painter) override;

 private:
  [[nodiscard]] QPointF pixel(const Point& point) const;
  [[nodiscard]] std::vector<QRectF> legends() const;
  /// Boxes in the order of points_, which are also added to `taken`.
  [[nodiscard]] std::vector<QRectF> placed_texts(const QFontMetricsF& metrics,
                                                 const std::vector<QLineF>& curves,
                                                 std::vector<QRectF>& taken) const;
  [[nodiscard]] QRectF placed_rule_text(const RuleText& rule, const QFontMetricsF& metrics,
                                        const std::vector<QLineF>& curves,
                                        const std::vector<QRectF>& taken) const;
  void draw_text(QCPPainter& painter, const QRectF& box, const QString& text,
                 const QColor& colour) const;

  QCPAxisRect& axes_;
  std::vector<Point> points_;
  std::vector<RuleText> rules_;
  Look look_;
};

}  // namespace attnscope
