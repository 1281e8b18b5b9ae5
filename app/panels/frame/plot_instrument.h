// A figure on the screen that answers: the value under the cursor, a closer look, other axes, what
// a point stands for, and copies of all of it.
#pragma once

#include <QList>
#include <QObject>
#include <QPointF>
#include <QPointer>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/figure/figure.h"
#include "app/panels/frame/plot_point.h"

class QAction;
class QCPAxisRect;
class QCPItemTracer;
class QCustomPlot;
class QLabel;
class QMenu;

namespace attnscope {

inline constexpr double mm_per_pixel = 25.4 / 96;  ///< of the screen, as Qt counts its pixels

/// Wheel: closer at the cursor; drag: move what is closer; double click: all again. A click says
/// what was picked. The right button opens the menu, which the key for menus does too.
class PlotInstrument : public QObject {
  Q_OBJECT
 public:
  /// `plot` shows what show() draws in it, and nothing else.
  explicit PlotInstrument(QCustomPlot& plot);

  /// Draws `figure`, which is there, as large as the plot, with the axes the user wants, in the
  /// letters and colours of `look`. A closer look is kept where the panels are as before.
  void show(std::shared_ptr<const Figure> figure, const QWidget& look);

  /// What the cursor is at; none where there is nothing near.
  [[nodiscard]] const std::optional<PlotPoint>& point() const { return point_; }
  /// Fills a menu with what can be done at the point, and to the figure.
  void fill(QMenu& menu);

 signals:
  void axes_wanted();  ///< others: the figure is to be drawn again
  void picked(const PlotPoint& point);
  void export_wanted();
  void rename_wanted(const QString& subject);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct Look {
    double x_low, x_high, y_low, y_high;
  };
  struct Logarithmic {
    bool x = false, y = false;
  };
  /// `figure` with its axes as the user wants them.
  [[nodiscard]] Figure with_axes(const Figure& figure) const;
  /// What stands in the plot now.
  void take(const Figure& drawn, std::shared_ptr<const Figure> figure);
  [[nodiscard]] std::optional<std::size_t> panel_at(QPointF pixel) const;
  [[nodiscard]] QCPAxisRect* axes_of(std::size_t panel) const;
  [[nodiscard]] bool zooms(std::size_t panel) const;
  void hover(QPointF pixel);
  void stop_hovering();
  void show_point(std::size_t panel);
  void zoom(std::size_t panel, QPointF pixel, double factor);
  void pan(std::size_t panel, QPointF by);
  void keep_inside(std::size_t panel);
  void show_all();
  void add_axis_action(QMenu& menu, const QString& text, bool Logarithmic::*axis);

  QCustomPlot& plot_;
  Figure drawn_;
  std::shared_ptr<const Figure> figure_;
  std::vector<Look> whole_;
  std::vector<std::optional<Look>> closer_;
  Logarithmic toggled_;
  std::optional<PlotPoint> point_;
  QPointer<QCPItemTracer> mark_;
  QLabel* readout_;
  std::optional<QPointF> pressed_, dragged_;
};

}  // namespace attnscope
