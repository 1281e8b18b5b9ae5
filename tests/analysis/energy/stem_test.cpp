// The cost of convolutions before the patches, against a count by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/energy/accounting.h"
#include "analysis/energy/architecture.h"
#include "core/error.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

/// 32 × 24 pixels in three channels → 16 × 12 cells of 8 → 8 × 6 of 16, each of which is a patch.
ModelSpec spec_with_stem() {
  ModelSpec spec;
  spec.input.image_height = 32;
  spec.input.image_width = 24;
  spec.input.channels = 3;
  spec.input.patch_height = spec.input.patch_width = 1;
  spec.input.class_tokens = 0;
  spec.input.stem = {.widths = {8, 16},
                     .kernels = {3, 5},
                     .strides = {2, 2},
                     .paddings = {1, 2},
                     .activation = Activation::gelu};
  spec.positions.kind = Positions::none;
  spec.width = 32;
  spec.layer.mlp.width = 64;
  spec.layer.attention = {.heads = 4, .head_width = 8};
  spec.layers = 1;
  spec.readout.kind = Readout::none;
  return spec;
}

constexpr std::int64_t kFirst = 16 * 12, kSecond = 8 * 6;
constexpr std::int64_t kFirstProducts = kFirst * 9 * 3 * 8, kSecondProducts = kSecond * 25 * 8 * 16;

Network network(std::optional<WeightExtents> weights = std::nullopt) {
  return architecture_of(spec_with_stem(), "stem", 0, 0, weights);
}

/// Operations of one component in the embedding.
OperationCount embedding_part(const Network& network, CostConvention convention,
                              const std::string& name) {
  AccountingOptions options;
  options.convention = convention;
  OperationCount sum;
  const NetworkCost cost = count_operations(network, options);
  for (const PartCost& part : cost.parts) {
    if (part.name != "embedding") continue;
    for (const ComponentCost& component : part.components) {
      if (component.count.component == name) accumulate(sum, component.count);
    }
  }
  return sum;
}

TEST(StemEnergy, ConvolutionsAreCountedAtEachOfTheirCells) {
  const OperationCount stem = embedding_part(network(), CostConvention::adder, "stem");
  EXPECT_EQ(stem.multiplications, kFirstProducts + kSecondProducts);
  const OperationCount all = embedding_part(network(), CostConvention::complete, "stem");
  EXPECT_EQ(all.multiplications, kFirstProducts + kSecondProducts);
  EXPECT_EQ(all.additions, kFirstProducts + kSecondProducts + kFirst * 8 + kSecond * 16);
}

TEST(StemEnergy, PatchesAreOfItsLastChannels) {
  const OperationCount patches =
      embedding_part(network(), CostConvention::adder, "patch embedding");
  EXPECT_EQ(patches.multiplications, kSecond * 1 * 16 * 32);
}

TEST(StemEnergy, CountsItsOwnActivation) {
  const OperationCount gelu = embedding_part(network(), CostConvention::complete, "activation");
  EXPECT_EQ(gelu.exponentials, kFirst * 8 + kSecond * 16);
  EXPECT_EQ(embedding_part(network(), CostConvention::adder, "activation").multiplications, 0);
}

TEST(StemEnergy, LayerNormsAreCountedWhereTheWeightsHaveThem) {
  EXPECT_EQ(embedding_part(network(), CostConvention::complete, "normalisation").additions, 0);
  WeightExtents weights;
  weights.stem_norms = {true, false};
  const OperationCount norm =
      embedding_part(network(weights), CostConvention::ecoformer, "normalisation");
  EXPECT_EQ(norm.multiplications, 2 * kFirst * 8);
}

TEST(StemEnergy, ParametersAreThoseOfKernelsAndBiases) {
  WeightExtents weights;
  weights.stem_norms = {true, false};
  std::int64_t stem = 0;
  for (const ParameterCount& count : count_parameters(network(weights), {})) {
    if (count.component == "stem") stem += count.parameters;
  }
  EXPECT_EQ(stem, 9 * 3 * 8 + 8 + 25 * 8 * 16 + 16);
}

TEST(StemEnergy, OtherNumbersOfTokensAreRefused) {
  EXPECT_NO_THROW((void)architecture_of(spec_with_stem(), "stem", kSecond));
  EXPECT_THAT(error_of([&] { (void)architecture_of(spec_with_stem(), "stem", 4 * kSecond); }),
              testing::HasSubstr("convolutions before the patches"));
}

}  // namespace
}  // namespace attnscope
