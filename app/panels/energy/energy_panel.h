// Energy of networks and mechanisms: by component, by layer, attention against FFN, over the number
// of tokens, as tables, and measured.
#pragma once

#include "analysis/figure/recipe.h"
#include "app/panels/frame/dock_panel.h"

class QStackedWidget;

namespace attnscope {

class FigurePage;
class EnergyChoosers;
class EnergySliders;
class MeasurePage;
class Segments;
class Session;

class EnergyPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Energy");

  explicit EnergyPanel(Session& session, QWidget* parent = nullptr);

  [[nodiscard]] bool is_behind() const override;
  /// The figure of the view in front; null before the first.
  [[nodiscard]] const Figure* figure() const;

 private:
  void add_page(const QString& name, const QString& tip, QWidget* page);
  void turn_to(int page);
  void refresh();
  void export_figure();
  void take_references();

  [[nodiscard]] FigureRequest networks_request() const;
  [[nodiscard]] FigureRequest layers_request() const;
  [[nodiscard]] FigureRequest share_request() const;
  [[nodiscard]] FigureRequest growth_request() const;
  [[nodiscard]] FigureRequest table_request() const;
  [[nodiscard]] FigureRequest measure_request() const;
  [[nodiscard]] std::vector<std::string> shown_mechanisms() const;

  Session& session_;
  EnergyChoosers* choosers_;
  EnergySliders* sliders_;
  QStackedWidget* pages_;
  Segments* segments_;
  FigurePage* components_;
  FigurePage* layers_;
  MeasurePage* measure_;
};

}  // namespace attnscope
