#include "analysis/weights/weight_matrices.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "analysis/weights/weight_analysis.h"
#include "tests/support/inside_models.h"
#include "tests/support/model_shapes.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

std::shared_ptr<const Model> sample_weights(const std::string& name) {
  return load_model(source_folder() + "/sample_data/models/" + name + ".h5");
}

std::shared_ptr<const Model> vit_of(const TemporaryFolder& folder, const std::string& name,
                                    const VitExtents& extents,
                                    const std::map<std::string, Tensor>& given = {}) {
  write_hashed_safetensors(folder / name, timm_shapes(extents), given);
  ModelOptions options;
  options.overrides["heads"] = "3";
  return load_model(folder / name, options);
}

TEST(PowerLawTail, FindsTheExponentOfALaw) {
  std::vector<double> values;  // quantiles of p(x) ∝ x^−3 for x ≥ 2
  for (int i = 0; i < 4000; ++i) values.push_back(2 * std::pow(1 - (i + 0.5) / 4000, -1 / 2.0));
  const PowerLawTail tail = power_law_tail(values);
  EXPECT_NEAR(tail.exponent, 3, 0.02);
  EXPECT_NEAR(tail.error, (tail.exponent - 1) / std::sqrt(tail.values), 1e-12);
  std::vector<double> scaled = values;
  for (double& value : scaled) value *= 1e-7;
  EXPECT_NEAR(power_law_tail(scaled).exponent, tail.exponent, 1e-9) << "α has no scale";
}

