#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <set>

#include "analysis/figure/caption.h"
#include "analysis/figure/colour_map.h"
#include "analysis/figure/figure_command.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/text_export.h"
#include "analysis/figure/text_layout.h"
#include "analysis/rollout/rollout.h"
#include "analysis/spectrum/mean_spectrum.h"
#include "core/error.h"
#include "core/text/number_text.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

FigureRequest two_subjects() {
  FigureRequest request;
  request.subjects = {attention_subject("net-softmax", {"softmax", {}}),
                      attention_subject("net-adder", {"adder", {}})};
  return request;
}

template <class Kind>
std::vector<const Kind*> marks_of(const Panel& panel) {
  std::vector<const Kind*> found;
  for (const Mark& mark : panel.marks) {
    if (const auto* one = std::get_if<Kind>(&mark)) found.push_back(one);
  }
  return found;
}

const Line& line_named(const Panel& panel, const std::string& label) {
  for (const Line* line : marks_of<Line>(panel)) {
    if (line->label == label) return *line;
  }
  throw std::runtime_error("no line " + label);
}

/// Expects Error(usage) whose text contains `text`.
template <class Call>
void expect_usage_error(const Call& call, const std::string& text) {
  const Error error =
      refusal_of([&] { call(); }, testing::Message() << "no error; expected one about " << text);
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
}

TEST(CumulativeSpectrum, CurvesAndRanksAreTheAnalysis) {
  const FigureRequest request = two_subjects();
  const Figure figure = make_figure("cumulative-spectrum", request);
  const auto expected = mean_spectrum(
      spectra_of(*request.subjects[1].trace, IdentityView::with, SpectrumOptions{}), 0.9);
  const Line& line = line_named(figure.panels.at(0), "adder + I");
  ASSERT_EQ(line.y.size(), expected.mean_share.size() + 1);  // it starts at f(0) = 0
  for (std::size_t r = 0; r < expected.mean_share.size(); ++r) {
    EXPECT_EQ(line.x[r + 1], static_cast<double>(r + 1));
    EXPECT_DOUBLE_EQ(line.y[r + 1], expected.mean_share[r]);
  }
  EXPECT_EQ(figure.numbers.at("equivalent_rank/net-adder + I").at(0),
            static_cast<double>(expected.rank_of_mean));
}

TEST(CumulativeSpectrum, ShowsTheBoundOfTheRankAndThatItIsKept) {
  FigureRequest request;
  const MechanismChoice hash{"hash", {{"bits", std::int64_t{8}}}};
  request.subjects = {attention_subject("net-softmax", {"softmax", {}}),
                      attention_subject("net-hash", hash)};
  const Figure figure = make_figure("cumulative-spectrum", request);
  std::vector<const Rule*> bounds;
  for (const Rule* rule : marks_of<Rule>(figure.panels.at(0))) {
    if (rule->vertical) bounds.push_back(rule);
  }
  ASSERT_EQ(bounds.size(), 1U) << "not of softmax, and not with I";
  EXPECT_EQ(bounds[0]->at, 9);
  EXPECT_EQ(bounds[0]->text, "rank ≤ 9");
  EXPECT_EQ(figure.numbers.at("rank_bound/net-hash").at(0), 9);
  EXPECT_LE(figure.numbers.at("greatest_numerical_rank/net-hash").at(0), 9);
  EXPECT_GE(line_named(figure.panels.at(0), "hash").y.at(9), 1 - 1e-6) << "f(bound) = 1";
  EXPECT_NE(figure.caption.find("bound of the rank"), std::string::npos);
  request.settings = {{"bound", "hide"}};
  EXPECT_FALSE(make_figure("cumulative-spectrum", request).numbers.contains("rank_bound/net-hash"));
}

