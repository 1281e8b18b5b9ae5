// Interaction with a figure on the screen: values under the cursor, zoom, axis scales, selection of
// the point's map, and copies.
#pragma once

#include <QList>
#include <QObject>
#include <QPointF>
#include <QPointer>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/figure/figure.h"

class QAction;
class QCPAxisRect;
class QCPItemTracer;
class QCustomPlot;
class QLabel;
class QMenu;

namespace attnscope {

/// One value of a drawn figure.
struct PlotPoint {
  double x = 0, y = 0;   ///< coordinates in the panel's axes
  QString series;        ///< name of the series; may be empty
  QString value;         ///< "cumulative share f(r): 0.912"; this is copied
  QString at;            ///< "number of singular values r: 18"
  Keys keys;             ///< keys of its panel and its mark
  bool is_cell = false;  ///< it is a cell of a heat map
};

/// The value of a key; empty if it is missing.
[[nodiscard]] std::string key_of(const PlotPoint& point, const std::string& name);

inline constexpr double mm_per_pixel = 25.4 / 96;  ///< logical pixels at 96 dpi, as Qt counts them

/// The wheel zooms at the cursor, a drag pans, a double click shows all again. A click emits
/// picked(). The right button or the menu key opens the menu.
class PlotInstrument : public QObject {
  Q_OBJECT
 public:
  /// `plot` shows only what show() draws.
  explicit PlotInstrument(QCustomPlot& plot);

  /// Draws `figure`, which must not be null, in the size of the plot, with the axes chosen by the
  /// user and the font and colours of `look`. The zoom is kept if the panels are the same as
  /// before.
  void show(std::shared_ptr<const Figure> figure, const QWidget& look);

  /// The point near the cursor; empty if there is none.
  [[nodiscard]] const std::optional<PlotPoint>& point() const { return point_; }
  /// Adds the actions for the point and the figure to `menu`.
  void fill(QMenu& menu);

 signals:
  void axes_wanted();  ///< the axis scales changed: redraw the figure
  void picked(const PlotPoint& point);
  void hovered(const std::optional<PlotPoint>& point);  ///< the cursor moved; empty: no point
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
  /// `figure` with the axis scales chosen by the user.
  [[nodiscard]] Figure with_axes(const Figure& figure) const;
  /// Stores the figure as drawn and restores the zoom.
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
