// Proposition 1 of the Adder paper on random maps and on the selected one: the effect of adding I
// on the rank, and the paper's prediction σ + 1.
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <cmath>
#include <random>

#include "analysis/spectrum/identity_effect.h"
#include "app/panels/lessons/experiments/experiment.h"
#include "app/session/session.h"
#include "app/widgets/elided_combo_box.h"
#include "app/widgets/map_thumbnail.h"
#include "app/widgets/number_slider.h"

namespace attnscope {

namespace {

constexpr std::int64_t kIdentityWidth = 16;
// Above this number of tokens a slider step is noticeably slow.
constexpr std::int64_t kMostTokens = 128;

Tensor random_rows(std::int64_t tokens, double scale, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, static_cast<float>(scale));
  Tensor rows({tokens, kIdentityWidth});
  for (float& value : rows.values()) value = normal(random);
  return rows;
}

class IdentityExperiment : public QWidget {
 public:
  explicit IdentityExperiment(Session& session) : session_(session) {
    setObjectName("experiment_identity");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    source_ = new ElidedComboBox;
    source_->setAccessibleName(tr("Map"));
    source_->setObjectName("identity_source");
    source_->addItem(tr("random queries and keys, adder"), "adder");
    source_->addItem(tr("random queries and keys, softmax"), "softmax");
    source_->addItem(tr("random tokens with themselves (symmetric), adder"), "symmetric");
    source_->addItem(tr("the selected map"), "selected");
    tokens_ = new NumberSlider(tr("Tokens N"), {4, kMostTokens, 1, true}, 64);
    tokens_->setObjectName("identity_tokens");
    scale_ = new NumberSlider(tr("Length of q, k"), {0.1, 4, 0.1, true}, 1);
    scale_->setObjectName("identity_length");
    map_ = new MapThumbnail(tr("H"));
    numbers_ = new QLabel;
    numbers_->setTextFormat(Qt::RichText);
    numbers_->setObjectName("identity_numbers");
    numbers_->setWordWrap(true);
    column->addWidget(source_);
    column->addWidget(tokens_);
    column->addWidget(scale_);
    auto* row = new QHBoxLayout;
    row->setSpacing(14);
    row->addWidget(map_);
    row->addWidget(numbers_, 1);
    column->addLayout(row);
    const auto again = [this] { refresh(); };
    connect(source_, &QComboBox::currentIndexChanged, this, again);
    connect(tokens_, &NumberSlider::value_changed, this, again);
    connect(scale_, &NumberSlider::value_changed, this, again);
    connect(&session_, &Session::selection_changed, this, [this] { refresh_selected(); });
    connect(&session_, &Session::trace_ready, this, [this] { refresh_selected(); });
    refresh();
  }

 private:
  [[nodiscard]] bool takes_selected() const { return source_->currentData() == "selected"; }
  void refresh_selected() {
    if (takes_selected()) refresh();
  }

  /// The map as a trace of one layer and one head; no layers if there is no map.
  [[nodiscard]] Trace trace() const {
    Trace trace;
    if (takes_selected()) {
      const auto whole = session_.trace(session_.selection().subject);
      const auto layer = static_cast<std::size_t>(session_.selection().layer);
      if (!whole || whole->layers[layer].implied_map.empty()) return trace;
      const ImpliedMaps maps = maps_seen(*whole, session_.selection().layer, IdentityView::without);
      const Matrix map = maps.head(session_.selection().head);
      if (map.rows() != map.cols()) return trace;
      LayerTrace recorded;
      recorded.implied_map = Tensor({1, map.rows(), map.cols()});
      recorded.implied_map.slice(0) = map;
      trace.layers.push_back(std::move(recorded));
      return trace;
    }
    const std::int64_t tokens = std::lround(tokens_->value());
    const Tensor queries = random_rows(tokens, scale_->value(), 1);
    const bool symmetric = source_->currentData() == "symmetric";
    const Tensor keys = random_rows(tokens, scale_->value(), symmetric ? 1 : 2);
    const AttentionInput input{
        .queries = queries.matrix(), .keys = keys.matrix(), .values = keys.matrix(), .heads = 1};
    const std::string mechanism = source_->currentData() == "softmax" ? "softmax" : "adder";
    LayerTrace recorded;
    recorded.implied_map = make_mechanism({mechanism, {}})->implied_map(input);
    trace.layers.push_back(std::move(recorded));
    return trace;
  }

  void refresh() {
    tokens_->setEnabled(!takes_selected());
    scale_->setEnabled(!takes_selected());
    const Trace trace = this->trace();
    if (trace.layers.empty()) {
      map_->set_problem(tr("no square map is selected"));
      numbers_->setText({});
      return;
    }
    SpectrumOptions options;
    options.threshold = session_.view().rank_threshold;
    const IdentityEffect effect = identity_effects(trace, options).front();
    map_->set_map(trace.layers.front().implied_map.slice(0), {});
    if (effect.without.state != SpectrumState::ready || effect.with.state != SpectrumState::ready) {
      numbers_->setText(tr("This map has no spectrum."));
      return;
    }
    numbers_->setText(tr("<table>"
                         "<tr><td>rank of H&nbsp;&nbsp;</td><td align=right><b>%1</b></td></tr>"
                         "<tr><td>rank of H + I</td><td align=right><b>%2</b></td></tr>"
                         "<tr><td>predicted by σ + 1&nbsp;&nbsp;</td><td align=right>%3</td></tr>"
                         "<tr><td>of N tokens</td><td align=right>%4</td></tr>"
                         "<tr><td>symmetry error</td><td align=right>%5</td></tr></table>")
                          .arg(effect.without.equivalent_rank)
                          .arg(effect.with.equivalent_rank)
                          .arg(effect.predicted_rank)
                          .arg(effect.without.tokens)
                          .arg(effect.without.symmetry_error, 0, 'f', 2));
  }

  Session& session_;
  QComboBox* source_;
  NumberSlider* tokens_;
  NumberSlider* scale_;
  MapThumbnail* map_;
  QLabel* numbers_;
};

}  // namespace

ExperimentEntry identity_experiment() {
  return {"identity", {}, [](const ExperimentContext& context) -> QWidget* {
            return new IdentityExperiment(context.session);
          }};
}

}  // namespace attnscope
