#include "app/panels/truncation/truncation_panel.h"

#include <QCheckBox>
#include <QComboBox>

#include "analysis/intervention/truncation.h"
#include "app/session/session.h"
#include "app/widgets/elided_combo_box.h"

namespace attnscope {

namespace {

ParameterValues shows(const char* what) { return {{"show", std::vector<std::string>{what}}}; }

}  // namespace

TruncationPanel::TruncationPanel(Session& session, QWidget* parent)
    : AnswerStudyPanel(
          session,
          {.name = "truncation",
           .title = tr(kTitle),
           .about = tr("Does the rank matter? Every map of the open models is replaced by its best "
                       "approximation of rank 1, 2, 4, … while they run, over a data set with "
                       "labels, or over the open text: how often they are still right is drawn "
                       "against the rank, with the equivalent rank marked."),
           .verb = tr("Truncate"),
           .doing = tr("Truncating ranks"),
           .data_hint = tr("labelled data; empty: the open text"),
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
      cut_(new ElidedComboBox),
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

std::optional<StudyPanel::Work> TruncationPanel::work() {
  TruncationRequest truncation;
  truncation.threshold = session().view().rank_threshold;
  truncation.renormalise = {rows_->isChecked()};
  if (cut_->currentIndex() == 1) truncation.cuts = {TruncatedMap::with_identity};
  if (cut_->currentIndex() == 2) truncation.cuts.push_back(TruncatedMap::with_identity);
  return work_of([truncation](const std::vector<Subject>& subjects, StudyRequest& request,
                              const Progress&) { add_truncation(subjects, truncation, request); });
}

}  // namespace attnscope
