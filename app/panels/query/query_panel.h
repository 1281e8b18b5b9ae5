// The image with the selected query's attention over it, for every subject; or its rollout.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "app/panels/frame/dock_panel.h"
#include "core/trace/trace.h"

class QHBoxLayout;
class QLabel;
class QToolButton;

namespace attnscope {

class QueryView;
class ScaleBar;
class Session;

class QueryPanel : public DockPanel {
  Q_OBJECT
 public:
  explicit QueryPanel(Session& session, QWidget* parent = nullptr);

 private:
  void refresh();
  [[nodiscard]] std::vector<float> weights_of(std::int64_t subject);
  void want_rollout(std::int64_t subject);

  struct Rollout {
    std::shared_ptr<const Trace> trace;
    std::vector<float> weights;  ///< N × N; empty while it is computed
  };

  Session& session_;
  QToolButton* row_;
  QToolButton* rollout_;
  QLabel* caption_;
  QHBoxLayout* views_row_;
  ScaleBar* scale_;
  std::vector<QueryView*> views_;
  std::map<std::int64_t, Rollout> rollouts_;  // by the subject's id
};

}  // namespace attnscope
