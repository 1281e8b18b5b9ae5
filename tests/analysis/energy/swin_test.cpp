// The cost of Swin against a count by hand (Liu et al. 2021, Eq. 2 and Table 7: Swin-T has 28 M
// parameters and takes 4.5 G multiplications).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/energy/accounting.h"
#include "analysis/energy/architecture.h"
#include "core/error.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

constexpr std::int64_t kWidths[] = {96, 192, 384, 768}, kSides[] = {56, 28, 14, 7};
constexpr std::int64_t kDepths[] = {2, 2, 6, 2}, kWindow = 7;

/// Swin-T for 224 × 224 pixels and 1000 classes.
ModelSpec swin_tiny() {
  ModelSpec spec;
  spec.input.kind = InputKind::stages;
  spec.input.patch_height = spec.input.patch_width = 4;
  spec.input.class_tokens = 0;
  spec.positions.kind = Positions::none;
  spec.layer.scores.bias = ScoreBias::table;
  spec.readout.kind = Readout::mean;
  spec.layers = 0;
  for (int i = 0; i < 4; ++i) {
    const std::int64_t side = i == 0 ? 4 : 2;
    spec.stages.push_back({.width = kWidths[i],
                           .layers = kDepths[i],
                           .heads = kWidths[i] / 32,
                           .mlp_width = 4 * kWidths[i],
                           .kernel = side,
                           .stride = side,
                           .window = kWindow});
    spec.layers += kDepths[i];
  }
  spec.width = spec.layer.mlp.width = 768;
  spec.layer.attention = {.heads = 24, .head_width = 32};
  validate(spec);
  return spec;
}

NetworkCost cost_of(const Network& network, CostConvention convention) {
  AccountingOptions options;
  options.convention = convention;
  options.mechanism = network.mechanism;
  options.native_attention = network.native_attention;
  return count_operations(network, options);
}

Network swin_network() { return architecture_of(swin_tiny(), "swin", 0, 1000); }

TEST(SwinEnergy, AttentionIsAsThePapersEquation2) {
  const NetworkCost cost = cost_of(swin_network(), CostConvention::adder);
  std::int64_t layer = 0;
  for (int stage = 0; stage < 4; ++stage) {
    const std::int64_t hw = kSides[stage] * kSides[stage], c = kWidths[stage];
    for (std::int64_t i = 0; i < kDepths[stage]; ++i, ++layer) {
      OperationCount attention;
      for (const PartCost& part : cost.parts) {
        if (part.layer != layer) continue;
        for (const ComponentCost& component : part.components) {
          if (component.group == ComponentGroup::attention) accumulate(attention, component.count);
        }
      }
      EXPECT_EQ(attention.multiplications, 4 * hw * c * c + 2 * kWindow * kWindow * hw * c)
          << "layer " << layer;
    }
  }
}

TEST(SwinEnergy, AllOfItIsCountedByHand) {
  std::int64_t products = 56 * 56 * 48 * 96 + 768 * 1000;  // patches, head
  for (int stage = 0; stage < 4; ++stage) {
    const std::int64_t hw = kSides[stage] * kSides[stage], c = kWidths[stage];
    products += kDepths[stage] * (12 * hw * c * c + 2 * kWindow * kWindow * hw * c);
    if (stage > 0) products += hw * (4 * kWidths[stage - 1]) * c;  // merging
  }
  const OperationCount total = cost_of(swin_network(), CostConvention::adder).total();
  EXPECT_EQ(total.multiplications, products);
  EXPECT_NEAR(static_cast<double>(products), 4.5e9, 0.05e9);
}

TEST(SwinEnergy, EveryScoreWithinAWindowHasItsBias) {
  std::int64_t scores = 0;
  for (int stage = 0; stage < 4; ++stage) {
    const std::int64_t heads = kWidths[stage] / 32;
    scores += kDepths[stage] * heads * kSides[stage] * kSides[stage] * kWindow * kWindow;
  }
  const auto components = cost_of(swin_network(), CostConvention::complete).by_component();
  const auto additions_of = [&](const std::string& name) {
    for (const ComponentCost& one : components) {
      if (one.count.component == name) return one.count.additions;
    }
    return std::int64_t{-1};
  };
  EXPECT_EQ(additions_of("position bias"), scores);
  EXPECT_EQ(additions_of("FFN convolution"), -1);
  EXPECT_EQ(additions_of("position convolution"), -1);
}

TEST(SwinEnergy, ParametersAreThosePublished) {
  AccountingOptions options;
  options.native_attention = true;
  std::int64_t parameters = 0;
  for (const ParameterCount& count : count_parameters(swin_network(), options)) {
    parameters += count.parameters;
  }
  EXPECT_EQ(parameters, 28'288'354);  // timm's swin_tiny_patch4_window7_224
}

TEST(SwinEnergy, WindowsOfOtherKindsAreRefused) {
  ModelSpec spec;
  spec.input.class_tokens = 0;
  spec.layer.scores.window = 14;
  spec.layer.scores.window_form = WindowForm::around;
  spec.readout.kind = Readout::none;
  EXPECT_THAT(error_of([&] { (void)architecture_of(spec, "local"); }),
              testing::HasSubstr("windows shorter than the input are not counted"));
}

}  // namespace
}  // namespace attnscope