TEST(CumulativeSpectrum, TakesSpectraThatAreKnown) {
  FigureRequest request = two_subjects();
  const Figure computed = make_figure("cumulative-spectrum", request);
  for (const Subject& subject : request.subjects) {
    auto known = std::make_shared<SubjectSpectra>();
    known->without = spectra_of(*subject.trace, IdentityView::without);
    known->with = spectra_of(*subject.trace, IdentityView::with);
    request.spectra.push_back(std::move(known));
  }
  EXPECT_EQ(make_figure("cumulative-spectrum", request).numbers, computed.numbers);
  // The figure draws the given spectra and does not recompute them.
  auto other = std::make_shared<SubjectSpectra>(*request.spectra[0]);
  for (MapSpectrum& map : other->without) map.singular_values.assign(50, 1);
  request.spectra[0] = std::move(other);
  request.settings = {{"identity", "without"}};
  EXPECT_EQ(
      make_figure("cumulative-spectrum", request).numbers.at("equivalent_rank/net-softmax")[0], 45);
}

TEST(RankOverDepth, DrawsMapsAndTokensOfEverySubject) {
  const FigureRequest request = two_subjects();
  const Figure figure = make_figure("rank-over-depth", request);
  ASSERT_EQ(figure.panels.size(), 4U);
  for (const Panel& panel : figure.panels) {
    const Line& line = line_named(panel, "adder");
    EXPECT_EQ(line.x.size(), panel.column == 0 ? 3U : 4U) << "tokens also before the first layer";
    if (panel.row == 1) {
      for (const double residual : line.y) {
        EXPECT_GT(residual, 0);
        EXPECT_LE(residual, 1);
      }
    }
  }
  EXPECT_EQ(figure.numbers.at("tokens_rank/net-softmax").size(), 4U);
  EXPECT_EQ(figure.numbers.at("maps_rank_one_residual/net-softmax").size(), 3U);
  FigureRequest other = request;
  other.settings = {{"measure", "equivalent"}, {"residual", "composite"}, {"threshold", 0.5}};
  const Figure composite = make_figure("rank-over-depth", other);
  EXPECT_NE(composite.numbers.at("tokens_rank_one_residual/net-adder"),
            figure.numbers.at("tokens_rank_one_residual/net-adder"));
  EXPECT_EQ(composite.panels[0].y.label, "equivalent rank (τ = 0.5 of Σσ)");
  other.settings["share"] = "energy";
  const Figure squares = make_figure("rank-over-depth", other);
  EXPECT_EQ(squares.panels[0].y.label, "equivalent rank (τ = 0.5 of Σσ²)");
  EXPECT_LT(squares.numbers.at("maps_rank/net-softmax").back(),
            composite.numbers.at("maps_rank/net-softmax").back());
  other.settings = {{"measure", "numerical"}};
  expect_usage_error([&] { (void)make_figure("rank-over-depth", other); }, "measure");
  other.settings.clear();
  other.subjects.clear();
  expect_usage_error([&] { (void)make_figure("rank-over-depth", other); }, "at least one model");
}

TEST(RankOverDepth, DrawsOnlyMapsOfTracesWithoutTokens) {
  FigureRequest request = two_subjects();
  auto bare = std::make_shared<Trace>(*request.subjects[0].trace);
  bare->embedded = {};
  for (LayerTrace& layer : bare->layers) layer.tokens = {};
  request.subjects[0].trace = bare;
  request.subjects.pop_back();
  EXPECT_EQ(make_figure("rank-over-depth", request).panels.size(), 2U);
}

TEST(Figures, EverySeriesHasANameInTheTableOfNumbers) {
  for (const char* name : {"rank-by-layer", "rank-over-depth"}) {
    for (const char* spread : {"heads", "none"}) {
      FigureRequest request = two_subjects();
      request.settings = {{"spread", spread}};
      const std::string csv = figure_as_csv(make_figure(name, request));
      EXPECT_EQ(csv.find(",line,,"), std::string::npos) << name;
      EXPECT_EQ(csv.find(",low,,"), std::string::npos) << name;
    }
  }
}

