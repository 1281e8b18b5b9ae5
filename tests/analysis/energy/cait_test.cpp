// The cost of CaiT against a count by hand (Touvron et al. 2021, Table 1: CaiT-XXS-24 has 12.0 M
// parameters and takes 2.5 G multiplications).
#include <gtest/gtest.h>

#include "analysis/energy/accounting.h"
#include "analysis/energy/architecture.h"

namespace attnscope {
namespace {

constexpr std::int64_t kWidth = 192, kCaitHeads = 4, kPatches = 196;

Network cait() {
  ModelSpec spec;
  spec.mechanism = {"talking-heads", {}};
  spec.width = kWidth;
  spec.layers = 26;
  spec.layer.attention.heads = kCaitHeads;
  spec.layer.mlp.width = 4 * kWidth;
  spec.tail = {.kind = Tail::class_attention, .blocks = 2};
  validate(spec);
  WeightExtents weights;
  weights.layer_scales = true;
  return architecture_of(spec, "cait", 0, 1000, weights);
}

NetworkCost cost_of(CostConvention convention) {
  AccountingOptions options;
  options.convention = convention;
  options.mechanism = cait().mechanism;
  return count_operations(cait(), options);
}

/// Scalar products in one layer of patches.
std::int64_t products_of_patches() {
  return 12 * kPatches * kWidth * kWidth + 2 * kPatches * kPatches * kWidth +
         2 * kCaitHeads * kCaitHeads * kPatches * kPatches;
}
std::int64_t products_of_class_token() {
  constexpr std::int64_t all = kPatches + 1;
  return 2 * kWidth * kWidth + 2 * all * kWidth * kWidth + 2 * all * kWidth + 8 * kWidth * kWidth;
}

TEST(CaitEnergy, AllOfItIsCountedByHand) {
  const std::int64_t products = kPatches * 3 * 256 * kWidth + 24 * products_of_patches() +
                                2 * products_of_class_token() + 1000 * kWidth;
  EXPECT_EQ(cost_of(CostConvention::adder).total().multiplications, products);
  EXPECT_NEAR(static_cast<double>(products), 2.5e9, 0.05e9);
}

TEST(CaitEnergy, EveryChannelOfEachBranchIsScaled) {
  int found = 0;
  for (const ComponentCost& one : cost_of(CostConvention::complete).by_component()) {
    if (one.count.component != "layer scale") continue;
    ++found;
    // Attention and MLPs have the same number of scaled channels.
    EXPECT_EQ(one.count.multiplications, (24 * kPatches + 2) * kWidth);
  }
  EXPECT_GT(found, 0);
}

TEST(CaitEnergy, ParametersAreThosePublished) {
  AccountingOptions options;
  options.mechanism = cait().mechanism;
  std::int64_t parameters = 0, mixing = 0, scales = 0;
  for (const ParameterCount& count : count_parameters(cait(), options)) {
    parameters += count.parameters;
    if (count.component == "talking-heads") mixing += count.parameters;
    if (count.component == "layer scale") scales += count.parameters;
  }
  EXPECT_EQ(mixing, 24 * (2 * kCaitHeads * kCaitHeads + 2 * kCaitHeads));
  EXPECT_EQ(scales, 26 * 2 * kWidth);
  EXPECT_EQ(parameters, 11'956'264);  // timm's cait_xxs24_224
}

}  // namespace
}  // namespace attnscope
