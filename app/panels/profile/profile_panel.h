// The selected map as curves and numbers: a row, a column or the mean over distances for every
// model, and statistics of its values.
#pragma once

#include <QTimer>
#include <memory>
#include <vector>

#include "app/panels/frame/dock_panel.h"

class QCustomPlot;
class QLabel;
class QToolButton;

namespace attnscope {

class AtlasLink;
class PlotInstrument;
class Session;
class ShownMaps;
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

}  // namespace attnscope
