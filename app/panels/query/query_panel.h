// The input with the selected query's attention over it, or its rollout, for every model.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "app/panels/frame/dock_panel.h"
#include "app/session/subject_id.h"
#include "core/trace/trace.h"

class QHBoxLayout;
class QSlider;
class QComboBox;
class QLabel;
class QToolButton;

namespace attnscope {

class AtlasLink;
class QueryView;
class ScaleBar;
class Session;
struct OpenSubject;

class QueryPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Query on the input");

  QueryPanel(Session& session, AtlasLink& atlases, QWidget* parent = nullptr);

 private:
  void refresh();
  void add_view();
  [[nodiscard]] std::vector<float> weights_of(const OpenSubject& open);
  void want_rollout(const OpenSubject& open);
  [[nodiscard]] QString caption(const std::vector<const OpenSubject*>& ready) const;

  struct Rollout {
    std::shared_ptr<const Trace> trace;
    std::string by;              ///< name of the matrix rolled out, as in rolled_
    std::vector<float> weights;  ///< N × N; empty while it is computed
    QString error;               ///< reason for missing weights
    std::int64_t job = 0;
  };

  Session& session_;
  AtlasLink& atlases_;
  QToolButton* row_;
  QToolButton* rollout_;
  QComboBox* rolled_;  ///< choice of the matrix that is rolled out
  QLabel* caption_;
  QHBoxLayout* views_row_;
  ScaleBar* scale_;
  QSlider* opacity_;
  std::vector<QueryView*> views_;
  std::map<SubjectId, Rollout> rollouts_;
};

}  // namespace attnscope
