// The numbers printed in lessons and manual, recomputed.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numbers>
#include <numeric>
#include <random>
#include <sstream>

#include "analysis/baselines/known_maps.h"
#include "analysis/baselines/random_tokens.h"
#include "analysis/energy/growth.h"
#include "analysis/energy/request.h"
#include "analysis/spectrum/rank.h"
#include "analysis/spectrum/singular_values.h"
#include "core/model/model.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

/// The text of a page with line breaks replaced by spaces, for searches of sentences.
std::string page(const std::string& name) {
  std::ifstream file(source_folder() + "/assets/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  std::string all = text.str();
  std::ranges::replace(all, '\n', ' ');
  return all;
}

/// The whole text of docs/results.md.
std::string results() {
  std::ifstream file(source_folder() + "/docs/results.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::int64_t rank_of(MatrixD matrix) {
  return equivalent_rank(singular_values(matrix, SpectrumAccuracy::every_value).values, 0.9);
}

TEST(LessonNumbers, RanksOfTheIdentityAndOfAPermutation) {
  const std::string lesson = page("lessons/3-adding-and-rank.md");
  const MatrixD identity = MatrixD::Identity(197, 197);
  EXPECT_EQ(rank_of(identity), 178);
  EXPECT_THAT(lesson, HasSubstr("90 % of their sum needs 178 of them"));

  // The permutation is one long cycle. Its eigenvalues are spaced evenly on the unit circle, as are
  // those of most permutations, approximately.
  MatrixD permutation = MatrixD::Zero(197, 197);
  for (Eigen::Index i = 0; i < 197; ++i) permutation(i, (i + 1) % 197) = 1;
  EXPECT_EQ(rank_of(permutation), 178);
  EXPECT_EQ(rank_of(permutation + identity), 141);
  EXPECT_THAT(lesson, HasSubstr("a permutation has 178 before, as I has, and 141 with I"));
}

TEST(LessonNumbers, RanksOfMapsThatCanBeThoughtOut) {
  const std::string lesson = page("lessons/10-the-rank-lesson.md");
  const std::string teacher = page("manual/teaching.md");
  const auto rank = [](KnownMap map, bool identity = false) {
    MatrixD weights = known_map(map, 197);
    if (identity) weights.diagonal().array() += 1;
    return rank_of(weights);
  };
  EXPECT_EQ(rank(KnownMap::identity), 178);
  EXPECT_THAT(lesson, HasSubstr("90 % of them are 178"));
  EXPECT_EQ(rank(KnownMap::uniform), 1);
  EXPECT_EQ(rank(KnownMap::sink), 1);
  EXPECT_EQ(rank(KnownMap::permutation), 178);
  EXPECT_EQ(rank(KnownMap::causal), 65);
  EXPECT_NEAR(static_cast<double>(rank(KnownMap::random)), 129, 2);
  EXPECT_THAT(teacher, HasSubstr("178, 1, 1, 178, 65, about 130"));
  EXPECT_EQ(rank(KnownMap::identity, true), 178);
  EXPECT_EQ(rank(KnownMap::uniform, true), 178);
  EXPECT_EQ(rank(KnownMap::sink, true), 176);
  EXPECT_EQ(rank(KnownMap::permutation, true), 140);
  EXPECT_THAT(lesson, HasSubstr("from 178 to 140"));
  EXPECT_NEAR(static_cast<double>(rank(KnownMap::random, true)), 176, 1);
  for (const auto& [map, name] : known_map_names) {
    const MatrixD weights = known_map(map, 197);
    EXPECT_NEAR((weights.rowwise().sum().array() - 1).abs().maxCoeff(), 0, 1e-12) << name;
    EXPECT_GE(weights.minCoeff(), 0) << name;
  }
}

// The matrices of the experiment "matrix", which the third step predicts.
TEST(LessonNumbers, RanksOfThreeByThreeMatrices) {
  const auto exact = [](const Eigen::Matrix3d& matrix) {
    MatrixD copy = matrix;
    const auto values = singular_values(copy, SpectrumAccuracy::every_value).values;
    return std::pair(numerical_rank(values, 3), equivalent_rank(values, 0.9));
  };
  Eigen::Matrix3d matrix;
  matrix << 3, 0, 0, 0, 2, 0, 1.5, 1, 0;
  EXPECT_EQ(exact(matrix).first, 2);
  matrix << 2, 1, 1, 2, 1, 1, 2, 1, 1;
  EXPECT_EQ(exact(matrix).first, 1);
  matrix << 2, 1, 0, 4, 2, 0, -2, -1, 0;
  EXPECT_EQ(exact(matrix).first, 1);
  EXPECT_EQ(exact(Eigen::Matrix3d::Identity()).first, 3);
  matrix << 2, 1, 1, 2, 1.2, 1, 2, 1, 0.7;
  EXPECT_EQ(exact(matrix).first, 3);
  EXPECT_EQ(exact(matrix).second, 1);
  EXPECT_THAT(page("manual/teaching.md"), HasSubstr("2, 1, 1, 3, 3"));
}

TEST(LessonNumbers, TheOrderOfRandomTokensFlipsWithTheWidth) {
  const auto rank = [](std::int64_t width, RandomScores scores, std::int64_t tokens = 197) {
    const RandomTokenCurve curve =
        random_token_curve({tokens, tokens, width}, scores, false, std::vector{0.8}, 4, 0.9);
    return curve.rank.at(0);
  };
  EXPECT_NEAR(rank(16, RandomScores::softmax), 97, 2);
  EXPECT_NEAR(rank(16, RandomScores::adder), 109, 2);
  EXPECT_NEAR(rank(64, RandomScores::softmax), 119, 2);
  EXPECT_NEAR(rank(64, RandomScores::adder), 108, 2);
  EXPECT_GT(rank(32, RandomScores::softmax), rank(32, RandomScores::adder));
  EXPECT_LT(rank(4, RandomScores::softmax), rank(4, RandomScores::adder));
  // The networks that are trained in the ninth step have 50 tokens.
  EXPECT_GT(rank(48, RandomScores::softmax, 50), rank(48, RandomScores::adder, 50));
  EXPECT_NEAR(rank(16, RandomScores::softmax, 50), rank(16, RandomScores::adder, 50), 1.5);
  EXPECT_THAT(page("lessons/10-the-rank-lesson.md"),
              HasSubstr("Random tokens put softmax ahead at 48; of 50 tokens, as here, the two are "
                        "about even at 16."));
  EXPECT_THAT(page("manual/teaching.md"),
              HasSubstr("adder at d = 4 to 16, softmax from 32 on (97 against 109 at 16, 119 "
                        "against 108 at 64)"));
}

TEST(LessonNumbers, AccuraciesOfTruncatedModelsAreThoseOfTheResults) {
  EXPECT_THAT(results(), HasSubstr("| `fashion-softmax` | 10.5 | 54.0 % | 80.7 % | 87.3 % | "
                                   "89.3 % | 89.3 % | 90.0 % |"));
  EXPECT_THAT(results(), HasSubstr("(A + I)_r | 175.1 of A + I | 34.0 % | 39.3 % | 40.7 % | "
                                   "50.0 % | 61.3 % | 88.7 % |"));
  const std::string lesson = page("lessons/10-the-rank-lesson.md");
  EXPECT_THAT(lesson,
              HasSubstr("54 % right with r = 1, 87 % with 4, 89 % with 16, and 90 % whole"));
  EXPECT_THAT(lesson, HasSubstr("it gets 61 % right of 89 %"));
  EXPECT_THAT(page("manual/teaching.md"),
              HasSubstr("half of the pictures with r = 1, nearly all with 4"));
}

TEST(LessonNumbers, RanksOfTrainedWidthsAreThoseOfTheResults) {
  const std::string all = results();
  const auto row_after = [&](const std::string& shape, const std::string& attention) {
    const std::size_t from = all.find("| " + shape + " | multiplicative | softmax |");
    const std::size_t at = all.find("| " + attention + " |", from);
    return all.substr(at, all.find('\n', at) - at);
  };
  EXPECT_THAT(all, HasSubstr("(N = 50), four layers, 2,800 steps of 64 images, three seeds"));
  EXPECT_THAT(row_after("1 of 64", "softmax"), HasSubstr("| 0.73 | 8.5 ± 1.0 |"));
  EXPECT_THAT(row_after("1 of 64", "adder"), HasSubstr("| 0.70 | 10.1 ± 0.2 |"));
  EXPECT_THAT(row_after("4 of 16", "softmax"), HasSubstr("| 0.79 | 7.8 ± 0.1 |"));
  EXPECT_THAT(row_after("4 of 16", "adder"), HasSubstr("| 0.81 | 11.4 ± 0.3 |"));
  const std::string lesson = page("lessons/10-the-rank-lesson.md");
  EXPECT_THAT(lesson,
              HasSubstr("(50 tokens, 2,800 steps, three seeds) adder stayed higher at every "
                        "width: 10.1 against 8.5 at d = 64 and 11.4 against 7.8 at d = 16"));

  // The entropies are those of the four rows above.
  const auto random = [](std::int64_t width, RandomScores scores, double entropy) {
    return random_token_curve({50, 50, width}, scores, false, std::vector{entropy}, 4, 0.9)
        .rank.at(0);
  };
  const auto [least, most] =
      std::minmax({random(64, RandomScores::softmax, 0.73), random(64, RandomScores::adder, 0.70),
                   random(16, RandomScores::softmax, 0.79), random(16, RandomScores::adder, 0.81)});
  EXPECT_NEAR(least, 27, 0.6);
  EXPECT_NEAR(most, 31, 0.6);
  EXPECT_THAT(lesson, HasSubstr("Random tokens of the same entropy have 27 to 31."));

  EXPECT_THAT(all, HasSubstr("finds mean ranks of 13.2 (softmax) and 22.8 (adder)"));
  EXPECT_THAT(page("lessons/3-adding-and-rank.md"),
              HasSubstr("22.8 for `fashion-adder-64` against 13.2 for `fashion-softmax-64`"));
}

TEST(LessonNumbers, TeachersReadWhatTheResultsSayOfRankAndWidth) {
  const std::string teacher = page("manual/teaching.md");
  // Adder attention has the higher rank before the first step, too: the last column.
  EXPECT_THAT(results(), HasSubstr("| 8.5 ± 1.0 | 9.0 ± 1.1 | 8.6 |"));
  EXPECT_THAT(results(), HasSubstr("| 10.1 ± 0.2 | 10.4 ± 0.1 | 9.6 |"));
  EXPECT_THAT(teacher,
              HasSubstr("adder is ahead at both widths, as a rule, from the first step on"));
  EXPECT_THAT(results(), HasSubstr("**A + I comes near 176 for every model**"));
  EXPECT_THAT(teacher, HasSubstr("178, 140, about 176"));
}

TEST(LessonNumbers, BoundsOfTheSecondTheorem) {
  const std::string lesson = page("lessons/3-adding-and-rank.md");
  const auto difference = [](double e) { return 4 * std::numbers::ln2 / (e * e - e * e * e); };
  double least = difference(0.5);
  for (int i = 1; i < 1000; ++i) least = std::min(least, difference(i / 1000.0));
  EXPECT_GT(least, 18);
  EXPECT_LT(least, 19);
  EXPECT_THAT(lesson, HasSubstr("is never below 18"));
  EXPECT_NEAR(difference(0.32), 40, 0.5);
  EXPECT_THAT(lesson, HasSubstr("A difference of 40 is had by choosing ε near 0.32"));
}

/// The energies of one layer in ascending order, and softmax's energy.
std::pair<std::vector<double>, double> layer_energies(std::int64_t tokens) {
  GrowthOptions options;
  options.constants = energy_tables().front();
  options.least_tokens = tokens;
  options.most_tokens = tokens + 1;
  std::vector<double> energies;
  double softmax = 0;
  for (const GrowthCurve& curve :
       energy_growth(mechanisms_for_growth(options.width), options).curves) {
    energies.push_back(curve.energy_pj.front());
    if (curve.mechanism.name == "softmax") softmax = energies.back();
  }
  std::ranges::sort(energies);
  return {energies, softmax};
}

TEST(LessonNumbers, CostsOfALayer) {
  const std::string lesson = page("lessons/7-what-it-costs.md");
  const auto [few, softmax_few] = layer_energies(197);
  EXPECT_LT(few.back() / few.front(), 3);
  EXPECT_GT(few.back() / few.front(), 2);
  const auto [many, softmax_many] = layer_energies(65'536);
  EXPECT_GT(softmax_many / many.front(), 100);
  EXPECT_LT(softmax_many / many.front(), 200);
  EXPECT_THAT(lesson, HasSubstr("At 197 tokens all mechanisms lie within a factor of three; at "
                                "65,536 softmax costs over a hundred times as much"));
}

/// Share of the feed-forward layers in the energy of a whole network, in whole per cent.
long feed_forward_per_cent(const EnergyRequest& request) {
  const EnergySubject subject = resolve(request);
  const NetworkCost cost = count_operations(subject.architecture, subject.options);
  const double part =
      totals_of(cost.total_of(ComponentGroup::feed_forward), subject.constants).energy_pj;
  return std::lround(100 * part / totals_of(cost.total(), subject.constants).energy_pj);
}

TEST(LessonNumbers, CostsOfFeedForwardLayers) {
  EnergyRequest deit;
  deit.architecture = "deit-tiny";
  EXPECT_EQ(feed_forward_per_cent(deit), 56);
  EnergyRequest sample;
  sample.spec = load_model(source_folder() + "/sample_data/models/fashion-softmax.h5")->spec();
  sample.label = "fashion-softmax";
  EXPECT_EQ(feed_forward_per_cent(sample), 38);
  EXPECT_THAT(page("lessons/7-what-it-costs.md"),
              HasSubstr("In DeiT-Tiny the feed-forward layers take 56 % of the energy, and 38 % in "
                        "the narrower model"));
}

}  // namespace
}  // namespace attnscope
