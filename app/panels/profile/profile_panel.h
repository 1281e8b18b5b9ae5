// The selected map as curves and numbers: a row, a column or the mean over distances for every
// model, and statistics of its values.
#pragma once

#include <QTimer>
#include <cstdint>
#include <memory>
#include <vector>

#include "app/canvas/shown_maps.h"
#include "app/panels/frame/dock_panel.h"

class QCustomPlot;
class QLabel;
class QToolButton;

namespace attnscope {

class AtlasLink;
class PlotInstrument;
class Session;
struct Figure;
struct MapCell;

class ProfilePanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Map profile");

  ProfilePanel(Session& session, AtlasLink& atlases, QWidget* parent = nullptr);
  [[nodiscard]] bool is_behind() const override { return is_seen() && delay_.isActive(); }
  void come_to_front() override;

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void want();
  void refresh();
  void draw();
  [[nodiscard]] std::vector<double> profile(const ShownMaps& maps, const MapCell& cell) const;

  Session& session_;
  AtlasLink& atlases_;
  QToolButton* row_;
  QToolButton* column_;
  QToolButton* distance_;
  QCustomPlot* plot_;
  PlotInstrument* instrument_;
  QLabel* numbers_;
  QTimer delay_;
  std::shared_ptr<const Figure> figure_;
};

/// Statistics of the finite values of one shown map; 0 if there are none.
struct MapValues {
  double least = 0, greatest = 0, mean = 0, deviation = 0;
  double least_row_sum = 0, greatest_row_sum = 0;
  std::int64_t zeros = 0, finite = 0, not_finite = 0;
};
[[nodiscard]] MapValues map_values(const ShownMaps& maps, std::int64_t layer, std::int64_t column);

/// Mean value at each distance |query − key| of a square map, from 0; NaN if no value is finite.
/// Empty for other maps.
[[nodiscard]] std::vector<double> means_over_distance(const ShownMaps& maps, std::int64_t layer,
                                                      std::int64_t column);

}  // namespace attnscope
