// Maps of lower rank in place of a model's own.
#include "analysis/intervention/truncation.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/baselines/null_model.h"
#include "analysis/spectrum/spectrum.h"
#include "core/error.h"
#include "core/model/evaluation/text_evaluation.h"
#include "core/model/model.h"
#include "tests/support/eigen_decompositions.h"
#include "tests/support/model_shapes.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

Tensor map_of(std::int64_t rows, std::int64_t columns) {
  const Tensor square = kernel_map(std::max(rows, columns), 5, 3, 7);
  Tensor map({rows, columns});
  map.matrix() = square.matrix().topLeftCorner(rows, columns);
  return map;
}

TEST(TruncateToRank, IsTheNearestMapOfThatRank) {
  for (const auto& [rows, columns] : {std::pair{20, 20}, std::pair{12, 20}, std::pair{20, 12}}) {
    const Tensor map = map_of(rows, columns);
    const Eigen::MatrixXd whole = map.matrix().cast<double>();
    const EigenSvd svd = svd_by_eigen(whole);
    for (const std::int64_t rank : {1, 3, 7}) {
      Tensor cut = map;
      truncate_to_rank(rank, cut.matrix());
      const Eigen::MatrixXd expected = svd.u.leftCols(rank) * svd.values.head(rank).asDiagonal() *
                                       svd.v.leftCols(rank).transpose();
      EXPECT_LT((cut.matrix().cast<double>() - expected).cwiseAbs().maxCoeff(), 1e-6) << rank;
    }
  }
}

TEST(TruncateToRank, ChangesNothingAtFullRank) {
  const Tensor map = map_of(12, 20);
  Tensor same = map;
  truncate_to_rank(12, same.matrix());
  EXPECT_EQ(same.values()[17], map.values()[17]);
}

/// Sample pictures with the class that their names begin with.
class Pictures final : public DataSet {
 public:
  [[nodiscard]] std::int64_t size() const override { return std::ssize(kNames); }
  [[nodiscard]] Input item(std::int64_t index) const override {
    const std::string name = kNames[static_cast<std::size_t>(index)];
    Input input = open_input(source_folder() + "/sample_data/inputs/" + name + ".png");
    input.class_index = name[1] - '0';
    return input;
  }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return names_; }

 private:
  static constexpr std::array kNames = std::to_array<const char*>(
      {"00_t_shirt", "01_trouser", "02_pullover", "03_dress", "04_coat", "07_sneaker", "08_bag"});
  std::vector<std::string> names_;
};

Subject sample(const std::string& name, MechanismChoice mechanism) {
  Subject subject;
  subject.label = name;
  subject.model = load_model(source_folder() + "/sample_data/models/" + name);
  subject.mechanism = mechanism.name.empty() ? subject.model->spec().mechanism : mechanism;
  return subject;
}

StudyResult truncated(const Subject& subject, const TruncationRequest& truncation) {
  StudyRequest request;
  request.series = truncation_series(subject, truncation);
  request.data_set = std::make_shared<Pictures>();
  return run_study(request);
}

TEST(Truncation, AnswersAsTheModelAtFullRank) {
  const StudyResult result = truncated(sample("fashion-softmax.h5", {}), {.ranks = {4096, 1}});
  ASSERT_EQ(result.series.size(), 1U);
  ASSERT_EQ(result.series[0].columns.size(), 3U);
  EXPECT_EQ(result.series[0].done, 7);
  const Outcome whole = outcome_of(result, 0, 0), same = outcome_of(result, 0, 1);
  const Outcome cut = outcome_of(result, 0, 2);
  EXPECT_EQ(whole.divergence, 0.0);
  EXPECT_EQ(same.correct, whole.correct);
  EXPECT_LT(same.divergence, 1e-6);
  EXPECT_GT(cut.divergence, same.divergence);
  ASSERT_TRUE(mean_equivalent_rank(result.series[0]).has_value());
  EXPECT_GT(*mean_equivalent_rank(result.series[0]), 1.0);
}

TEST(Truncation, NullRanksAreMeansOverTheMapsThatAreCutOff) {
  const Subject subject = sample("fashion-softmax.h5", {});
  const StudyResult result =
      truncated(subject, {.ranks = {1}, .where = {.layers = {2}}, .baselines = true});
  const std::optional<NullOutcome> found = mean_null_of(result.series.at(0));
  ASSERT_TRUE(found.has_value());
  MeanNullRank expected;
  const Pictures pictures;
  for (std::int64_t item = 0; item < pictures.size(); ++item) {
    const Trace trace = subject.model->run(pictures.item(item), subject.mechanism, {}, {});
    const MeanNullRank one = mean_null_rank(trace, {.layers = {2}});
    expected.maps += one.maps;
    expected.rank_sum += one.rank_sum;
    expected.ratio_sum += one.ratio_sum;
  }
  EXPECT_NEAR(found->rank, expected.rank(), 1e-9);
  EXPECT_NEAR(found->rank_over_null, expected.ratio(), 1e-9);
  EXPECT_FALSE(
      mean_null_of(truncated(subject, {.ranks = {1}, .where = {.layers = {2}}}).series.at(0)))
      << "unless they are asked for";
}