TEST(PowerLawTail, IsUnknownForFewOrBrokenValues) {
  std::vector<double> values;
  for (std::size_t i = 1; i < least_tail_values; ++i) values.push_back(static_cast<double>(i));
  values.push_back(0);
  EXPECT_TRUE(std::isnan(power_law_tail(values).exponent));
  EXPECT_EQ(power_law_tail(values).values, -1);
  values.push_back(100);
  EXPECT_GT(power_law_tail(values).exponent, 1);
  values.push_back(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(std::isnan(power_law_tail(values).exponent));
  EXPECT_TRUE(std::isnan(power_law_tail(std::vector<double>(60, 2.5)).exponent)) << "all equal";
}

TEST(WeightMatrices, NoiseStaysBelowItsEdgeAndASpikeRisesAboveIt) {
  const TemporaryFolder folder;
  const VitExtents extents = {.width = 96, .layers = 1, .mlp_width = 384};
  const auto at = [](const std::vector<MatrixSpectrum>& spectra, LayerMatrix name) {
    return *std::ranges::find(spectra, name, &MatrixSpectrum::matrix);
  };
  const auto noise = matrix_spectra(*vit_of(folder, "noise.safetensors", extents));
  EXPECT_LE(at(noise, LayerMatrix::mlp_in).above_noise, 1);
  EXPECT_NEAR(at(noise, LayerMatrix::mlp_in).singular_values.front() /
                  at(noise, LayerMatrix::mlp_in).noise_edge,
              1, 0.05);
  Tensor spiked = hashed_weight("blocks.0.mlp.fc1.weight", {384, 96});
  for (std::int64_t i = 0; i < spiked.size(); ++i) {
    spiked.data()[i] += (i / 96 % 2 == 0 ? 0.2F : -0.2F) * (i % 96 % 2 == 0 ? 1.0F : -1.0F);
  }
  const auto spike = matrix_spectra(
      *vit_of(folder, "spike.safetensors", extents, {{"blocks.0.mlp.fc1.weight", spiked}}));
  EXPECT_EQ(at(spike, LayerMatrix::mlp_in).above_noise, 1);
  EXPECT_GT(at(spike, LayerMatrix::mlp_in).singular_values.front(),
            1.5 * at(spike, LayerMatrix::mlp_in).noise_edge);
}

TEST(WeightMatrices, AModelMinusItselfIsZero) {
  const auto model = sample_weights("fashion-softmax");
  for (const MatrixSpectrum& one : difference_spectra(*model, *model)) {
    EXPECT_EQ(one.relative_norm, 0);
    EXPECT_EQ(one.equivalent_rank, 0);
    EXPECT_EQ(one.above_noise, 0);
    EXPECT_TRUE(std::isnan(one.tail.exponent)) << "no tail, not a tail of 0";
  }
}

TEST(WeightMatrices, TheRankOfADifferenceIsThatOfTheUpdate) {
  const TemporaryFolder folder;
  const VitExtents extents = {.width = 48, .layers = 1, .mlp_width = 96};
  const std::string name = "blocks.0.mlp.fc2.weight";
  Tensor tuned = hashed_weight(name, {48, 96});
  const std::vector<double> up = hashed_uniform("up", 48 * 3),
                            down = hashed_uniform("down", 3 * 96);
  tuned.matrix() +=
      (Eigen::Map<const MatrixD>(up.data(), 48, 3) * Eigen::Map<const MatrixD>(down.data(), 3, 96))
          .cast<float>();
  const auto base = vit_of(folder, "base.safetensors", extents);
  const auto model = vit_of(folder, "tuned.safetensors", extents, {{name, tuned}});
  for (const MatrixSpectrum& one : difference_spectra(*model, *base, {0.999})) {
    EXPECT_EQ(one.equivalent_rank, one.matrix == LayerMatrix::mlp_out ? 3 : 0);
    EXPECT_EQ(one.relative_norm > 0, one.matrix == LayerMatrix::mlp_out);
  }
}

TEST(WeightMatrices, OtherBiasesAreNoDifferenceOfMatrices) {
  const TemporaryFolder folder;
  const VitExtents extents = {.width = 48, .layers = 1, .mlp_width = 96};
  const auto base = vit_of(folder, "base.safetensors", extents);
  const auto model = vit_of(folder, "biases.safetensors", extents,
                            {{"blocks.0.mlp.fc1.bias", hashed_input("bias", {96})},
                             {"blocks.0.attn.qkv.bias", hashed_input("bias", {144})}});
  for (const MatrixSpectrum& one : difference_spectra(*model, *base)) {
    EXPECT_EQ(one.norm, 0) << name_of(layer_matrix_names, one.matrix);
  }
}

TEST(WeightMatrices, RefusesModelsThatDoNotMatch) {
  const TemporaryFolder folder;
  const VitExtents extents = {.width = 24, .layers = 2, .mlp_width = 40};
  const auto model = vit_of(folder, "model.safetensors", extents);
  VitExtents other = extents;
  other.mlp_width = 48;
  const std::string of_shape =
      error_of([&] { return difference_spectra(*model, *vit_of(folder, "b.safetensors", other)); });
  EXPECT_THAT(of_shape, HasSubstr("b.safetensors: layer 0, mlp-in: the matrices differ in shape"));
  EXPECT_THAT(of_shape, HasSubstr("expected [24, 40] as in "));
  EXPECT_THAT(of_shape, HasSubstr("found [24, 48]"));
  other = extents;
  other.layers = 3;
  EXPECT_THAT(
      error_of([&] { return difference_spectra(*model, *vit_of(folder, "c.safetensors", other)); }),
      HasSubstr("number of layers (expected 2 as in "));
  EXPECT_THAT(error_of([&] {
                return weight_rows(*model, {WeightAnalysis::ov, {}, model.get()});
              }),
              HasSubstr("--minus"));
}

TEST(WeightMatrices, HaveTheMatricesOfTheLayers) {
  const InsideModel model("bert");
  std::vector<LayerMatrix> found;
  for (const MatrixSpectrum& one : matrix_spectra(*model.subject().model)) {
    if (one.layer == 0) found.push_back(one.matrix);
  }
  EXPECT_THAT(found,
              testing::ElementsAre(LayerMatrix::query, LayerMatrix::key, LayerMatrix::value,
                                   LayerMatrix::output, LayerMatrix::mlp_in, LayerMatrix::mlp_out));
  const auto refused =
      error_of([] { return matrix_spectra(*sample_weights("fashion-adder-network")); });
  EXPECT_THAT(refused, HasSubstr("not matrix products"));
}

}  // namespace
}  // namespace attnscope