TEST(CumulativeSpectrum, MarksStandWhereTheCurveReachesTheThreshold) {
  FigureRequest request = two_subjects();
  request.settings = {{"threshold", 0.75}};
  const Figure figure = make_figure("cumulative-spectrum", request);
  const auto points = marks_of<PointMark>(figure.panels.at(0));
  const auto lines = marks_of<Line>(figure.panels.at(0));
  ASSERT_EQ(points.size(), 4U);
  for (std::size_t index = 0; index < points.size(); ++index) {
    const auto rank = static_cast<std::size_t>(points[index]->x);
    EXPECT_EQ(lines[index]->y[rank], points[index]->y);
    EXPECT_GE(lines[index]->y[rank], 0.75);
    EXPECT_LT(lines[index]->y[rank - 1], 0.75);
    EXPECT_EQ(points[index]->text, "r = " + std::to_string(rank));
  }
}

TEST(CumulativeSpectrum, SeriesDifferInMoreThanColour) {
  const Figure figure = make_figure("cumulative-spectrum", two_subjects());
  const Panel& panel = figure.panels.at(0);
  EXPECT_EQ(line_named(panel, "adder").style, LineStyle::solid);
  EXPECT_EQ(line_named(panel, "adder + I").style, LineStyle::dashed);
  EXPECT_EQ(line_named(panel, "g(r) = r / N").style, LineStyle::dotted);
}

TEST(CumulativeSpectrum, OneMapIsItsOwnSpectrum) {
  FigureRequest request = two_subjects();
  request.settings = {{"layer", "2"}, {"head", "1"}, {"identity", "without"}};
  const Figure figure = make_figure("cumulative-spectrum", request);
  const auto spectra =
      spectra_of(*request.subjects[0].trace, IdentityView::without, SpectrumOptions{.layers = {2}});
  EXPECT_EQ(figure.numbers.at("equivalent_rank/net-softmax").at(0),
            static_cast<double>(spectra.at(1).equivalent_rank));
  EXPECT_EQ(figure.numbers.at("maps/net-softmax").at(0), 1);
}

TEST(CumulativeSpectrum, BandEnclosesTheMean) {
  FigureRequest request = two_subjects();
  request.settings = {{"spread", "range"}, {"identity", "without"}};
  const Figure figure = make_figure("cumulative-spectrum", request);
  const auto bands = marks_of<Band>(figure.panels.at(0));
  ASSERT_EQ(bands.size(), 2U);
  const Line& line = line_named(figure.panels.at(0), "softmax");
  for (std::size_t r = 0; r < bands[0]->x.size(); ++r) {
    EXPECT_LE(bands[0]->low[r], line.y[r + 1] + 1e-12);
    EXPECT_GE(bands[0]->high[r], line.y[r + 1] - 1e-12);
  }
}

Subject with_nan(Subject subject, std::int64_t layer) {
  Trace trace = *subject.trace;
  trace.layers.at(static_cast<std::size_t>(layer)).implied_map.slice(0)(1, 1) = std::nanf("");
  subject.trace = std::make_shared<const Trace>(std::move(trace));
  return subject;
}

TEST(CumulativeSpectrum, MapsWithoutASpectrumAreCountedNotDrawn) {
  FigureRequest request = two_subjects();
  request.subjects[0] = with_nan(request.subjects[0], 0);
  request.settings = {{"identity", "without"}};
  const Figure figure = make_figure("cumulative-spectrum", request);
  EXPECT_EQ(figure.numbers.at("maps/net-softmax").at(0), 5);
  EXPECT_NE(figure.caption.find("1 maps without a spectrum"), std::string::npos) << figure.caption;

  request.settings = {{"identity", "without"}, {"layer", "0"}, {"head", "0"}};
  const Figure none = make_figure("cumulative-spectrum", request);
  EXPECT_EQ(none.numbers.count("equivalent_rank/net-softmax"), 0U);
  EXPECT_NO_THROW((void)line_named(none.panels.at(0),
                                   "softmax (no spectrum: NaN, Inf, all zero or not converged)"));
}

