// The cost of SAM's image encoder against a count by hand, and its number of parameters against the
// published one (Kirillov et al. 2023; the neck with 787,456 parameters is not counted).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/energy/accounting.h"
#include "analysis/energy/architecture.h"
#include "core/error.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

constexpr std::int64_t kSamWidth = 768, kSamTokens = 64 * 64, kSamWindow = 14;
constexpr std::int64_t kFilled = 25 * kSamWindow * kSamWindow;  // 70 × 70 cells
constexpr std::int64_t kGlobal = 4, kWindowed = 8;

ModelSpec sam_base() {
  ModelSpec spec;
  spec.input.class_tokens = 0;
  spec.input.image_height = spec.input.image_width = 1024;
  spec.width = kSamWidth;
  spec.layers = 12;
  spec.layer.attention.heads = 12;
  spec.layer.mlp.width = 4 * kSamWidth;
  spec.layer.scores.bias = ScoreBias::decomposed;
  spec.layer.scores.window_form = WindowForm::tiles;
  spec.layer.scores.window = kSamWindow;
  spec.differences = {{.layers = {2, 5, 8, 11}, .members = {{"scores.window", "0"}}}};
  spec.readout.kind = Readout::none;
  validate(spec);
  return spec;
}

Network sam(std::int64_t tokens = 0) {
  WeightExtents weights;
  weights.final_norm = false;
  return architecture_of(sam_base(), "sam", tokens, -1, weights);
}

NetworkCost sam_cost(CostConvention convention) {
  const Network network = sam();
  AccountingOptions options;
  options.convention = convention;
  options.native_attention = network.native_attention;
  return count_operations(network, options);
}

TEST(SamEnergy, AllOfItIsCountedByHand) {
  constexpr std::int64_t d = kSamWidth, n = kSamTokens, side = kSamWindow;
  constexpr std::int64_t mlp = 8 * n * d * d;
  constexpr std::int64_t whole = 4 * n * d * d + 2 * n * n * d + n * (64 + 64) * d;
  constexpr std::int64_t windowed =
      4 * kFilled * d * d + 2 * kFilled * side * side * d + kFilled * 2 * side * d;
  const std::int64_t products = n * 3 * 256 * d + 12 * mlp + kGlobal * whole + kWindowed * windowed;
  EXPECT_EQ(sam_cost(CostConvention::adder).total().multiplications, products);
}

TEST(SamEnergy, EveryScoreHasTheTermsOfItsRowAndItsColumn) {
  constexpr std::int64_t n = kSamTokens;
  const std::int64_t scores =
      12 * (kGlobal * n * n + kWindowed * kFilled * kSamWindow * kSamWindow);
  const std::int64_t products =
      kSamWidth * (kGlobal * n * 128 + kWindowed * kFilled * 2 * kSamWindow);
  for (const ComponentCost& one : sam_cost(CostConvention::complete).by_component()) {
    if (one.count.component != "position bias") continue;
    EXPECT_EQ(one.count.multiplications, products);
    EXPECT_EQ(one.count.additions - one.count.multiplications, 2 * scores);
  }
}

TEST(SamEnergy, ParametersAreThosePublished) {
  AccountingOptions options;
  options.native_attention = true;
  std::int64_t parameters = 0, positions = 0;
  for (const ParameterCount& count : count_parameters(sam(), options)) {
    parameters += count.parameters;
    if (count.component == "position bias") positions = count.parameters;
  }
  EXPECT_EQ(positions, 64 * (kGlobal * 2 * 127 + kWindowed * 2 * 27));
  EXPECT_EQ(parameters, 89'670'912 - 787'456);
  EXPECT_THAT(sam().note, testing::HasSubstr("neck"));
}

TEST(SamEnergy, AGridIsSquareAndItsWindowsWhole) {
  EXPECT_EQ(sam(28 * 28).stages.front().window_count, 4);
  EXPECT_EQ(sam(29 * 29).stages.front().window_count, 9);
  EXPECT_THROW((void)sam(1000), Error);
}

TEST(SamEnergy, WindowsAreOfTheRowsAndColumnsOfTheGrid) {
  ModelSpec spec = sam_base();
  spec.input.image_height = 512;
  WeightExtents weights;
  weights.final_norm = false;
  const Network network = architecture_of(spec, "sam", 0, -1, weights);
  EXPECT_EQ(network.stages.front().window_count, 3 * 5) << "14 cells a side in 32 × 64";
}

TEST(SamEnergy, OtherDifferencesAreRefused) {
  ModelSpec spec = sam_base();
  spec.differences.front().members = {{"mlp.width", "64"}};
  EXPECT_THAT(error_of([&] { (void)architecture_of(spec, "sam"); }),
              testing::HasSubstr("layers that differ"));
}

}  // namespace
}  // namespace attnscope
