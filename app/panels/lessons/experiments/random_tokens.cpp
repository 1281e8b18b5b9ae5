// The laboratory of a head's width: ranks of random tokens under softmax and adder attention that
// are equally sharp, as a table and as curves over d with the bound of softmax's scores.
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/figure/series_style.h"
#include "app/panels/frame/figure_view.h"
#include "app/panels/lessons/experiments/experiment.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/widgets/number_slider.h"
#include "core/text/number_text.h"

// oneTBB has a function with the name of Qt's keyword.
#pragma push_macro("emit")
#undef emit
#include "analysis/baselines/random_tokens.h"
#pragma pop_macro("emit")

namespace attnscope {

namespace {

constexpr std::int64_t kLaboratoryTokens = 197;
constexpr std::int64_t kLaboratoryDraws = 4;
constexpr double kLaboratoryThreshold = 0.9;
constexpr std::int64_t kLaboratoryWidths[] = {4, 8, 16, 32, 64};
constexpr std::size_t kMostRows = 12;
constexpr int kPlotHeight = 240;      // pixels
constexpr double kBesideLast = 1.04;  // padding for the last marker and its label

struct WidthRanks {
  std::int64_t width = 0;
  double entropy = 0;
  std::optional<double> softmax, adder;  ///< nullopt: no temperature gives this entropy
};

std::optional<double> mean_rank_of(std::int64_t width, RandomScores scores, double entropy,
                                   const Progress& progress) {
  const RandomTokenCurve curve =
      random_token_curve({kLaboratoryTokens, kLaboratoryTokens, width}, scores, false,
                         std::vector{entropy}, kLaboratoryDraws, kLaboratoryThreshold, progress);
  return curve.rank.empty() ? std::nullopt : std::optional(curve.rank.front());
}

/// The rows of one entropy as curves over d, and y = d: scores q·k of N × d numbers have no higher
/// rank. The maps may lie above it, since the softmax is not linear.
Figure figure_of_widths(const std::vector<WidthRanks>& rows, double entropy) {
  Panel panel;
  Line softmax, adder, bound;
  softmax.label = "softmax";
  adder.label = "adder";
  bound.label = "bound of softmax's scores: rank ≤ d";
  softmax.colour = subject_colour(0);
  adder.colour = subject_colour(1);
  bound.colour = neutral_colour;
  softmax.marker = subject_marker(0);
  adder.marker = subject_marker(1);
  bound.style = LineStyle::dashed;
  for (const WidthRanks& row : rows) {
    if (row.entropy != entropy) continue;
    const auto width = static_cast<double>(row.width);
    const auto add = [width](Line& line, const std::optional<double>& rank) {
      if (!rank) return;
      line.x.push_back(width);
      line.y.push_back(*rank);
    };
    add(softmax, row.softmax);
    add(adder, row.adder);
    add(bound, std::min(width, static_cast<double>(kLaboratoryTokens)));
    panel.x.ticks.push_back({width, std::to_string(row.width)});
  }
  panel.title =
      "entropy " + rounded_text(entropy) + " ln N, N = " + std::to_string(kLaboratoryTokens);
  panel.x.label = "head width d";
  panel.x.key = "d";
  panel.y.label = "mean equivalent rank";
  panel.x.minimum = panel.y.minimum = 0;
  if (!bound.x.empty()) panel.x.maximum = kBesideLast * bound.x.back();
  panel.legend = LegendPosition::below;
  for (Line* const line : {&softmax, &adder, &bound}) panel.marks.emplace_back(std::move(*line));
  Figure figure;
  figure.name = "random-tokens";
  figure.panels.push_back(std::move(panel));
  return figure;
}

class RandomTokensExperiment : public QWidget {
 public:
  explicit RandomTokensExperiment(Session& session) : session_(session) {
    setObjectName("experiment_random_tokens");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    width_ = new NumberSlider(tr("Head width d"), {2, 128, 1, true}, 16);
    width_->setObjectName("random_tokens_width");
    entropy_ = new NumberSlider(tr("Entropy / ln N"), {0.3, 0.95, 0.05}, 0.8);
    entropy_->setObjectName("random_tokens_entropy");
    entropy_->setToolTip(tr("Mean entropy of the rows: 1 is uniform, 0 one key a row"));
    one_ = new QPushButton(tr("Measure at this d"));
    one_->setObjectName("random_tokens_go");
    every_ = new QPushButton(tr("4 to 64"));
    every_->setObjectName("random_tokens_every");
    every_->setAccessibleName(tr("Measure at d = 4, 8, 16, 32 and 64"));
    auto* row = new QHBoxLayout;
    row->addWidget(one_);
    row->addWidget(every_);
    row->addStretch(1);
    words_ = new QLabel;
    words_->setObjectName("random_tokens_words");
    words_->setTextFormat(Qt::RichText);
    words_->setWordWrap(true);
    column->addWidget(width_);
    column->addWidget(entropy_);
    column->addLayout(row);
    plot_ = new FigureView(tr("Mean rank over the head width"));
    plot_->setObjectName("random_tokens_plot");
    plot_->setMinimumHeight(kPlotHeight);
    plot_->hide();  // hidden until there are two widths
    column->addWidget(words_);
    column->addWidget(plot_);
    connect(one_, &QPushButton::clicked, this,
            [this] { measure({static_cast<std::int64_t>(std::lround(width_->value()))}); });
    connect(every_, &QPushButton::clicked, this, [this] {
      measure({std::begin(kLaboratoryWidths), std::end(kLaboratoryWidths)});
    });
    refresh();
  }

