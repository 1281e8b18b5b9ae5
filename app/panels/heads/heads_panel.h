// What papers print of heads (entropy, sinks, distances, ranks, …): every head of every layer as a
// heat map, or over the layers. A click selects the map.
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
  /// What the view in front shows; null before the first.
  [[nodiscard]] const Figure* figure() const;

 private:
  void add_measures();
  void refresh();
  /// Whether the measure is a rank: of what, is then chosen.
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
