// Ranks at the same entropy, and ranks of random tokens, next to NumPy and to a naive twin.
#include "analysis/baselines/equal_entropy.h"

#include <cmath>
#include <gtest/gtest.h>

#include "analysis/baselines/null_model.h"
#include "analysis/baselines/random_tokens.h"
#include "analysis/spectrum/map_batch.h"
#include "core/error.h"
#include "tests/analysis/matrix/softmax_cases.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

MatrixD matrix_in(const nlohmann::json& rows) {
  MatrixD matrix(std::ssize(rows), std::ssize(rows.at(0)));
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
      matrix(i, j) = rows.at(static_cast<std::size_t>(i)).at(static_cast<std::size_t>(j));
    }
  }
  return matrix;
}

std::int64_t equivalent_rank_of(MatrixD map) {
  return spectrum_of_matrix(map, {.threshold = 0.9}).equivalent_rank;
}

TEST(EqualEntropyAgainstNumPy, FindsTemperatureMapAndRank) {
  for (const nlohmann::json& made :
       read_test_data("equal_entropy/equal_entropy.json").at("cases")) {
    SCOPED_TRACE(made.at("name"));
    MatrixD map = matrix_in(made.at("map"));
    const SeenKeys seen = made.at("causal") ? up_to_the_query(map.rows()) : SeenKeys{};
    EXPECT_NEAR(entropy_share(map, seen), made.at("entropy"), 1e-12);
    const TemperedMap tempered = temper_to_entropy(made.at("target"), seen, map);
    ASSERT_TRUE(tempered.reached);
    EXPECT_NEAR(tempered.entropy, made.at("target"), 1e-6);
    const double temperature = made.at("temperature");
    EXPECT_NEAR(tempered.temperature / temperature, 1, 1e-4);
    EXPECT_LT((map - matrix_in(made.at("tempered"))).cwiseAbs().maxCoeff(), 1e-5);
    EXPECT_EQ(equivalent_rank_of(map), made.at("rank").get<std::int64_t>());
    if (!made.contains("rank_with_identity")) continue;
    map.diagonal().array() += 1;
    EXPECT_EQ(equivalent_rank_of(map), made.at("rank_with_identity").get<std::int64_t>());
  }
}

/// softmax(s/T) and its entropy share of scores [n][j], from loops over the keys that are seen.
struct NaiveTempered {
  MatrixD map;
  double entropy = 0;
};
NaiveTempered naive_tempered(const MatrixD& scores, double temperature, bool causal) {
  NaiveTempered made{MatrixD::Zero(scores.rows(), scores.cols())};
  int rows = 0;
  for (Eigen::Index i = 0; i < scores.rows(); ++i) {
    const Eigen::Index seen = causal ? i + 1 : scores.cols();
    double sum = 0, entropy = 0;
    for (Eigen::Index j = 0; j < seen; ++j) sum += std::exp(scores(i, j) / temperature);
    for (Eigen::Index j = 0; j < seen; ++j) {
      const double weight = std::exp(scores(i, j) / temperature) / sum;
      made.map(i, j) = weight;
      entropy -= weight * std::log(weight);
    }
    if (seen < 2) continue;
    made.entropy += entropy / std::log(static_cast<double>(seen));
    ++rows;
  }
  made.entropy /= rows;
  return made;
}

TEST(EqualEntropy, IsTheRankOfTheSoftmaxOfScoresOverTheTemperature) {
  for (const bool causal : {false, true}) {
    Trace trace = softmax_case({{"n", 24}, {"d", 4}, {"seed", 7}, {"causal", causal}});
    trace.mechanism.name = "softmax";
    const LayerTrace& layer = trace.layers[0];
    const MatrixD scores = layer.queries.slice(0).cast<double>() *
                           layer.keys.slice(0).cast<double>().transpose() / 2.0;
    for (const double target : {0.2, 0.5, 0.9}) {
      const EntropyRank found = rank_at_entropy(trace, {0, 0}, target);
      ASSERT_TRUE(found.tempered.reached);
      const NaiveTempered naive = naive_tempered(scores, found.tempered.temperature, causal);
      EXPECT_NEAR(naive.entropy, target, 1e-5);  // the recorded map is float32
      EXPECT_EQ(found.rank, static_cast<double>(equivalent_rank_of(naive.map)));
      MatrixD with = naive.map + MatrixD::Identity(24, 24);
      EXPECT_EQ(rank_at_entropy(trace, {0, 0}, target, {.identity = IdentityView::with}).rank,
                static_cast<double>(equivalent_rank_of(with)));
    }
  }
}

