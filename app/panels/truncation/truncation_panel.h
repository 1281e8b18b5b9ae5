// Truncation study: answers of the open models over a data set, or over the open text, with their
// maps truncated to lower and lower ranks.
#pragma once

#include "app/panels/frame/answer_study_panel.h"

class QCheckBox;
class QComboBox;

namespace attnscope {

class TruncationPanel : public AnswerStudyPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Truncate rank");

  explicit TruncationPanel(Session& session, QWidget* parent = nullptr);

 protected:
  [[nodiscard]] std::optional<Work> work() override;

 private:
  QComboBox* cut_;
  QCheckBox* rows_;
};

}  // namespace attnscope
