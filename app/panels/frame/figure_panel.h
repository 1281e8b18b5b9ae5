// A dock that draws one recipe's figure of the open subjects: made off the window's thread whenever
// what it shows has changed, and not while nobody sees it.
#pragma once

#include <QTimer>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "analysis/figure/recipe.h"
#include "app/panels/frame/dock_panel.h"

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
  /// Whether the user has stopped it before it was drawn.
  [[nodiscard]] bool is_stopped() const override { return stopped_ && isVisible(); }
  void go_on() override;
  /// Asks for the dialog that writes what is drawn.
  void want_export();
  /// What is drawn; null before the first.
  [[nodiscard]] const Figure* figure() const { return figure_.get(); }

  /// Asks for the figure again: soon and once, or as soon as the panel is seen.
  void want();

 signals:
  void drawn();  ///< figure() is new
  /// Asks for the dialog that writes this figure, so set.
  void export_wanted(const std::string& recipe, const ParameterValues& settings);
  /// Asks for another name for the subject of that name.
  void rename_wanted(const QString& subject);

 protected:
  /// What is asked for now, with the settings the panel's controls say. By default every subject
  /// that has a trace. Throws Error(usage), which is shown instead of the figure.
  [[nodiscard]] virtual FigureRequest request() const;
  /// Shown while there is no subject to draw: what will be here, and what to do.
  [[nodiscard]] virtual QString empty_text() const = 0;
  /// Shown while there are subjects, but none to draw.
  [[nodiscard]] virtual QString waiting_text() const;

  /// Whether the figure shows more where there is more room: then it is made for the panel's width,
  /// and again as that changes; else for a column of a paper.
  [[nodiscard]] virtual bool follows_room() const { return false; }
  /// What the panel adds to the figure that was made, on a job's thread; may be empty.
  using Finishing = std::function<void(Figure& figure, const Progress& progress)>;
  [[nodiscard]] virtual Finishing finishing() const { return {}; }
  /// Whether more is about to be known: what is drawn then stays until the next want().
  [[nodiscard]] virtual bool awaits_more() const { return false; }

  /// Another figure in the place of this one, from the next want() on.
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
  [[nodiscard]] double room_mm() const;  ///< in steps, so that not every pixel makes a figure

  std::string recipe_;
  Session& session_;
  QCustomPlot* plot_;
  PlotInstrument* instrument_;
  QTimer delay_;
  bool stopped_ = false;       // by the user, before it was drawn
  ParameterValues made_with_;  // the settings of figure_
  std::shared_ptr<const Figure> figure_;
  std::int64_t wanted_ = 1, shown_ = 0;  // counts of requests
  std::int64_t job_ = 0;
  double made_for_mm_ = 0;
  bool is_of_look_ = true;  ///< drawn in the colours of now
};

}  // namespace attnscope
