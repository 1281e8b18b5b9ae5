// Steps through one head: the selected query of the selected map, from its vectors to the output.
#pragma once

#include <QTimer>

#include "app/panels/frame/dock_panel.h"

class QLabel;
class QPushButton;
class QToolButton;

namespace attnscope {

class ElidedLabel;
class Session;
class StepsView;

class StepsPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Step through a head");

  explicit StepsPanel(Session& session, QWidget* parent = nullptr);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void add_buttons();
  void refresh();
  void show_words();
  void follow_hover();
  void point_at(std::int64_t key);
  void select_query(std::int64_t query);
  void play();
  /// Copies tokens around the selected query into the playground's plane.
  void to_playground();

  Session& session_;
  ElidedLabel* title_;
  StepsView* view_;
  QLabel* words_;
  QToolButton* back_;
  QToolButton* play_;
  QToolButton* on_;
  QPushButton* playground_;
  QTimer playing_;
};

}  // namespace attnscope
