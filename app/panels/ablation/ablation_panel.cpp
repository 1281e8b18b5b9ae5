#include "app/panels/ablation/ablation_panel.h"

#include <QComboBox>

#include "analysis/intervention/ablation.h"
#include "app/session/session.h"
#include "app/widgets/elided_combo_box.h"

namespace attnscope {

namespace {

ParameterValues measured_by(const char* measure) {
  return {{"show", std::vector<std::string>{measure}}};
}

}  // namespace

AblationPanel::AblationPanel(Session& session, QWidget* parent)
    : AnswerStudyPanel(
          session,
          {.name = "ablation",
           .title = tr(kTitle),
           .about = tr("Which heads matter? The map of each head of the open models is replaced in "
                       "turn while they run, over a data set with labels, or over the open text: "
                       "the change of their answers is drawn layer by layer, head by head."),
           .verb = tr("Ablate"),
           .doing = tr("Ablating heads"),
           .data_hint = tr("labelled data; empty: the open text"),
           .result_hint = tr("result file (.h5); empty: discarded"),
           .file_name = "ablated.h5",
           .count = 100,
           .count_step = 50},
          {{tr("Accuracy"), tr("Change of the share of right answers, in points"), "ablation",
            measured_by("accuracy-change")},
           {tr("KL"), tr("How far the predictions are from the whole model's, in bits"), "ablation",
            measured_by("divergence")}},
          parent),
      each_(new ElidedComboBox),
      by_(new ElidedComboBox) {
  each_->setObjectName("ablation_each");
  each_->setAccessibleName(tr("Replaced at a time"));
  each_->setToolTip(tr("Maps that are replaced at a time"));
  each_->addItem(tr("each head"), "head");
  each_->addItem(tr("each layer"), "layer");
  by_->setObjectName("ablation_by");
  by_->setAccessibleName(tr("Replacement"));
  by_->setToolTip(tr("Replacement of the map; an identity mapping is kept"));
  by_->addItem(tr("by zeros"), "zero");
  by_->addItem(tr("by equal weights"), "uniform");
  by_->addItem(tr("by its mean over the data"), "mean");
  by_->addItem(tr("by its rows shuffled"), "shuffled");
  add_option(each_);
  add_option(by_);
}

std::optional<StudyPanel::Work> AblationPanel::work() {
  const auto chosen = [](const QComboBox& list) {
    return list.currentData().toString().toStdString();
  };
  Ablation ablation;
  ablation.by = value_of(replacement_names, chosen(*by_), "replacement");
  if (ablation.by == Replacement::mean && chosen_data().empty()) {
    show_note(tr("Choose a data set: chunks of a text differ in length and have no mean map."));
    return std::nullopt;
  }
  const AblatedUnit unit = value_of(ablated_unit_names, chosen(*each_), "unit");
  return work_of([ablation, unit](const std::vector<Subject>& subjects, StudyRequest& request,
                                  const Progress& progress) {
    add_ablation(subjects, ablation, unit, request, progress);
  });
}

}  // namespace attnscope
