// Figure of the answers for maps of reduced rank: curves over the truncated rank, with the values
// of the whole model and the mean equivalent rank.
#include <algorithm>
#include <cmath>

#include "analysis/figure/caption.h"
#include "analysis/figure/recipes/study_figures.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

constexpr int kErrorAlpha = 40;

/// One series of one measure over the rank.
struct RankCurve {
  std::vector<double> ranks, values, low, high;
  double whole = 0;
};

RankCurve curve_of(const StudyResult& result, std::size_t series, const OutcomeMeasure& measure) {
  RankCurve curve;
  const StudySeries& of = result.series[series];
  for (std::size_t column = 0; column < of.columns.size(); ++column) {
    const Outcome outcome = outcome_of(result, series, column);
    const double value = measure.factor * outcome.*measure.value;
    const double error = measure.factor * outcome.*measure.error;
    if (of.columns[column].rank == 0) {
      curve.whole = value;
      continue;
    }
    if (!std::isfinite(value)) continue;
    curve.ranks.push_back(static_cast<double>(of.columns[column].rank));
    curve.values.push_back(value);
    curve.low.push_back(std::isfinite(error) ? value - error : value);
    curve.high.push_back(std::isfinite(error) ? value + error : value);
  }
  return curve;
}

/// The curve's value at a rank, interpolated linearly in ln r; empty outside the tested ranks.
std::optional<double> curve_value(const RankCurve& curve, double rank) {
  for (std::size_t i = 0; i + 1 < curve.ranks.size(); ++i) {
    if (rank < curve.ranks[i] || rank > curve.ranks[i + 1]) continue;
    const double share =
        std::log(rank / curve.ranks[i]) / std::log(curve.ranks[i + 1] / curve.ranks[i]);
    return curve.values[i] + share * (curve.values[i + 1] - curve.values[i]);
  }
  return std::nullopt;
}

void add_curve(Figure& figure, Panel& panel, const RankCurve& curve, std::size_t index,
               const StudySeries& series, const std::string& label, const std::string& name) {
  const Colour colour = subject_colour(index);
  const Keys keys = {{"model", series.label}};
  Band band;
  band.x = curve.ranks;
  band.low = curve.low;
  band.high = curve.high;
  band.colour = with_alpha(colour, kErrorAlpha);
  band.name = series.label + ", ± error";
  band.keys = keys;
  panel.marks.emplace_back(std::move(band));
  Line line;
  line.label = label;
  line.x = curve.ranks;
  line.y = curve.values;
  line.colour = colour;
  line.marker = subject_marker(index);
  line.keys = keys;
  panel.marks.emplace_back(std::move(line));
  if (std::isfinite(curve.whole) && !curve.ranks.empty()) {
    Line whole;
    whole.name = series.label + ", whole";
    whole.x = {curve.ranks.front(), curve.ranks.back()};
    whole.y = {curve.whole, curve.whole};
    whole.colour = with_alpha(colour, 150);
    whole.style = LineStyle::dashed;
    whole.width_pt = 0.6;
    whole.keys = keys;
    panel.marks.emplace_back(std::move(whole));
  }
  figure.numbers[name + "/" + series.label] = curve.values;
  figure.numbers[name + "_whole/" + series.label] = {curve.whole};
}

/// Marks the mean equivalent rank on each curve, with a drop line to the axis.
void add_equivalent_ranks(Figure& figure, Panel& panel, const StudyResult& result,
                          const std::vector<RankCurve>& curves) {
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::optional<double> rank = mean_equivalent_rank(result.series[i]);
    if (!rank) continue;
    figure.numbers["mean_equivalent_rank/" + result.series[i].label] = {*rank};
    const std::optional<double> value = curve_value(curves[i], *rank);
    if (!value) continue;
    panel.marks.emplace_back(PointMark{.x = *rank,
                                       .y = *value,
                                       .text = rounded_text(*rank, 2),
                                       .colour = subject_colour(i),
                                       .keys = {{"model", result.series[i].label}}});
  }
}

