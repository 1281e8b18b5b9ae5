// Cut it off and see: the open models' maps at lower and lower ranks, and what becomes of their
// answers over a data set, or over the open text.
#pragma once

#include <QTemporaryDir>

#include "app/panels/frame/study_panel.h"

class QComboBox;

namespace attnscope {

struct StudyRequest;

class TruncationPanel : public StudyPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Cut off the rank");

  explicit TruncationPanel(Session& session, QWidget* parent = nullptr);

 protected:
  [[nodiscard]] std::optional<Work> work() override;
  [[nodiscard]] std::filesystem::path out() const override;

 private:
  /// Asks for what is open; false, having said why, where nothing can be asked.
  [[nodiscard]] bool take_data(StudyRequest& request);

  QTemporaryDir folder_;  ///< of results that nobody wants to keep
  QComboBox* cut_;
  QCheckBox* rows_;
};

}  // namespace attnscope
