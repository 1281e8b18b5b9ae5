// Base of the panels that run the open models with changed maps over a data set, or over the open
// text, and compare their answers.
#pragma once

#include <QTemporaryDir>
#include <functional>
#include <optional>
#include <vector>

#include "analysis/intervention/study.h"
#include "app/panels/frame/study_panel.h"

namespace attnscope {

class AnswerStudyPanel : public StudyPanel {
  Q_OBJECT
 protected:
  using StudyPanel::StudyPanel;

  /// Makes the request a study of these subjects: add_truncation or add_ablation. Runs on a job's
  /// thread, after the data set was opened.
  using Add = std::function<void(const std::vector<Subject>& subjects, StudyRequest& request,
                                 const Progress& progress)>;
  /// Work on the data of the fields, or on the open text; empty, after show_note() with the reason,
  /// if there is none or no open model reads it.
  [[nodiscard]] std::optional<Work> work_of(const Add& add);
  [[nodiscard]] std::filesystem::path out() const override;

 private:
  /// Sets the data of `request`; false, after show_note() with the reason, if there is none.
  [[nodiscard]] bool take_data(StudyRequest& request);

  QTemporaryDir folder_;  ///< folder of results that the user does not keep
};

}  // namespace attnscope
