// Panel with a few tokens whose queries and keys can be dragged, and the maps of all mechanisms.
#pragma once

#include "app/panels/frame/dock_panel.h"

namespace attnscope {

class PlaygroundView;
class Session;

class PlaygroundPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Playground");

  explicit PlaygroundPanel(Session& session, QWidget* parent = nullptr);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void fit_type();

  PlaygroundView* view_ = nullptr;
};

}  // namespace attnscope
