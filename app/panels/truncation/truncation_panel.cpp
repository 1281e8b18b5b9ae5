#include "app/panels/truncation/truncation_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <algorithm>
#include <utility>
#include <variant>

#include "analysis/intervention/truncation.h"
#include "app/session/session.h"

namespace attnscope {

namespace {

constexpr double kCurveSeconds = 1;  // interval at which the curves grow

bool reads_text(const OpenSubject& open) {
  return open.subject.model && open.subject.model->spec().is_language_model();
}

ParameterValues shows(const char* what) { return {{"show", std::vector<std::string>{what}}}; }

}  // namespace

TruncationPanel::TruncationPanel(Session& session, QWidget* parent)
    : StudyPanel(
          session,
          {.name = "truncation",
           .title = tr(kTitle),
           .about = tr("Does the rank matter? Every map of the open models is replaced by its best "
                       "approximation of rank 1, 2, 4, … while they run, over a data set with "
                       "labels, or over the open text: how often they are still right is drawn "
                       "against the rank, with the equivalent rank marked."),
           .verb = tr("Truncate"),
           .doing = tr("Truncating ranks"),
           .data_hint = tr("IDX, HDF5, NPZ, class folders; empty: the open text"),
           .result_hint = tr("result file (.h5); empty: discarded"),
           .file_name = "truncated.h5",
           .count = 500,
           .count_step = 100},
          {{tr("Accuracy"), tr("Accuracy; of texts bits per character"), "rank-accuracy",
            shows("answers")},
           {tr("Change of answers"),
            tr("How far the predictions are from the whole model's, in bits"), "rank-accuracy",
            shows("divergence")}},
          parent),
      cut_(new QComboBox),
      rows_(new QCheckBox(tr("Rescale rows to sum 1"))) {
  cut_->setObjectName("truncation_cut");
  cut_->setAccessibleName(tr("Truncated matrix"));
  cut_->addItems({tr("Truncate A, keep I"), tr("Truncate A + I"), tr("Both")});
  cut_->setToolTip(tr("Matrix whose rank is truncated, for attention with identity mapping"));
  rows_->setObjectName("truncation_rows");
  rows_->setToolTip(tr("Rows of the truncated map are scaled to their former sums"));
  add_option(cut_);
  add_option(rows_);
}

bool TruncationPanel::take_data(StudyRequest& request) {
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
  say(texts ? tr("Open a text, or choose a data set.") : tr("Choose a data set with labels."));
  return false;
}

std::optional<StudyPanel::Work> TruncationPanel::work() {
  StudyRequest wanted;
  if (!take_data(wanted)) return std::nullopt;
  TruncationRequest truncation;
  truncation.threshold = session().view().rank_threshold;
  truncation.renormalise = {rows_->isChecked()};
  if (cut_->currentIndex() == 1) truncation.cuts = {TruncatedMap::with_identity};
  if (cut_->currentIndex() == 2) truncation.cuts.push_back(TruncatedMap::with_identity);
  std::vector<Subject> subjects;
  for (const OpenSubject& open : session().subjects()) {
    if (!open.subject.model || reads_text(open) != wanted.text.has_value()) continue;
    subjects.push_back(open.subject);
    subjects.back().trace = nullptr;
  }
  if (subjects.empty()) {
    say(tr("No open model reads this."));
    return std::nullopt;
  }
  wanted.out = out();
  wanted.restart = begins_anew() || chosen_result().empty();
  wanted.checkpoint_seconds = kCurveSeconds;
  return [wanted, truncation, subjects](const Progress& progress,
                                        const std::function<void()>& grown) mutable {
    add_truncation(subjects, truncation, wanted);
    if (!wanted.text) wanted.data_set = open_data_set(wanted.data);
    const StudyResult result = run_study(wanted, progress, [&](const StudyResult&) { grown(); });
    const qlonglong inputs = result.series.empty() ? 0 : result.series.front().done;
    return tr("%1 inputs, complete.").arg(inputs);
  };
}

std::filesystem::path TruncationPanel::out() const {
  return chosen_result().empty()
             ? std::filesystem::path(folder_.path().toStdString()) / "truncated.h5"
             : chosen_result();
}

}  // namespace attnscope