TEST(CumulativeSpectrum, InputsOfOneModelAreAveraged) {
  Subject first = attention_subject("net", {"softmax", {}}, {}, 1);
  Subject second = attention_subject("net", {"softmax", {}}, {}, 2);
  Trace other = *second.trace;
  other.input_label = "other";
  second.trace = std::make_shared<const Trace>(std::move(other));
  first.label = "net on waves";
  second.label = "net on other";
  FigureRequest request;
  request.subjects = {first, second};
  request.settings = {{"identity", "without"}};
  const Figure mean = make_figure("cumulative-spectrum", request);
  EXPECT_EQ(mean.numbers.at("maps/net").at(0), 12);
  std::vector<MapSpectrum> all;
  for (const Subject& subject : request.subjects) {
    const auto own = spectra_of(*subject.trace, IdentityView::without);
    all.insert(all.end(), own.begin(), own.end());
  }
  EXPECT_EQ(mean.numbers.at("equivalent_rank/net").at(0),
            static_cast<double>(mean_spectrum(all, 0.9).rank_of_mean));

  request.settings["inputs"] = "each";
  const Figure each = make_figure("cumulative-spectrum", request);
  EXPECT_EQ(each.numbers.at("maps/net on waves").at(0), 6);
}

TEST(RankByLayer, MeansAndHeadsAreTheAnalysis) {
  const FigureRequest request = two_subjects();
  const Figure figure = make_figure("rank-by-layer", request);
  const auto spectra = spectra_of(*request.subjects[0].trace, IdentityView::without);
  const std::vector<double>& means = figure.numbers.at("mean_rank_by_layer/net-softmax");
  ASSERT_EQ(means.size(), 3U);
  for (std::size_t layer = 0; layer < 3; ++layer) {
    EXPECT_DOUBLE_EQ(means[layer], static_cast<double>(spectra[2 * layer].equivalent_rank +
                                                       spectra[2 * layer + 1].equivalent_rank) /
                                       2);
  }
  const auto lines = marks_of<Line>(figure.panels.at(0));
  ASSERT_EQ(lines.size(), 12U);  // two heads and the mean of 2 subjects × {A, A + I}
  EXPECT_EQ(lines[1]->style, LineStyle::none);
  EXPECT_EQ(lines[1]->y.at(1), static_cast<double>(spectra[3].equivalent_rank));
  // Tables tell the heads apart: a series has one value for each layer.
  EXPECT_EQ(lines[1]->keys.back(), (std::pair<std::string, std::string>{"head", "1"}));
  std::set<std::pair<std::string, double>> places;
  for (const Line* line : lines) {
    const std::string series = line->label.empty() ? line->name : line->label;
    for (const double x : line->x) EXPECT_TRUE(places.insert({series, x}).second) << series;
  }
}

TEST(RankByLayer, IsLogarithmicWhereIHidesTheRanksOfTheMaps) {
  FigureRequest request = two_subjects();
  request.settings = {{"scale", "log"}};
  const Axis log = make_figure("rank-by-layer", request).panels.at(0).y;
  EXPECT_TRUE(log.logarithmic);
  EXPECT_GT(*log.minimum, 0);
  EXPECT_FALSE(log.ticks.empty());
  request.settings = {{"scale", "linear"}};
  EXPECT_FALSE(make_figure("rank-by-layer", request).panels.at(0).y.logarithmic);
  // Ranks of one kind stay on a linear axis from 0.
  request.settings = {{"identity", "without"}};
  const Axis plain = make_figure("rank-by-layer", request).panels.at(0).y;
  EXPECT_FALSE(plain.logarithmic);
  EXPECT_EQ(*plain.minimum, 0);
}