std::vector<const OutcomeMeasure*> measures_shown(const Settings& read, const StudyResult& result) {
  std::vector<const OutcomeMeasure*> shown;
  for (const std::string& name : read.names("show")) {
    const OutcomeMeasure& measure =
        name != "answers" ? outcome_measure(name)
                          : outcome_measure(result.of_text ? "bits-per-character" : "accuracy");
    if (measure.of_text && !result.of_text) {
      throw Error(ErrorKind::usage, "bits per character or token are only defined for text")
          .about("show")
          .expected("accuracy, divergence or answers")
          .found(name);
    }
    shown.push_back(&measure);
  }
  return shown;
}

std::vector<Tick> rank_ticks(const std::vector<RankCurve>& curves) {
  std::vector<double> ranks;
  for (const RankCurve& curve : curves) {
    ranks.insert(ranks.end(), curve.ranks.begin(), curve.ranks.end());
  }
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  const std::size_t step = ranks.size() / 9 + 1;
  std::vector<Tick> ticks;
  for (std::size_t i = 0; i < ranks.size(); i += step) {
    ticks.push_back({ranks[i], rounded_text(ranks[i])});
  }
  return ticks;
}

Figure make_rank_accuracy(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const StudyResult result = study_shown(read, StudyKind::truncation);
  const std::vector<std::string> labels = study_labels(result);
  const std::vector<const OutcomeMeasure*> shown = measures_shown(read, result);
  Figure figure;
  for (std::size_t row = 0; row < shown.size(); ++row) {
    progress.step(static_cast<double>(row) / static_cast<double>(shown.size()), "errors");
    const OutcomeMeasure& measure = *shown[row];
    Panel panel;
    panel.row = static_cast<std::int64_t>(row);
    std::vector<RankCurve> curves;
    for (std::size_t i = 0; i < result.series.size(); ++i) {
      curves.push_back(curve_of(result, i, measure));
      add_curve(figure, panel, curves.back(), i, result.series[i], labels[i],
                std::string(measure.name));
    }
    if (read.is("equivalent-rank", "marked")) {
      add_equivalent_ranks(figure, panel, result, curves);
    }
    panel.x.key = "rank";
    if (row + 1 == shown.size()) panel.x.label = "rank r the maps are truncated to";
    panel.x.logarithmic = true;
    panel.x.ticks = rank_ticks(curves);
    if (!panel.x.ticks.empty()) {
      panel.x.minimum = panel.x.ticks.front().value / 1.15;
      double last = 1;
      for (const RankCurve& curve : curves) {
        if (!curve.ranks.empty()) last = std::max(last, curve.ranks.back());
      }
      panel.x.maximum = 1.15 * last;
    }
    panel.y.label = std::string(measure.title);
    if (row + 1 == shown.size() && result.series.size() > 1) panel.legend = legend_of(read);
    figure.panels.push_back(std::move(panel));
  }
  figure.height_mm = 0.6 * request.width_mm * static_cast<double>(shown.size()) + 3 +
                     legend_mm(figure, request.width_mm);
  figure.caption = "Every map replaced by the nearest of rank r while the model runs (truncated: " +
                   result.description + "): " + study_in_words(result) + ". Bands: ± " +
                   errors_in_words(result) +
                   ". Dashed: the whole model. Marked: the mean equivalent rank of its maps (" +
                   to_string(result.threshold) + "). " + made_with();
  return figure;
}

}  // namespace

FigureRecipe rank_accuracy_recipe() {
  return {.name = "rank-accuracy",
          .title = "Answers of a model whose maps lose their rank",
          .question = FigureQuestion::removal,
          .has_panel = true,
          .settings = {study_file_setting("attnscope truncate"),
                       setting::names("show",
                                      {"answers", "accuracy", "divergence", "bits-per-character",
                                       "bits-per-token"},
                                      {"answers"},
                                      "a panel each; answers: accuracy, of texts bits per "
                                      "character"),
                       setting::choice("equivalent-rank", {"marked", "none"}, "marked",
                                       "the mean equivalent rank of the whole model's maps, on "
                                       "its curve"),
                       legend_setting(true)},
          .needs = study_needs,
          .make = make_rank_accuracy};
}

}  // namespace attnscope