TEST(EqualEntropy, LeavesAMapAloneThatHasTheEntropyAlready) {
  const Subject subject = attention_subject("adder", {"adder", {{"identity", true}}});
  const Trace& trace = *subject.trace;
  const double own = entropy_share_at(trace, {1, 1});
  EXPECT_GT(own, 0);
  EXPECT_LT(own, 1);
  const EntropyRank found = rank_at_entropy(trace, {1, 1}, own);
  EXPECT_EQ(found.tempered.temperature, 1);
  for (const IdentityView view : {IdentityView::without, IdentityView::as_is}) {
    const EntropyRank at = rank_at_entropy(trace, {1, 1}, own, {.identity = view});
    const MapSpectrum spectrum = spectrum_at(trace, {1, 1}, view, {});
    EXPECT_EQ(at.rank, static_cast<double>(spectrum.equivalent_rank));
  }
  const std::vector<EntropyRank> all = ranks_at_entropy(trace, 0.5, {}, {.layers = {0, 2}});
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[3].layer, 2);
  EXPECT_EQ(all[3].head, 1);
  EXPECT_NEAR(all[3].tempered.entropy, 0.5, 1e-6);
}

TEST(EqualEntropy, IsNotReachedWhereNoTemperatureLeads) {
  MatrixD equal = MatrixD::Constant(4, 4, 0.25);
  EXPECT_EQ(entropy_share(equal, {}), 1);
  const TemperedMap even = temper_to_entropy(0.5, {}, equal);
  EXPECT_FALSE(even.reached);
  EXPECT_TRUE(std::isnan(even.temperature));
  EXPECT_EQ(equal, MatrixD::Constant(4, 4, 0.25));
  // Two of four keys have no weight, which no temperature gives them: h is at most ln 2 / ln 4.
  MatrixD half(1, 4);
  half << 0.9, 0.1, 0, 0;
  EXPECT_FALSE(temper_to_entropy(0.6, {}, half).reached);
  EXPECT_TRUE(temper_to_entropy(0.49, {}, half).reached);
  EXPECT_NEAR(half.sum(), 1, 1e-12);
  EXPECT_EQ(half(0, 2), 0);
  MatrixD one(1, 1);
  one << 1;
  EXPECT_TRUE(std::isnan(entropy_share(one, {})));
  EXPECT_FALSE(temper_to_entropy(0.5, {}, one).reached);
  // Rows of zeros are left out, and a row keeps its sum.
  MatrixD rows(2, 3);
  rows << 0, 0, 0, 1, 0.6, 0.4;
  EXPECT_TRUE(temper_to_entropy(0.4, {}, rows).reached);
  EXPECT_EQ(rows.row(0).sum(), 0);
  EXPECT_NEAR(rows.row(1).sum(), 2, 1e-12);
}

TEST(EqualEntropy, RefusesMechanismsWithoutATemperatureByName) {
  for (const char* const name : {"hash", "linear", "performer", "additive", "talking-heads",
                                 "softmax-sink", "daft-full", "linformer", "reformer"}) {
    Trace trace = softmax_case({{"n", 6}, {"d", 2}, {"seed", 1}, {"causal", false}});
    trace.mechanism.name = name;
    EXPECT_FALSE(has_temperature(trace, 0)) << name;
    EXPECT_NE(error_of([&] {
                return rank_at_entropy(trace, {0, 0}, 0.5);
              }).find(std::string(name) + " attention has no temperature"),
              std::string::npos);
  }
  Trace trace = softmax_case({{"n", 6}, {"d", 2}, {"seed", 1}, {"causal", false}});
  for (const char* const name : {"softmax", "adder", "synthesizer"}) {
    trace.mechanism.name = name;
    EXPECT_TRUE(has_temperature(trace, 0)) << name;
  }
  for (const double target : {0.0, 1.0, -0.5, std::nan("")}) {
    EXPECT_THROW((void)rank_at_entropy(trace, {0, 0}, target), Error) << target;
  }
  EXPECT_THROW((void)rank_at_entropy(trace, {0, 0}, 0.5, {.of = MatrixKind::scores}), Error);
  EXPECT_THROW((void)rank_at_entropy(trace, {0, 0}, 0.5, {}, {.dense_limit = 5}), Error);
}

