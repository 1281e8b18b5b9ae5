// The figure of rank against entropy: its points are those of the tables, its curves those of
// random tokens of the same shape.
#include <cmath>
#include <gtest/gtest.h>
#include <memory>

#include "analysis/baselines/equal_entropy.h"
#include "analysis/baselines/random_tokens.h"
#include "analysis/figure/recipe.h"
#include "core/error.h"
#include "core/model/model.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

Subject run_of_sample(const std::string& mechanism) {
  Subject subject;
  subject.label = mechanism;
  const std::string samples = source_folder() + "/sample_data/";
  subject.model = load_model(samples + "models/fashion-softmax.h5");
  subject.mechanism.name = mechanism;
  subject.input = std::make_shared<const Input>(open_input(samples + "inputs/09_ankle_boot.png"));
  TraceRequest request;
  request.queries_keys_values = true;
  subject.trace = std::make_shared<const Trace>(
      subject.model->run(*subject.input, subject.mechanism, request, {}));
  return subject;
}

std::vector<Line> lines_of(const Figure& figure) {
  std::vector<Line> lines;
  for (const Mark& mark : figure.panels.at(0).marks) {
    if (const auto* const line = std::get_if<Line>(&mark)) lines.push_back(*line);
  }
  return lines;
}

TEST(RankAgainstEntropy, DrawsEveryMapAndRandomTokensOfTheSameShape) {
  FigureRequest request;
  request.subjects = {run_of_sample("softmax"), run_of_sample("adder")};
  request.settings = {{"draws", std::int64_t{2}}, {"threshold", 0.8}};
  const Figure figure = make_figure("rank-against-entropy", request);
  const Trace& trace = *request.subjects[1].trace;
  const auto maps = static_cast<std::size_t>(std::ssize(trace.layers) * trace.heads());
  const std::vector<double>& entropies = figure.numbers.at("entropy/adder");
  ASSERT_EQ(entropies.size(), maps);
  EXPECT_EQ(entropies[1], entropy_share_at(trace, {0, 1}));
  const std::vector<MapSpectrum> spectra =
      spectra_of(trace, IdentityView::without, {.threshold = 0.8});
  EXPECT_EQ(figure.numbers.at("rank/adder").back(),
            static_cast<double>(spectra.back().equivalent_rank));

  // Both models have heads of the same shape: two curves, and two clouds of points.
  const std::vector<Line> lines = lines_of(figure);
  ASSERT_EQ(lines.size(), 4U);
  const std::int64_t width = trace.layers[0].queries.shape().back();
  const std::string shape =
      ", d = " + std::to_string(width) + ", N = " + std::to_string(trace.tokens());
  EXPECT_EQ(lines[0].label, "random: softmax" + shape);
  EXPECT_EQ(lines[1].label, "random: adder" + shape);
  EXPECT_EQ(lines[2].style, LineStyle::none);
  const std::vector<double> at = {0.5};
  const RandomTokenCurve expected = random_token_curve({trace.tokens(), trace.tokens(), width},
                                                       RandomScores::adder, false, at, 2, 0.8);
  EXPECT_EQ(lines[1].x.at(9), 0.5);
  EXPECT_EQ(lines[1].y.at(9), expected.rank.at(0));
  EXPECT_EQ(figure.numbers.at("random_rank/adder" + shape), lines[1].y);
}

TEST(RankAgainstEntropy, TakesLayersHeadsIdentityAndCurvesAsSet) {
  FigureRequest request;
  request.subjects = {run_of_sample("softmax")};
  request.settings = {{"layers", IndexRanges{{1, 2}}},
                      {"heads", IndexRanges{{0, 0}}},
                      {"identity", std::string("with")},
                      {"draws", std::int64_t{1}}};
  const Figure with = make_figure("rank-against-entropy", request);
  EXPECT_EQ(with.numbers.at("entropy/softmax + I").size(), 2U);
  EXPECT_NE(lines_of(with).at(0).label.find("+ I"), std::string::npos);
  request.settings["curves"] = std::string("off");
  const Figure bare = make_figure("rank-against-entropy", request);
  EXPECT_EQ(bare.panels.at(0).marks.size(), 1U);
  EXPECT_EQ(bare.numbers.at("rank/softmax + I"), with.numbers.at("rank/softmax + I"));
  EXPECT_EQ(bare.caption.find("random tokens"), std::string::npos);
}

TEST(RankAgainstEntropy, SaysWhichMapsHaveNoCurve) {
  FigureRequest request;  // maps of traces without queries
  request.subjects = {attention_subject("softmax", {"softmax", {}})};
  const Figure figure = make_figure("rank-against-entropy", request);
  EXPECT_EQ(figure.panels.at(0).marks.size(), 1U);
  EXPECT_NE(figure.caption.find("6 maps have no curve"), std::string::npos) << figure.caption;
}

}  // namespace
}  // namespace attnscope
