// The rank of the selected map of every open model, over the threshold.
#include <QGridLayout>
#include <QLabel>
#include <QPointer>
#include <cmath>

#include "analysis/spectrum/rank.h"
#include "app/look/theme.h"
#include "app/panels/lessons/experiments/experiment.h"
#include "app/panels/lessons/steps/lesson_loan.h"
#include "app/session/session.h"
#include "app/session/spectrum_store.h"
#include "app/widgets/number_slider.h"

namespace attnscope {

namespace {

constexpr int kNameWidth = 150;  // pixels; a longer name would widen the lesson

class RanksExperiment : public QWidget {
 public:
  explicit RanksExperiment(const ExperimentContext& context)
      : session_(context.session), spectra_(context.spectra), loan_(context.loan) {
    setObjectName("experiment_ranks");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    threshold_ = new NumberSlider(tr("Threshold τ"), {0.5, 0.99, 0.01},
                                  session_.view().rank_threshold.level);
    threshold_->setObjectName("ranks_threshold");
    column->addWidget(threshold_);
    table_ = new QLabel;
    table_->setTextFormat(Qt::RichText);
    table_->setObjectName("ranks_table");
    column->addWidget(table_);
    connect(threshold_, &NumberSlider::value_changed, this, [this](double threshold) {
      if (threshold == session_.view().rank_threshold.level) return;
      loan_.borrow();
      ViewSettings view = session_.view();
      view.rank_threshold.level = threshold;
      session_.set_view(view);
    });
    connect(&session_, &Session::view_changed, this, [this] { refresh(); });
    connect(&session_, &Session::selection_changed, this, [this] { refresh(); });
    connect(&session_, &Session::subjects_changed, this, [this] { refresh(); });
    connect(&spectra_, &SpectrumStore::spectra_ready, this, [this] { refresh(); });
    refresh();
  }

 private:
  void refresh() {
    const RankThreshold& threshold = session_.view().rank_threshold;
    if (threshold_->value() != threshold.level) threshold_->set_value(threshold.level);
    if (session_.subjects().empty()) {
      table_->setText(tr("Open a model first: the step above does it."));
      return;
    }
    const Selection& selection = session_.selection();
    QString rows =
        tr("<tr><td></td><td align=right>this map&nbsp;&nbsp;</td><td align=right>with "
           "I&nbsp;&nbsp;</td><td align=right>mean of all</td></tr>");
    QStringList names;
    for (const OpenSubject& open : session_.subjects()) {
      const auto spectra = spectra_.of(open.id);
      QString numbers = tr("<td colspan=3>computing…</td>");
      if (spectra) {
        numbers =
            cell(find_spectrum(spectra->without, selection.layer, selection.head), threshold) +
            cell(find_spectrum(spectra->with, selection.layer, selection.head), threshold) +
            mean_cell(mean_equivalent_rank(spectra->without, threshold));
      }
      const QString label = QString::fromStdString(open.subject.label);
      const QString name = table_->fontMetrics().elidedText(label, Qt::ElideMiddle, kNameWidth);
      rows += QString("<tr><td>%1&nbsp;&nbsp;</td>%2</tr>").arg(name.toHtmlEscaped(), numbers);
      names << label;
    }
    table_->setToolTip(names.join('\n'));
    table_->setText(tr("<p>Layer %1, head %2:</p><table>%3</table>")
                        .arg(selection.layer)
                        .arg(selection.head)
                        .arg(rows));
  }

  static QString mean_cell(double mean) {
    return QString("<td align=right>%1</td>")
        .arg(std::isnan(mean) ? QStringLiteral("–") : QString::number(mean, 'f', 1));
  }

  static QString cell(const MapSpectrum* spectrum, const RankThreshold& threshold) {
    if (!spectrum || spectrum->state != SpectrumState::ready) return "<td align=right>–</td>";
    return QString("<td align=right><b>%1</b> of %2&nbsp;&nbsp;</td>")
        .arg(equivalent_rank(*spectrum, threshold))
        .arg(spectrum->singular_values.size());
  }

  Session& session_;
  SpectrumStore& spectra_;
  LessonLoan& loan_;
  NumberSlider* threshold_;
  QLabel* table_;
};

}  // namespace

ExperimentEntry ranks_experiment() {
  return {"ranks", {}, [](const ExperimentContext& context) -> QWidget* {
            return new RanksExperiment(context);
          }};
}

}  // namespace attnscope
