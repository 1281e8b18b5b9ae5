// Sweep of the open models over a data set: spectra, ranks and other quantities that grow while it
// runs.
#pragma once

#include <QTemporaryDir>

#include "app/panels/frame/study_panel.h"

namespace attnscope {

class SweepPanel : public StudyPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Sweep");

  explicit SweepPanel(Session& session, QWidget* parent = nullptr);

 protected:
  [[nodiscard]] std::optional<Work> work() override;
  [[nodiscard]] std::filesystem::path out() const override;

 private:
  QTemporaryDir folder_;  ///< folder of results that the user does not keep
};

}  // namespace attnscope
