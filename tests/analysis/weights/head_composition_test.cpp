#include "analysis/weights/head_composition.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "analysis/weights/head_factors.h"
#include "core/model/transformer/transformer.h"
#include "core/tensor/decompose.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/inside_models.h"
#include "tests/support/model_shapes.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

/// A rotation or reflection that is uniform among them: the left singular vectors of a matrix of
/// normal numbers, with their signs drawn anew.
Eigen::MatrixXd random_rotation(std::int64_t width, std::mt19937& generator) {
  std::normal_distribution<double> normal;
  Eigen::MatrixXd numbers(width, width);
  for (Eigen::Index i = 0; i < numbers.size(); ++i) numbers.data()[i] = normal(generator);
  Eigen::MatrixXd rotation = singular_vectors(numbers).left;
  for (Eigen::Index i = 0; i < width; ++i) {
    if (normal(generator) < 0) rotation.col(i) *= -1;
  }
  return rotation;
}

TEST(HeadComposition, BaselineIsTheRootMeanSquareOverRandomRotations) {
  const InsideModel model("gpt2");
  const auto factors = head_factors(*model.subject().model, 0, WeightProduct::ov);
  const auto later = head_factors(*model.subject().model, 1, WeightProduct::qk);
  const MatrixD a = factors[0].left * factors[0].right, b = later[1].left * later[1].right;
  std::mt19937 generator(5);
  constexpr int kDraws = 2000;
  double sum = 0, sum_of_squares = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const double square = (a * random_rotation(a.cols(), generator) * b).squaredNorm() /
                          a.squaredNorm() / b.squaredNorm();
    sum += square;
    sum_of_squares += square * square;
  }
  const double mean = sum / kDraws;
  const double error = std::sqrt((sum_of_squares / kDraws - mean * mean) / kDraws);
  const auto pairs = head_compositions(*model.subject().model, Composition::queries);
  const double baseline = pairs.front().baseline;
  EXPECT_LT(error, 0.02 * mean);
  EXPECT_NEAR(mean, baseline * baseline, 4 * error);
}

TEST(HeadComposition, IsOfEveryHeadWithThoseOfLaterLayers) {
  const InsideModel model("vit");
  const auto pairs = head_compositions(*model.subject().model, Composition::values);
  EXPECT_EQ(pairs.size(), 9U);
  for (const HeadComposition& pair : pairs) {
    EXPECT_EQ(pair.from_layer, 0);
    EXPECT_EQ(pair.to_layer, 1);
    EXPECT_GT(pair.value, 0);
    EXPECT_LE(pair.value, 1);
    EXPECT_DOUBLE_EQ(pair.above_baseline(), pair.value - 1 / std::sqrt(24.0));
  }
}

TEST(HeadComposition, StaysOnOneResidualStream) {
  const TemporaryFolder folder;
  (void)folder.write("config.json",
                     read_test_data("models/families/hugging_face_t5.json").at("config").dump());
  write_hashed_safetensors(folder / "model.safetensors", family_shapes("hugging_face_t5"));
  const auto model = load_model(folder / "model.safetensors");
  const std::vector<std::size_t> stages = layer_stages(*model);
  const Transformer& transformer = transformer_of(*model);
  for (const Composition kind : {Composition::queries, Composition::keys, Composition::values}) {
    bool crosses = false;
    for (const HeadComposition& pair : head_compositions(*model, kind)) {
      EXPECT_EQ(stages[static_cast<std::size_t>(pair.from_layer)],
                stages[static_cast<std::size_t>(pair.to_layer)]);
      crosses =
          crosses || block_of(transformer, pair.to_layer).spec.attention.of == Attending::encoder;
    }
    EXPECT_EQ(crosses, kind == Composition::queries) << "keys and values are the encoder's";
  }
}

TEST(HeadComposition, NeedsTwoLayers) {
  const TemporaryFolder folder;
  write_hashed_safetensors(folder / "one.safetensors",
                           timm_shapes({.width = 24, .layers = 1, .mlp_width = 40}));
  ModelOptions options;
  options.overrides["heads"] = "3";
  const auto model = load_model(folder / "one.safetensors", options);
  EXPECT_NE(error_of([&] {
              return head_compositions(*model, Composition::keys);
            }).find("one.safetensors: no two layers have heads that compose"),
            std::string::npos);
}

}  // namespace
}  // namespace attnscope
