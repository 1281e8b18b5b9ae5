// Accuracy of all open models on twelve images with their maps truncated to a lower rank, and the
// effect of replacing one head's map on the current image.
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <memory>

#include "analysis/intervention/ablation.h"
#include "analysis/intervention/truncation.h"
#include "app/panels/lessons/experiments/experiment.h"
#include "app/panels/lessons/steps/step_runner.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/widgets/elided_combo_box.h"
#include "core/error.h"

namespace attnscope {

namespace {

QLabel* table_label(const char* name) {
  auto* label = new QLabel;
  label->setObjectName(name);
  label->setTextFormat(Qt::RichText);
  label->setWordWrap(true);
  return label;
}

QString shown_name(const std::string& label) {
  return QString::fromStdString(label).toHtmlEscaped();
}

class TruncatedMapsExperiment : public QWidget {
 public:
  /// `both`: attention with an identity mapping is also truncated with it, (A + I)_r.
  TruncatedMapsExperiment(Session& session, bool both) : session_(session), both_(both) {
    setObjectName("experiment_truncated_maps");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    go_ = new QPushButton(tr("Truncate every map"));
    go_->setObjectName("truncated_maps_go");
    words_ = table_label("truncated_maps_words");
    column->addWidget(go_, 0, Qt::AlignLeft);
    column->addWidget(words_);
    connect(go_, &QPushButton::clicked, this, [this] { measure(); });
  }

 private:
  void measure() {
    StudyRequest request;
    request.data = sample_file("inputs", "twelve.npz").string();
    TruncationRequest truncation;
    truncation.ranks = {1, 2, 4, 8, 16, 64};
    truncation.threshold = session_.view().rank_threshold;
    if (both_) truncation.cuts.push_back(TruncatedMap::with_identity);
    std::vector<Subject> subjects;
    for (const OpenSubject& open : session_.subjects()) {
      if (open.state == OpenSubject::State::ready && open.subject.model) {
        subjects.push_back(open.subject);
      }
    }
    if (subjects.empty()) return words_->setText(tr("Open a model first: the step above does it."));
    go_->setEnabled(false);
    words_->setText(tr("Running twelve images, seven times for each model…"));
    session_.jobs().submit(
        tr("Truncating maps"),
        [this, request, truncation,
         subjects](const Progress& progress) mutable -> JobQueue::Delivery {
          request.data_set = open_data_set(request.data);
          add_truncation(subjects, truncation, request);
          auto result = std::make_shared<const StudyResult>(run_study(request, progress));
          return [this, result] { show_result(*result); };
        },
        [this](const JobFailure& failure) {
          go_->setEnabled(true);
          words_->setText(failure.cancelled ? tr("Cancelled: the button starts it again.")
                                            : "⚠ " + QString::fromStdString(failure.what));
        },
        this);
  }

  void show_result(const StudyResult& result) {
    go_->setEnabled(true);
    QString head = tr("<tr><td>r&nbsp;&nbsp;</td>"),
            ranks = tr("<tr><td>rank at τ&nbsp;&nbsp;</td>");
    for (const StudySeries& series : result.series) {
      head +=
          QString("<td align=right colspan=2>%1&nbsp;&nbsp;</td>").arg(shown_name(series.label));
      const auto mean = mean_equivalent_rank(series);
      ranks += QString("<td align=right colspan=2><b>%1</b>&nbsp;&nbsp;</td>")
                   .arg(mean ? QString::number(*mean, 'f', 1) : QString("–"));
    }
    QString rows = head + "</tr>";
    const std::size_t columns = result.series.front().columns.size();
    for (std::size_t i = 1; i <= columns; ++i) {
      const std::size_t column = i % columns;  // the column of whole maps is last
      const auto& of = result.series.front().columns[column];
      rows += QString("<tr><td>%1</td>").arg(of.rank > 0 ? QString::number(of.rank) : tr("all"));
      for (std::size_t series = 0; series < result.series.size(); ++series) {
        const Outcome outcome = outcome_of(result, series, column);
        if (series == 0) {
          publish_reading(*this,
                          of.rank > 0 ? QString("right-%1").arg(of.rank) : QString("right-all"),
                          tr("%1 of %2, %3")
                              .arg(outcome.correct)
                              .arg(outcome.predicted)
                              .arg(QString::fromStdString(result.series.front().label)));
        }
        rows +=
            tr("<td align=right>%1 of %2&nbsp;&nbsp;</td><td align=right>%3 bit&nbsp;&nbsp;</td>")
                .arg(outcome.correct)
                .arg(outcome.predicted)
                .arg(outcome.divergence, 0, 'f', 3);
      }
      rows += "</tr>";
    }
    words_->setText(tr("<p>Right answers, and how far the predictions are from those of the whole "
                       "maps:</p><table>%1%2</tr></table>")
                        .arg(rows, ranks));
  }

