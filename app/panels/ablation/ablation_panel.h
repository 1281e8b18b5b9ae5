// Ablation study: how the answers of the open models change over a data set, or over the open text,
// without each head or layer.
#pragma once

#include "app/panels/frame/answer_study_panel.h"

class QComboBox;

namespace attnscope {

class AblationPanel : public AnswerStudyPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Ablate heads");

  explicit AblationPanel(Session& session, QWidget* parent = nullptr);

 protected:
  [[nodiscard]] std::optional<Work> work() override;

 private:
  QComboBox* each_;  ///< unit that is replaced at a time
  QComboBox* by_;    ///< replacement of its maps
};

}  // namespace attnscope
