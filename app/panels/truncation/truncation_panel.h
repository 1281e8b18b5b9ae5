// Truncation study: answers of the open models over a data set, or over the open text, with their
// maps truncated to lower and lower ranks.
#pragma once

#include <QTemporaryDir>

#include "app/panels/frame/study_panel.h"

class QComboBox;

namespace attnscope {

struct StudyRequest;

class TruncationPanel : public StudyPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Truncate rank");

  explicit TruncationPanel(Session& session, QWidget* parent = nullptr);

 protected:
  [[nodiscard]] std::optional<Work> work() override;
  [[nodiscard]] std::filesystem::path out() const override;

 private:
  /// Sets the data of `request` from the fields or the open text; false, after say() with the
  /// reason, if there is none.
  [[nodiscard]] bool take_data(StudyRequest& request);

  QTemporaryDir folder_;  ///< folder of results that the user does not keep
  QComboBox* cut_;
  QCheckBox* rows_;
};

}  // namespace attnscope