TEST(Truncation, RunsTheTruncatedMapsOfItsSeries) {
  const Subject subject = sample("fashion-softmax.h5", {});
  TraceRequest request;
  request.change_map = [](std::int64_t layer, std::int64_t head, MatrixMap map) {
    if (layer == 1 && head == 0) truncate_to_rank(2, map);
  };
  const Input input = Pictures().item(0);
  const Trace cut = subject.model->run(input, subject.mechanism, request, {});
  const Trace whole = subject.model->run(input, subject.mechanism, {}, {});
  EXPECT_EQ(cut.layers[0].implied_map.values()[5], whole.layers[0].implied_map.values()[5]);
  const Eigen::MatrixXd map = cut.layers[1].implied_map.slice(0).cast<double>();
  const Eigen::VectorXd values = svd_by_eigen(map).values;
  EXPECT_LT(values(2), 1e-5 * values(0));
  EXPECT_GT(values(1), 1e-5 * values(0));
}

TEST(Truncation, TruncatesWithoutOrWithTheIdentity) {
  const Subject adder = sample("fashion-softmax.h5", {"adder", {{"identity", true}}});
  const StudyResult result = truncated(
      adder, {.ranks = {1}, .cuts = {TruncatedMap::without_identity, TruncatedMap::with_identity}});
  ASSERT_EQ(result.series.size(), 2U);
  EXPECT_NE(result.series[0].label, result.series[1].label);
  const auto apart = mean_equivalent_rank(result.series[0]);
  const auto together = mean_equivalent_rank(result.series[1]);
  ASSERT_TRUE(apart && together);
  EXPECT_LT(*apart, *together);
  EXPECT_NE(outcome_of(result, 0, 1).divergence, outcome_of(result, 1, 1).divergence);
}

TEST(Truncation, RowsKeepTheSumsThatTheyHaveWithoutTheIdentity) {
  const Subject adder = sample("fashion-adder-identity.h5", {"adder", {{"identity", true}}});
  const SeriesRequest series =
      truncation_series(adder, {.ranks = {1}, .renormalise = {true}}).front();
  Tensor map = map_of(20, 20);
  const Eigen::VectorXd expected = map.matrix().cast<double>().rowwise().sum().array() + 1;
  map.matrix().diagonal().array() += 1;
  series.interventions.front().change(adder, nullptr)(0, 0, map.matrix());
  const Eigen::VectorXd found = map.matrix().cast<double>().rowwise().sum();
  EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(Truncation, EqualsTheModelAtFullRankWithIdentityRenormalised) {
  const Subject adder = sample("fashion-adder-identity.h5", {"adder", {{"identity", true}}});
  const StudyResult result = truncated(
      adder, {.ranks = {4096}, .cuts = {TruncatedMap::with_identity}, .renormalise = {true}});
  EXPECT_EQ(outcome_of(result, 0, 1).correct, outcome_of(result, 0, 0).correct);
  EXPECT_LT(outcome_of(result, 0, 1).divergence, 1e-9);
}

TEST(Truncation, KeepsLanguageModelsCausal) {
  const Subject subject = sample("shakespeare-softmax.h5", {});
  const SeriesRequest series = truncation_series(subject, {.ranks = {2}}).front();
  EXPECT_NE(series.label.find("later keys hidden again"), std::string::npos) << series.label;
  TraceRequest request;
  request.change_map = series.interventions.front().change(subject, nullptr);
  Input input;
  input.content = Text{"To be, or not to be, that is the question", {}};
  const Trace cut = subject.model->run(input, subject.mechanism, request, {});
  for (const LayerTrace& layer : cut.layers) {
    for (std::int64_t head = 0; head < layer.implied_map.extent(0); ++head) {
      const MatrixD map = layer.implied_map.head(head).cast<double>();
      const Eigen::MatrixXd above = map.triangularView<Eigen::StrictlyUpper>();
      EXPECT_EQ(above.cwiseAbs().maxCoeff(), 0.0);
    }
  }
}

TEST(Truncation, ReportsBitsPerCharacterForTexts) {
  const Subject subject = sample("shakespeare-softmax.h5", {});
  StudyRequest request;
  request.series = truncation_series(subject, {.ranks = {1, 4096}, .renormalise = {false, true}});
  request.text = Text{std::string(600, 'a') + " To be, or not to be, that is the question", {}};
  const StudyResult result = run_study(request);
  ASSERT_EQ(result.series.size(), 2U);
  const TextEvaluation expected =
      evaluate_text(*subject.model, subject.mechanism, *request.text, {}, {});
  for (const std::size_t column : {0U, 2U}) {
    const Outcome outcome = outcome_of(result, 0, column);
    EXPECT_NEAR(outcome.bits_per_character, expected.bits_per_character(), 1e-4);
    EXPECT_EQ(outcome.predicted, expected.predicted);
    EXPECT_EQ(outcome.correct, expected.correct);
  }
  EXPECT_GT(outcome_of(result, 0, 1).divergence, 0.01);
  EXPECT_NE(outcome_of(result, 0, 1).bits_per_character,
            outcome_of(result, 1, 1).bits_per_character);
}

TEST(Truncation, RefusesModelsWithoutAnAnswer) {
  const Subject subject = sample("fashion-softmax.h5", {});
  const auto refused = [&](const TruncationRequest& request, const char* why) {
    EXPECT_THAT(error_of([&] { return truncation_series(subject, request); }),
                testing::HasSubstr(why));
  };
  refused({.ranks = {0}}, "a rank must be at least 1");
  refused({.cuts = {TruncatedMap::with_identity}}, "the maps of this attention contain no I");
  refused({.where = {.heads = {99}}}, "the model has no such head");
  refused({.where = {.layers = {99}}}, "the model has no such layer");
  EXPECT_THAT(error_of([] {
                return truncated(sample("fashion-softmax.h5", {"daft-full", {}}), {.ranks = {1}});
              }),
              testing::HasSubstr("each channel has a map of its own"));
}

}  // namespace
}  // namespace attnscope
