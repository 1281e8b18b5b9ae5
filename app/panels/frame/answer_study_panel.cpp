#include "app/panels/frame/answer_study_panel.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "app/session/session.h"

namespace attnscope {

namespace {

constexpr double kCurveSeconds = 1;  // interval at which the figures grow

bool reads_text(const OpenSubject& open) {
  return open.subject.model && open.subject.model->spec().is_language_model();
}

}  // namespace

bool AnswerStudyPanel::take_data(StudyRequest& request) {
  const bool texts = std::ranges::any_of(session().subjects(), reads_text);
  if (!chosen_data().empty()) {
    request.data = chosen_data();
    request.choice.count = chosen_count();
    return true;
  }
  const auto* const text =
      session().input() ? std::get_if<Text>(&session().input()->content) : nullptr;
  if (texts && text) {
    request.text = *text;
    request.data = session().input_locator();
    return true;
  }
  show_note(texts ? tr("Open a text, or choose a data set.")
                  : tr("Choose a data set with labels."));
  return false;
}

std::optional<StudyPanel::Work> AnswerStudyPanel::work_of(const Add& add) {
  StudyRequest wanted;
  if (!take_data(wanted)) return std::nullopt;
  std::vector<Subject> subjects;
  for (const OpenSubject& open : session().subjects()) {
    if (!open.subject.model || reads_text(open) != wanted.text.has_value()) continue;
    subjects.push_back(open.subject);
    subjects.back().trace = nullptr;
  }
  if (subjects.empty()) {
    show_note(tr("No open model reads this."));
    return std::nullopt;
  }
  wanted.out = out();
  wanted.restart = starts_over() || chosen_result().empty();
  wanted.checkpoint_seconds = kCurveSeconds;
  return [wanted, add, subjects](const Progress& progress,
                                 const std::function<void()>& grown) mutable {
    if (!wanted.text) wanted.data_set = open_data_set(wanted.data);
    add(subjects, wanted, progress);
    const StudyResult result = run_study(wanted, progress, [&](const StudyResult&) { grown(); });
    const qlonglong inputs = result.series.empty() ? 0 : result.series.front().done;
    return tr("%1 inputs, complete.").arg(inputs);
  };
}

std::filesystem::path AnswerStudyPanel::out() const {
  return chosen_result().empty() ? std::filesystem::path(folder_.path().toStdString()) / "study.h5"
                                 : chosen_result();
}

}  // namespace attnscope