TEST(RandomTokens, HaveTheScoresOfTheirKind) {
  const RandomTokens tokens{12, 9, 3};
  const MatrixD dot = random_token_map(tokens, RandomScores::softmax, 2);
  const MatrixD adder = random_token_map(tokens, RandomScores::adder, 2);
  EXPECT_EQ(dot, random_token_map(tokens, RandomScores::softmax, 2));
  EXPECT_NE(dot, random_token_map(tokens, RandomScores::softmax, 3));
  EXPECT_LT((dot.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
  EXPECT_LT((adder.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
  // ln A less its row means is the scores less theirs, of rank d; L1 scores have no such bound.
  const auto rank_of_scores = [](const MatrixD& map) {
    MatrixD scores = map.array().log();
    const Eigen::VectorXd means = scores.rowwise().mean();
    scores.colwise() -= means;
    return spectrum_of_matrix(scores, {.accuracy = SpectrumAccuracy::every_value}).numerical_rank;
  };
  EXPECT_EQ(rank_of_scores(dot), 3);
  EXPECT_GE(rank_of_scores(adder), 8);
  const MatrixD causal = random_token_map({7, 7, 2, true}, RandomScores::adder, 0);
  EXPECT_EQ(causal(0, 0), 1);
  EXPECT_EQ(causal.triangularView<Eigen::StrictlyUpper>().toDenseMatrix().sum(), 0);
}

/// The law of random tokens: at equal entropy the order of softmax and adder scores flips between
/// d = 16 and d = 32. NumPy's draws are other draws, so that means agree to their standard errors.
TEST(RandomTokensAgainstNumPy, HaveTheRanksOfTheLaw) {
  const nlohmann::json reference = read_test_data("equal_entropy/equal_entropy.json");
  const double reference_draws = reference.at("draws");
  constexpr std::int64_t kDraws = 4;
  for (const nlohmann::json& made : reference.at("random")) {
    const RandomTokens tokens{made.at("tokens"), made.at("tokens"), made.at("width")};
    const double entropy = made.at("entropy");
    for (const RandomScores scores : {RandomScores::softmax, RandomScores::adder}) {
      const nlohmann::json& expected = made.at(std::string(name_of(random_scores_names, scores)));
      const RandomTokenCurve curve =
          random_token_curve(tokens, scores, false, std::vector{entropy}, kDraws, 0.9);
      ASSERT_EQ(curve.rank.size(), 1U);
      const double deviation = std::max(expected.at("deviation").get<double>(), 0.5);
      EXPECT_NEAR(curve.rank[0], expected.at("mean"),
                  4 * deviation * std::sqrt(1.0 / kDraws + 1 / reference_draws))
          << made.dump();
      EXPECT_LE(curve.least[0], curve.rank[0]);
      EXPECT_GE(curve.greatest[0], curve.rank[0]);
    }
  }
}

TEST(RandomTokens, LeaveOutEntropiesThatADrawDoesNotReach) {
  // A map of one key has no entropy to change.
  const std::vector<double> entropies = {0.3, 0.7};
  EXPECT_TRUE(random_token_curve({4, 1, 2}, RandomScores::softmax, false, entropies, 2, 0.9)
                  .entropy.empty());
  const RandomTokenCurve with =
      random_token_curve({10, 10, 2}, RandomScores::softmax, true, entropies, 2, 0.9);
  const RandomTokenCurve without =
      random_token_curve({10, 10, 2}, RandomScores::softmax, false, entropies, 2, 0.9);
  EXPECT_EQ(with.entropy, entropies);
  EXPECT_GT(with.rank[1], without.rank[1]);
}

}  // namespace
}  // namespace attnscope
