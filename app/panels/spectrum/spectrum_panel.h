// The cumulative spectra of all subjects in one plot, equivalent ranks marked.
#pragma once

#include <QTimer>
#include <memory>

#include "analysis/figure/figure.h"
#include "app/panels/dock_panel.h"

class QCustomPlot;
class QToolButton;

namespace attnscope {

class Session;
class SpectrumStore;

class SpectrumPanel : public DockPanel {
  Q_OBJECT
 public:
  SpectrumPanel(Session& session, SpectrumStore& spectra, QWidget* parent = nullptr);

  /// True while the figure is not what the session asks for yet.
  [[nodiscard]] bool is_behind() const { return wanted_ != shown_; }
  /// What is drawn; null before the first.
  [[nodiscard]] const Figure* figure() const { return figure_.get(); }

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void want();
  void make();
  void draw_figure();

  Session& session_;
  SpectrumStore& spectra_;
  QCustomPlot* plot_;
  QToolButton* this_map_;
  QToolButton* all_maps_;
  QTimer delay_;
  std::shared_ptr<const Figure> figure_;
  std::int64_t wanted_ = 0, shown_ = 0;  // counts of requests
  std::int64_t job_ = 0;
};

}  // namespace attnscope
