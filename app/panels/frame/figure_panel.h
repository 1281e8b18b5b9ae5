// A dock that draws one recipe's figure of the open models, off the window's thread, whenever its
// content changes while it is seen.
#pragma once

#include <QTimer>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/figure/recipe.h"
#include "app/panels/frame/dock_panel.h"
#include "app/session/selection.h"

class QCustomPlot;

namespace attnscope {

class PlotInstrument;
class Session;
struct PlotPoint;

class FigurePanel : public DockPanel {
  Q_OBJECT
 public:
  FigurePanel(const QString& title, std::string recipe, Session& session,
              QWidget* parent = nullptr);

  [[nodiscard]] bool is_behind() const override { return wanted_ != shown_ && is_seen(); }
  void come_to_front() override;
  /// True if the user stopped the drawing before its end.
  [[nodiscard]] bool is_stopped() const override { return stopped_ && isVisible(); }
  void resume() override;
  /// Requests the dialog that exports the figure.
  void want_export();
  /// The figure shown; null before the first.
  [[nodiscard]] const Figure* figure() const { return figure_.get(); }

  /// Requests a new figure: once and soon, or as soon as the panel is seen.
  void want();

 signals:
  void drawn();  ///< figure() is new
  /// Requests a new name for the model of that name.
  void rename_wanted(const QString& subject);

 protected:
  /// The request for the current state, with the settings of the panel's controls. By default all
  /// models that have a trace. Throws Error(usage), which is shown instead of the figure.
  [[nodiscard]] virtual FigureRequest request() const;
  /// Text shown while no models are open: the purpose of the panel, and how to start.
  [[nodiscard]] virtual QString empty_text() const = 0;
  /// Text shown while models are open, but none can be drawn.
  [[nodiscard]] virtual QString waiting_text() const;

  /// Text shown instead of the figure that `request` asks for; empty if it can be made.
  [[nodiscard]] virtual QString text_instead(const FigureRequest& request) const;

  /// True if the figure takes long: it is then made again only for another request.
  [[nodiscard]] virtual bool is_costly() const { return false; }
  /// Minimum height of the plot in pixels; in less space the panel scrolls.
  [[nodiscard]] virtual int least_height(const Figure& figure) const;
  /// True if a wider figure shows more. It is then made for the panel's width, again when that
  /// changes; otherwise for a column of a paper.
  [[nodiscard]] virtual bool follows_room() const { return false; }
  /// Additions of the panel to the finished figure, made on a job's thread; may be empty.
  using Finishing = std::function<void(Figure& figure, const Progress& progress)>;
  [[nodiscard]] virtual Finishing finishing() const { return {}; }
  /// True if more data arrives soon: the current figure then stays until the next want().
  [[nodiscard]] virtual bool awaits_more() const { return false; }

  /// Replaces the recipe from the next want() on.
  void set_recipe(const std::string& recipe) { recipe_ = recipe; }

  [[nodiscard]] Session& session() { return session_; }
  [[nodiscard]] const Session& session() const { return session_; }
  [[nodiscard]] QCustomPlot& plot() { return *plot_; }

  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void make();
  void draw_figure();
  void fail(const QString& what);
  void pick(const PlotPoint& point);
  void hover(const std::optional<PlotPoint>& point);
  [[nodiscard]] HoveredCell cell_of(const PlotPoint& point) const;
  [[nodiscard]] double room_mm() const;  ///< width in steps, so that few resizes redraw

  std::string recipe_;
  Session& session_;
  QCustomPlot* plot_;
  PlotInstrument* instrument_;
  QTimer delay_;
  bool stopped_ = false;    // stopped by the user before it was drawn
  bool hovers_ = false;     // the session's hovered cell is that of a point of the plot
  FigureRequest made_for_;  // the request of figure_
  std::shared_ptr<const Figure> figure_;
  std::int64_t wanted_ = 1, shown_ = 0;  // numbers of requests
  std::int64_t job_ = 0;
  double made_for_mm_ = 0;
  bool is_of_look_ = true;  ///< drawn in the current colours
};

}  // namespace attnscope