TEST(RankByLayer, MeasuresOtherRanks) {
  FigureRequest request = two_subjects();
  request.settings = {{"measure", "stable"}, {"identity", "without"}, {"spread", "none"}};
  const Figure figure = make_figure("rank-by-layer", request);
  const auto spectra = spectra_of(*request.subjects[1].trace, IdentityView::without);
  EXPECT_DOUBLE_EQ(figure.numbers.at("mean_rank_by_layer/net-adder").at(2),
                   (spectra[4].stable_rank + spectra[5].stable_rank) / 2);
  EXPECT_EQ(figure.panels.at(0).y.label, "stable rank");
}

TEST(AttentionMaps, CellsAreTheMapsOnOneScale) {
  FigureRequest request = two_subjects();
  request.settings = {{"layers", "0,2"}, {"heads", "1"}, {"range", "full"}};
  const Figure figure = make_figure("attention-maps", request);
  ASSERT_EQ(figure.panels.size(), 4U);
  ASSERT_EQ(figure.colour_scales.size(), 1U);
  float greatest = 0;
  for (const Panel& panel : figure.panels) {
    const auto& subject = request.subjects.at(static_cast<std::size_t>(panel.row));
    const Tensor maps =
        maps_seen(*subject.trace, panel.column == 0 ? 0 : 2, IdentityView::as_is).whole();
    const HeatMap& heat = *marks_of<HeatMap>(panel).at(0);
    const auto map = maps.slice(1);
    ASSERT_TRUE(
        std::equal(heat.values.begin(), heat.values.end(), map.data(), map.data() + map.size()));
    greatest = std::max(greatest, map.maxCoeff());
  }
  EXPECT_EQ(figure.colour_scales[0].minimum, 0);
  EXPECT_FLOAT_EQ(static_cast<float>(figure.colour_scales[0].maximum), greatest);
  EXPECT_EQ(figure.panels[0].title, "layer 0");
  EXPECT_EQ(figure.panels[2].y.label, "adder");  // without the common beginning of all labels
}

TEST(AttentionMaps, RanksUnderTheMapsAreTheAnalysis) {
  FigureRequest request = two_subjects();
  request.settings = {{"layers", "1"}, {"heads", "0"}, {"identity", "with"}};
  const Figure figure = make_figure("attention-maps", request);
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.panels[1].column, 1);  // one layer: models stand side by side
  const auto spectra =
      spectra_of(*request.subjects[1].trace, IdentityView::with, SpectrumOptions{.layers = {1}});
  EXPECT_EQ(figure.panels[1].x.label, "r = " + std::to_string(spectra[0].equivalent_rank));
}

TEST(AttentionMaps, AutomaticRangeClipsFewAndSaysSo) {
  const Figure figure = make_figure("attention-maps", two_subjects());
  std::size_t above = 0, all = 0;
  for (const Panel& panel : figure.panels) {
    for (const float value : marks_of<HeatMap>(panel).at(0)->values) {
      above += static_cast<double>(value) > figure.colour_scales[0].maximum;
      ++all;
    }
  }
  EXPECT_GT(above, 0U);
  EXPECT_LE(above, all / 190);
  EXPECT_NE(figure.caption.find("colour of the nearest end"), std::string::npos);
}

TEST(AttentionMaps, IdentityDoesNotDrownTheScale) {
  FigureRequest request = two_subjects();
  request.settings = {{"range", "full"}, {"identity", "with"}};
  const Figure figure = make_figure("attention-maps", request);
  EXPECT_LT(figure.colour_scales[0].maximum, 1);
}