  Session& session_;
  bool both_;
  QPushButton* go_;
  QLabel* words_;
};

class ReplacedHeadExperiment : public QWidget {
 public:
  explicit ReplacedHeadExperiment(Session& session) : session_(session) {
    setObjectName("experiment_replaced_head");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    by_ = new ElidedComboBox;
    by_->setObjectName("replaced_by");
    by_->setAccessibleName(tr("Replacement of the head"));
    by_->addItem(tr("nothing"), static_cast<int>(Replacement::zero));
    by_->addItem(tr("equal weights"), static_cast<int>(Replacement::uniform));
    by_->addItem(tr("its own weights, shuffled"), static_cast<int>(Replacement::shuffled));
    go_ = new QPushButton(tr("Replace the selected head"));
    go_->setObjectName("replaced_go");
    words_ = table_label("replaced_words");
    auto* row = new QHBoxLayout;
    row->addWidget(new QLabel(tr("Replacement:")));
    row->addWidget(by_, 1);
    column->addLayout(row);
    column->addWidget(go_, 0, Qt::AlignLeft);
    column->addWidget(words_);
    connect(go_, &QPushButton::clicked, this, [this] { replace(); });
  }

 private:
  void replace() {
    const OpenSubject* const open = session_.find(session_.selection().subject);
    const std::shared_ptr<const Input> input = session_.input();
    if (!open || !open->subject.model || !input) {
      return words_->setText(tr("Open a model and an image first: the step above does it."));
    }
    Ablation ablation;
    ablation.where = {{session_.selection().layer}, {session_.selection().head}};
    ablation.by = static_cast<Replacement>(by_->currentData().toInt());
    go_->setEnabled(false);
    session_.jobs().submit(
        tr("Replacing a head"),
        [this, ablation, input,
         subject = open->subject](const Progress& progress) -> JobQueue::Delivery {
          auto answer = std::make_shared<const AblatedAnswer>(
              ablate_once(subject, *input, ablation, progress));
          return [this, answer, ablation] { show_answer(*answer, ablation); };
        },
        [this](const JobFailure& failure) {
          go_->setEnabled(true);
          words_->setText(failure.cancelled ? tr("Cancelled: the button starts it again.")
                                            : "⚠ " + QString::fromStdString(failure.what));
        },
        this);
  }

  void show_answer(const AblatedAnswer& answer, const Ablation& ablation) {
    go_->setEnabled(true);
    QString rows;
    for (const LogitChange& each : answer.greatest(3)) {
      const QString name =
          each.label.empty() ? tr("class %1").arg(each.index) : shown_name(each.label);
      rows += tr("<tr><td>%1&nbsp;&nbsp;</td><td align=right>%2 %&nbsp;→&nbsp;</td><td "
                 "align=right><b>%3 %</b></td></tr>")
                  .arg(name)
                  .arg(100 * each.probability_before, 0, 'f', 2)
                  .arg(100 * each.probability_after, 0, 'f', 2);
    }
    words_->setText(tr("<p>Layer %1, head %2 replaced: the prediction moves by %3 "
                       "bit.</p><table>%4</table>")
                        .arg(ablation.where.layers.front())
                        .arg(ablation.where.heads.front())
                        .arg(answer.divergence, 0, 'g', 3)
                        .arg(rows));
  }

  Session& session_;
  QComboBox* by_;
  QPushButton* go_;
  QLabel* words_;
};

}  // namespace

ExperimentEntry truncated_maps_experiment() {
  return {"truncated-maps",
          {"identity"},
          [](const ExperimentContext& context) -> QWidget* {
            const auto identity = context.settings.find("identity");
            const bool both = identity != context.settings.end() && identity->second == "both";
            return new TruncatedMapsExperiment(context.session, both);
          },
          {"right-1", "right-2", "right-4", "right-8", "right-16", "right-64", "right-all"}};
}

ExperimentEntry replaced_head_experiment() {
  return {"replaced-head", {}, [](const ExperimentContext& context) -> QWidget* {
            return new ReplacedHeadExperiment(context.session);
          }};
}

}  // namespace attnscope
