// Maps of a lower rank in place of a model's own.
#include "analysis/truncation/truncation.h"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "analysis/spectrum/spectrum.h"
#include "core/error.h"
#include "core/model/model.h"
#include "tests/support/model_shapes.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"

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
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(whole, Eigen::ComputeThinU | Eigen::ComputeThinV);
    for (const std::int64_t rank : {1, 3, 7}) {
      Tensor cut = map;
      truncate_to_rank(rank, cut.matrix());
      const Eigen::MatrixXd expected = svd.matrixU().leftCols(rank) *
                                       svd.singularValues().head(rank).asDiagonal() *
                                       svd.matrixV().leftCols(rank).transpose();
      EXPECT_LT((cut.matrix().cast<double>() - expected).cwiseAbs().maxCoeff(), 1e-6) << rank;
    }
  }
}

TEST(TruncateToRank, OfTheWholeRankChangesNothing) {
  const Tensor map = map_of(12, 20);
  Tensor same = map;
  truncate_to_rank(12, same.matrix());
  EXPECT_EQ(same.values()[17], map.values()[17]);
}

/// The sample pictures, each of the class that its name begins with.
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

TEST(Truncation, AtTheWholeRankAnswersAreTheModels) {
  const Subject subject = sample("fashion-softmax.h5", {});
  TruncationRequest request;
  request.ranks = {4096, 1};
  const TruncationResult result = truncate(subject, Pictures(), request, {});
  ASSERT_EQ(result.outcomes.size(), 3U);
  EXPECT_EQ(result.images, 7);
  EXPECT_EQ(result.outcomes[0].divergence, 0.0);
  EXPECT_EQ(result.outcomes[1].correct, result.outcomes[0].correct);
  EXPECT_LT(result.outcomes[1].divergence, 1e-6);
  EXPECT_GT(result.outcomes[2].divergence, result.outcomes[1].divergence);
  ASSERT_TRUE(result.mean_equivalent_rank.has_value());
  EXPECT_GT(*result.mean_equivalent_rank, 1.0);
}

TEST(Truncation, RunsTheMapsItSays) {
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
  const Eigen::VectorXd values = map.jacobiSvd().singularValues();
  EXPECT_LT(values(2), 1e-5 * values(0));
  EXPECT_GT(values(1), 1e-5 * values(0));
}

TEST(Truncation, PutsTheIdentityBackOrCutsItOffToo) {
  const Subject adder = sample("fashion-softmax.h5", {"adder", {{"identity", true}}});
  TruncationRequest request;
  request.ranks = {1};
  const TruncationResult apart = truncate(adder, Pictures(), request, {});
  request.of = TruncatedMap::with_identity;
  const TruncationResult together = truncate(adder, Pictures(), request, {});
  ASSERT_TRUE(apart.mean_equivalent_rank && together.mean_equivalent_rank);
  EXPECT_LT(*apart.mean_equivalent_rank, *together.mean_equivalent_rank);
  EXPECT_NE(apart.outcomes[1].divergence, together.outcomes[1].divergence);
}

TEST(Truncation, RefusesWhatHasNoAnswer) {
  TruncationRequest request;
  request.ranks = {0};
  const Subject subject = sample("fashion-softmax.h5", {});
  EXPECT_THROW((void)truncate(subject, Pictures(), request, {}), Error);
  request.ranks = {1};
  request.of = TruncatedMap::with_identity;
  EXPECT_THROW((void)truncate(subject, Pictures(), request, {}), Error);
  request.of = TruncatedMap::without_identity;
  request.heads = {99};
  EXPECT_THROW((void)truncate(subject, Pictures(), request, {}), Error);
  request.heads = {};
  EXPECT_THROW(
      (void)truncate(sample("fashion-softmax.h5", {"daft-full", {}}), Pictures(), request, {}),
      Error);
}

}  // namespace
}  // namespace attnscope
