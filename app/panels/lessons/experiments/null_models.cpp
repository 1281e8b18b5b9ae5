// The selected map's rank next to the ranks of null models without structure.
#include <QLabel>
#include <QVBoxLayout>
#include <memory>
#include <optional>

#include "app/panels/lessons/experiments/experiment.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"

// oneTBB has a function with the name of Qt's keyword.
#pragma push_macro("emit")
#undef emit
#include "analysis/baselines/null_model.h"
#pragma pop_macro("emit")

namespace attnscope {

namespace {

/// A trace of one layer and one head: the selected map, without I.
std::optional<Trace> selected_map(const Session& session) {
  const auto whole = session.trace(session.selection().subject);
  const auto layer = static_cast<std::size_t>(session.selection().layer);
  if (!whole || layer >= whole->layers.size()) return std::nullopt;
  if (whole->layers[layer].implied_map.empty()) return std::nullopt;
  const ImpliedMaps maps = maps_seen(*whole, session.selection().layer, IdentityView::without);
  const Matrix map = maps.head(session.selection().head);
  LayerTrace recorded;
  recorded.implied_map = Tensor({1, map.rows(), map.cols()});
  recorded.implied_map.slice(0) = map;
  Trace trace;
  trace.layers.push_back(std::move(recorded));
  return trace;
}

class NullModelsExperiment : public QWidget {
 public:
  explicit NullModelsExperiment(Session& session) : session_(session) {
    setObjectName("experiment_null_models");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    words_ = new QLabel;
    words_->setObjectName("null_words");
    words_->setTextFormat(Qt::RichText);
    words_->setWordWrap(true);
    column->addWidget(words_);
    connect(&session_, &Session::selection_changed, this, [this] { refresh(); });
    connect(&session_, &Session::trace_ready, this, [this] { refresh(); });
    connect(&session_, &Session::view_changed, this, [this] { refresh(); });
    refresh();
  }

 private:
  struct Numbers {
    MapSpectrum map;
    NullRanks null;
  };

  void refresh() {
    const std::optional<Trace> trace = selected_map(session_);
    if (!trace) {
      shown_ = {};
      words_->setText(tr("Select a map: the step above does it."));
      return;
    }
    const auto now = std::tuple(session_.selection().subject, session_.selection().layer,
                                session_.selection().head, session_.view().rank_threshold);
    if (shown_ == now) return;
    shown_ = now;
    session_.jobs().cancel(job_);
    words_->setText(tr("computing…"));
    SpectrumOptions options;
    options.threshold = session_.view().rank_threshold;
    job_ = session_.jobs().submit(
        tr("Shuffling a map"),
        [this, trace = *trace, options](const Progress& progress) -> JobQueue::Delivery {
          auto numbers = std::make_shared<Numbers>();
          numbers->map = spectrum_of(trace.layers.front().implied_map.slice(0), options);
          numbers->null =
              null_ranks(trace, {.identity = IdentityView::without}, options, progress).front();
          return [this, numbers] { show_numbers(*numbers); };
        },
        [this](const JobFailure& failure) {
          if (!failure.cancelled) words_->setText("⚠ " + QString::fromStdString(failure.what));
        },
        this);
  }

  void show_numbers(const Numbers& numbers) {
    if (!numbers.null.known) return words_->setText(tr("This map has no spectrum."));
    const auto row = [](const QString& name, const QString& value) {
      return QString("<tr><td>%1&nbsp;&nbsp;</td><td align=right><b>%2</b></td></tr>")
          .arg(name, value);
    };
    const double rank = static_cast<double>(numbers.map.equivalent_rank);
    publish_reading(*this, "shuffled",
                    (numbers.null.rank > rank   ? tr("rises, from %1 to %2")
                     : numbers.null.rank < rank ? tr("falls, from %1 to %2")
                                                : tr("stays, %1 and %2"))
                        .arg(rank)
                        .arg(numbers.null.rank, 0, 'f', 1));
    words_->setText(
        tr("<p>Layer %1, head %2, of %3 tokens:</p><table>%4</table>")
            .arg(session_.selection().layer)
            .arg(session_.selection().head)
            .arg(numbers.map.tokens)
            .arg(row(tr("equivalent rank of the map"), QString::number(rank)) +
                 row(tr("of the same weights, shuffled within rows"),
                     tr("%1 ± %2")
                         .arg(numbers.null.rank, 0, 'f', 1)
                         .arg(numbers.null.deviation, 0, 'f', 1)) +
                 row(tr("of equal weights"), QString::number(numbers.null.even_rank)) +
                 row(tr("map / shuffled"), numbers.null.rank > 0
                                               ? QString::number(rank / numbers.null.rank, 'f', 2)
                                               : QString("–"))));
  }

  Session& session_;
  QLabel* words_;
  std::int64_t job_ = 0;
  std::optional<std::tuple<SubjectId, std::int64_t, std::int64_t, RankThreshold>> shown_;
};

}  // namespace

ExperimentEntry null_models_experiment() {
  return {"null-models",
          {},
          [](const ExperimentContext& context) -> QWidget* {
            return new NullModelsExperiment(context.session);
          },
          {"shuffled"}};
}

}  // namespace attnscope