TEST(AttentionOverlay, ShowsTheRowRelativeToEvenAttention) {
  FigureRequest request = two_subjects();
  request.settings = {{"layers", "1"}, {"heads", 1}, {"query", 0}};
  const Figure figure = make_figure("attention-overlay", request);
  ASSERT_EQ(figure.panels.size(), 6U);  // image, layer 1 and rollout of two models
  const Panel& panel = figure.panels[1];
  const HeatMap& heat = *marks_of<HeatMap>(panel).at(0);
  const Tensor maps = maps_seen(*request.subjects[0].trace, 1, IdentityView::without).whole();
  const auto row = maps.slice(1).row(0);
  const double patches = static_cast<double>(row.sum()) - static_cast<double>(row(0));
  for (std::size_t cell = 0; cell < heat.values.size(); ++cell) {
    EXPECT_NEAR(heat.values[cell], row(static_cast<std::int64_t>(cell) + 1) / patches * 49, 1e-4);
  }
  ASSERT_EQ(marks_of<Picture>(panel).size(), 1U);
}

TEST(AttentionOverlay, HasAColourScaleForEachModelOrOneForAll) {
  FigureRequest request = two_subjects();
  const Figure each = make_figure("attention-overlay", request);
  ASSERT_EQ(each.colour_scales.size(), 2U);
  for (const ColourScale& scale : each.colour_scales) {
    EXPECT_NE(each.caption.find(": 0 to " + rounded_text(scale.maximum, 3)), std::string::npos)
        << each.caption;
  }
  std::vector<float> brightest(2, 0.0F);
  for (const Panel& panel : each.panels) {
    for (const HeatMap* heat : marks_of<HeatMap>(panel)) {
      const auto row = static_cast<std::size_t>(panel.row);
      EXPECT_EQ(heat->colour_scale, row);
      for (const float value : heat->values) brightest[row] = std::max(brightest[row], value);
    }
  }
  for (std::size_t row = 0; row < 2; ++row) {  // a flat model reaches the brightest colour, too
    EXPECT_GE(static_cast<double>(brightest[row]), each.colour_scales[row].maximum);
  }
  request.settings = {{"scale", "shared"}};
  const Figure shared = make_figure("attention-overlay", request);
  ASSERT_EQ(shared.colour_scales.size(), 1U);
  EXPECT_EQ(shared.caption.find("the bar next to it"), std::string::npos) << shared.caption;
  EXPECT_GE(shared.colour_scales[0].maximum,
            std::min(each.colour_scales[0].maximum, each.colour_scales[1].maximum));
}

TEST(AttentionOverlay, RolloutIsTheAnalysis) {
  FigureRequest request = two_subjects();
  request.settings = {{"heads", "max"}};
  const Figure figure = make_figure("attention-overlay", request);
  const Panel& panel = figure.panels.at(4);
  EXPECT_EQ(panel.title, "rollout");
  const Tensor reach = attention_rollout(*request.subjects[0].trace,
                                         RolloutOptions{.fusion = RolloutFusion::maximum});
  const HeatMap& heat = *marks_of<HeatMap>(panel).at(0);
  const double ratio = static_cast<double>(reach.matrix()(0, 7) / reach.matrix()(0, 30));
  EXPECT_NEAR(heat.values[6] / heat.values[29], ratio, 1e-4 * ratio);
}

TEST(AttentionOverlay, TakesOblongGridsAndTwoPrefixTokens) {
  SubjectShape shape;
  shape.grid_rows = 3;
  shape.grid_columns = 5;
  shape.prefix = 2;
  FigureRequest request;
  request.subjects = {attention_subject("distilled", {"softmax", {}}, shape)};
  const Figure figure = make_figure("attention-overlay", request);
  const HeatMap& heat = *marks_of<HeatMap>(figure.panels.at(1)).at(0);
  EXPECT_EQ(heat.rows, 3);
  EXPECT_EQ(heat.columns, 5);
  double sum = 0;
  for (const float value : heat.values) sum += static_cast<double>(value);
  EXPECT_NEAR(sum / 15, 1, 1e-5);
}

