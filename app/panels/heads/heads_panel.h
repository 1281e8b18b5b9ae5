// Published measures of heads (entropy, sinks, distances, ranks, …) as a heat map of all heads, or
// over the layers. A click selects the map.
#pragma once

#include "analysis/figure/recipe.h"
#include "app/panels/frame/dock_panel.h"

class QComboBox;
class QStackedWidget;
class QToolButton;

namespace attnscope {

class ElidedLabel;
class OfButton;
class Session;

class HeadsPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Heads");

  explicit HeadsPanel(Session& session, QWidget* parent = nullptr);

  [[nodiscard]] bool is_behind() const override;
  /// The figure of the view in front; null before the first.
  [[nodiscard]] const Figure* figure() const;

 private:
  void add_measures();
  void refresh();
  /// True if the measure is a rank, whose matrix can then be chosen.
  [[nodiscard]] bool shows_rank() const;
  [[nodiscard]] FigureRequest request() const;

  Session& session_;
  QComboBox* measure_;
  ElidedLabel* formula_;
  OfButton* of_;
  QToolButton* by_layer_;
  QStackedWidget* pages_;
};

}  // namespace attnscope