 private:
  void measure(const std::vector<std::int64_t>& widths) {
    one_->setEnabled(false);
    every_->setEnabled(false);
    words_->setText(tr("computing…"));
    session_.jobs().submit(
        tr("Ranks of random tokens"),
        [this, widths,
         entropy = entropy_->value()](const Progress& progress) -> JobQueue::Delivery {
          auto found = std::make_shared<std::vector<WidthRanks>>();
          for (const std::int64_t width : widths) {
            found->push_back({width, entropy,
                              mean_rank_of(width, RandomScores::softmax, entropy, progress),
                              mean_rank_of(width, RandomScores::adder, entropy, progress)});
          }
          return [this, found] { take(*found); };
        },
        [this](const JobFailure& failure) {
          release();
          if (!failure.cancelled) words_->setText("⚠ " + QString::fromStdString(failure.what));
        },
        this);
  }

  void release() {
    one_->setEnabled(true);
    every_->setEnabled(true);
    refresh();
  }

  void take(const std::vector<WidthRanks>& found) {
    for (const WidthRanks& each : found) {
      std::erase_if(rows_, [&](const WidthRanks& row) {
        return row.width == each.width && row.entropy == each.entropy;
      });
      rows_.push_back(each);
    }
    if (rows_.size() > kMostRows) {
      rows_.erase(rows_.begin(), rows_.end() - static_cast<std::ptrdiff_t>(kMostRows));
    }
    std::ranges::sort(rows_, {},
                      [](const WidthRanks& row) { return std::pair(row.entropy, row.width); });
    publish();
    release();
    draw_curves(found.back().entropy);
  }

  void draw_curves(double entropy) {
    const bool has_curve = std::ranges::count(rows_, entropy, &WidthRanks::entropy) > 1;
    plot_->setVisible(has_curve);
    if (has_curve) plot_->show_figure(figure_of_widths(rows_, entropy));
  }

  void publish() {
    for (const WidthRanks& row : rows_) {
      if (!row.softmax || !row.adder) continue;
      publish_reading(*this, QString("higher-at-%1").arg(row.width),
                      tr("%1, %2 against %3 at entropy %4 ln N")
                          .arg(*row.softmax > *row.adder   ? tr("softmax")
                               : *row.softmax < *row.adder ? tr("adder")
                                                           : tr("neither"))
                          .arg(std::max(*row.softmax, *row.adder), 0, 'f', 0)
                          .arg(std::min(*row.softmax, *row.adder), 0, 'f', 0)
                          .arg(row.entropy));
    }
    // The first width at which softmax has overtaken, among neighbours at one entropy.
    for (std::size_t i = 1; i < rows_.size(); ++i) {
      const WidthRanks &one = rows_[i - 1], &next = rows_[i];
      const bool known = one.softmax && one.adder && next.softmax && next.adder;
      if (!known || one.entropy != next.entropy) continue;
      if (*one.adder > *one.softmax && *next.softmax > *next.adder) {
        publish_reading(*this, "crossing",
                        tr("between d = %1 and %2, at entropy %3 ln N")
                            .arg(one.width)
                            .arg(next.width)
                            .arg(next.entropy));
      }
    }
  }

  void refresh() {
    if (rows_.empty()) {
      words_->setText(tr("Nothing is measured yet. %1 tokens, entries of q and k are N(0, 1), %2 "
                         "draws; a temperature gives both mechanisms the same entropy.")
                          .arg(kLaboratoryTokens)
                          .arg(kLaboratoryDraws));
      return;
    }
    QString rows =
        tr("<tr><td>d&nbsp;&nbsp;</td><td>entropy&nbsp;&nbsp;</td><td "
           "align=right>softmax&nbsp;&nbsp;</td><td align=right>adder</td></tr>");
    const auto cell = [](const std::optional<double>& rank, bool higher) {
      if (!rank) return QString("<td align=right>–</td>");
      const QString text = QString::number(*rank, 'f', 1);
      return QString("<td align=right>%1&nbsp;&nbsp;</td>")
          .arg(higher ? "<b>" + text + "</b>" : text);
    };
    for (const WidthRanks& row : rows_) {
      const bool both = row.softmax && row.adder;
      rows += QString("<tr><td>%1&nbsp;&nbsp;</td><td>%2&nbsp;&nbsp;</td>%3%4</tr>")
                  .arg(row.width)
                  .arg(row.entropy)
                  .arg(cell(row.softmax, both && *row.softmax > *row.adder),
                       cell(row.adder, both && *row.adder > *row.softmax));
    }
    words_->setText(tr("<p>Mean equivalent rank at τ = %1 of random tokens, N = %2:</p>"
                       "<table>%3</table>")
                        .arg(kLaboratoryThreshold)
                        .arg(kLaboratoryTokens)
                        .arg(rows));
  }

  Session& session_;
  NumberSlider *width_, *entropy_;
  QPushButton *one_, *every_;
  QLabel* words_;
  FigureView* plot_;
  std::vector<WidthRanks> rows_;  ///< by entropy, then by width
};

}  // namespace

ExperimentEntry random_tokens_experiment() {
  return {
      "random-tokens",
      {},
      [](const ExperimentContext& context) -> QWidget* {
        return new RandomTokensExperiment(context.session);
      },
      {"higher-at-4", "higher-at-8", "higher-at-16", "higher-at-32", "higher-at-64", "crossing"}};
}

}  // namespace attnscope