/// A text with pictures of 3 × 7 and 4 × 5 tokens, with the maps of a grid of 7 × 7 and a class
/// token.
Subject subject_of_two_pictures() {
  Subject subject = attention_subject("asked", {"softmax", {}});
  auto trace = std::make_shared<Trace>(*subject.trace);
  TokenLayout text;
  text.texts = std::vector<std::string>(50, "w");
  text.pictures = {{1, 3, 7}, {23, 4, 5}};
  trace->layout = text;
  for (LayerTrace& layer : trace->layers) layer.layout = layer.key_layout = text;
  trace->images = {Image{7, 3, 1, std::vector<std::uint8_t>(21, 10)},
                   Image{5, 4, 1, std::vector<std::uint8_t>(20, 20)}};
  subject.trace = std::move(trace);
  return subject;
}

TEST(AttentionOverlay, ShowsEachPictureOfATextWithItsOwnTokens) {
  FigureRequest request;
  request.subjects = {subject_of_two_pictures()};
  request.settings = {{"layers", "1"}, {"heads", 0}, {"rollout", "no"}};
  const Figure both = make_figure("attention-overlay", request);
  ASSERT_EQ(both.panels.size(), 4U);  // image and layer 1 of each
  EXPECT_EQ(both.panels[0].y.label, "1");
  EXPECT_EQ(both.panels[2].y.label, "2");
  EXPECT_EQ(both.panels[3].row, 1);
  EXPECT_EQ(marks_of<Picture>(both.panels[3]).at(0)->image.width, 5);
  const HeatMap& first = *marks_of<HeatMap>(both.panels[1]).at(0);
  const HeatMap& second = *marks_of<HeatMap>(both.panels[3]).at(0);
  EXPECT_EQ(second.rows, 4);
  EXPECT_EQ(second.columns, 5);
  const Tensor maps = maps_seen(*request.subjects[0].trace, 1, IdentityView::without).whole();
  const auto row = maps.slice(0).row(49);
  double sum = 0;
  for (const HeatMap* const heat : {&first, &second}) {
    for (const float value : heat->values) sum += static_cast<double>(value);
  }
  EXPECT_NEAR(sum / 41, 1, 1e-5) << "the mean over the patches of both";
  EXPECT_NEAR(second.values[6] / first.values[8], row(23 + 6) / row(1 + 8), 1e-4);
  request.settings["picture"] = std::int64_t{2};
  const Figure one = make_figure("attention-overlay", request);
  ASSERT_EQ(one.panels.size(), 2U);
  EXPECT_EQ(marks_of<HeatMap>(one.panels[1]).at(0)->values, second.values);
  request.settings["picture"] = std::int64_t{3};
  expect_usage_error([&] { (void)make_figure("attention-overlay", request); }, "1 to 2, or all");
}

TEST(AttentionOverlay, ReportsAMissingClassToken) {
  SubjectShape shape;
  shape.prefix = 0;
  FigureRequest request;
  request.subjects = {attention_subject("mean-pooled", {"softmax", {}}, shape)};
  const auto starts = [&](const char* query) {
    const std::string caption = make_figure("attention-overlay", request).caption;
    EXPECT_TRUE(caption.starts_with(std::string("Attention of ") + query)) << caption;
  };
  starts("the patch in the middle");
  request.settings = {{"query", "class"}};
  expect_usage_error([&] { (void)make_figure("attention-overlay", request); }, "query=0");
  request.settings = {{"query", 24}};
  starts("token 24");
}

TEST(TokenImportance, RefusesAnImageAndNamesTheFigureForIt) {
  const FigureRequest request = two_subjects();
  expect_usage_error([&] { (void)make_figure("token-importance", request); }, "attention-overlay");
}

TEST(Recipes, UnknownNamesListTheKnownOnes) {
  expect_usage_error([] { (void)make_figure("pie", two_subjects()); }, "attention-overlay");
  FigureRequest request = two_subjects();
  request.settings = {{"treshold", "0.9"}};
  expect_usage_error([&] { (void)make_figure("cumulative-spectrum", request); },
                     "layer, head, identity, threshold");
}

TEST(Recipes, ValuesOutOfRangeAreRefusedWithTheRange) {
  const std::pair<const char*, std::pair<const char*, const char*>> wrong[] = {
      {"cumulative-spectrum", {"threshold", "0"}},  {"cumulative-spectrum", {"threshold", "nan"}},
      {"cumulative-spectrum", {"layer", "3"}},      {"cumulative-spectrum", {"head", "1-0"}},
      {"cumulative-spectrum", {"identity", "yes"}}, {"rank-by-layer", {"measure", "true"}},
      {"attention-maps", {"colour-map", "jet"}},    {"attention-maps", {"range", "1,0"}},
      {"attention-maps", {"layers", ""}},           {"attention-maps", {"norm", "sqrt"}},
      {"attention-overlay", {"query", "50"}},       {"attention-overlay", {"opacity", "1.5"}},
      {"attention-overlay", {"heads", "2"}}};
  for (const auto& [figure, setting] : wrong) {
    FigureRequest request = two_subjects();
    const Error error = refusal_of(
        [&, &figure = figure, &setting = setting] {
          request.settings = parse_settings(figure, {{setting.first, setting.second}});
          (void)make_figure(figure, request);
        },
        testing::Message() << figure << " took " << setting.first << "=" << setting.second);
    EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
  }
  for (const FigureRecipe& recipe : figure_recipes()) {
    if (recipe.needs.least == 0) continue;  // needs no model
    EXPECT_THROW((void)make_figure(recipe.name, FigureRequest{}), Error);
  }
}

TEST(Recipes, CommandQuotesForAShell) {
  FigureRequest request = two_subjects();
  request.sources = {"my model.h5", "it's.h5@adder,identity=true"};
  request.settings = {{"layer", "0,2"}};
  request.width_mm = 120;
  const Figure figure = make_figure("cumulative-spectrum", request);
  EXPECT_EQ(figure.command,
            "attnscope figure cumulative-spectrum 'my model.h5' "
            "'it'\\''s.h5@adder,identity=true' --set layer=0,2 --width 120");
}

TEST(SubjectLabels, AreShortenedAndBrokenAtAllowedPlacesOnly) {
  FigureRequest request = two_subjects();
  EXPECT_EQ(short_labels(request), (std::vector<std::string>{"softmax", "adder"}));
  request.subjects[1].label = "net-";
  EXPECT_EQ(short_labels(request)[0], "net-softmax");
  EXPECT_EQ(fitted("adder-identity", 100, 7), "adder-identity");
  EXPECT_EQ(fitted("adder-identity", 12, 7), "adder-\nidentity");
  EXPECT_EQ(fitted("softmax", 2, 7), "softmax");
  EXPECT_EQ(fitted("layer 0", 9, 7), "layer 0");  // 8.6 mm in DejaVu Sans of 7 pt
}

TEST(LegendRoom, GrowsWithItsRows) {
  Figure figure;
  figure.panels.resize(2);
  for (const char* label : {"a rather long label", "another of that kind"}) {
    figure.panels[0].marks.emplace_back(Line{label, {}, {}, {}});
    figure.panels[1].marks.emplace_back(Line{label, {}, {}, {}});
  }
  EXPECT_EQ(legend_mm(figure, 84), 0);
  figure.panels[0].legend = figure.panels[1].legend = LegendPosition::below;
  const double row = legend_mm(figure, 84);
  EXPECT_GT(row, 2);
  EXPECT_EQ(legend_mm(figure, 30), 2 * row);
  figure.shared_legend = true;  // shows each label once
  EXPECT_EQ(legend_mm(figure, 84), row);
}

}  // namespace
}  // namespace attnscope
