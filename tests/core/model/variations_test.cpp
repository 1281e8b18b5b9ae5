// Models written from scratch that differ in properties which no tensor shows, compared with
// PyTorch: tests/data/fit/make_references.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/model/evaluation/self_test.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/scratch_models.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Options = std::map<std::string, std::string>;

std::string variation_refusal(const Options& said, bool fused = false) {
  const TemporaryFolder folder;
  write_hashed_safetensors(folder / "gpt.safetensors", scratch_gpt(fused, true));
  try {
    (void)load_model(folder / "gpt.safetensors", {with_usual(said), {}});
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

class Variations : public testing::TestWithParam<Variation> {};

TEST_P(Variations, AgreesWithPyTorchWhenSet) {
  const Variation& variation = GetParam();
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "gpt.safetensors";
  write_hashed_safetensors(file, scratch_gpt(variation.fused, variation.positions));
  const auto reference = test_data(std::string("fit/") + variation.name + ".npz");
  const SelfTest test = self_test(*load_model(file, {with_usual(variation.said), {}}), reference);
  EXPECT_LT(test.difference, 1e-5) << in_words(test);
  // The reference of each variation differs from the base model.
  if (variation.said.empty() || !variation.positions) return;
  const SelfTest usual = self_test(*load_model(file, {with_usual({}), {}}), reference);
  EXPECT_GT(usual.difference, std::string_view(variation.name) == "gelu_tanh" ? 1e-5 : 1e-2);
}

INSTANTIATE_TEST_SUITE_P(OfOneModel, Variations, testing::ValuesIn(variations()),
                         [](const auto& at) { return std::string(at.param.name); });

TEST(VariationRefusals, NameTheOptionAndItsAllowedValues) {
  EXPECT_THAT(variation_refusal({{"qkv_rows", "heads_first"}}),
              AllOf(HasSubstr("qkv_rows: queries, keys and values are not in one weight")));
  EXPECT_THAT(variation_refusal({{"qkv_rows", "mixed"}}, true),
              AllOf(HasSubstr("parts_first, heads_first"), HasSubstr("'mixed'")));
  EXPECT_THAT(
      variation_refusal(
          {{"qkv_rows", "heads_first"}, {"layer.attention.head_split", "channels_first"}}, true),
      HasSubstr("cannot be ordered by heads and by channels"));
  EXPECT_THAT(variation_refusal({{"layer.residual_scale", "0"}}),
              HasSubstr("layer.residual_scale"));
  EXPECT_THAT(variation_refusal({{"layer.residual", "none"}, {"layer.residual_scale", "2"}}),
              HasSubstr("layer.residual_scale"));
  EXPECT_THAT(variation_refusal({{"positions.sinusoid_order", "halves"}}),
              HasSubstr("alternating unless positions are sinusoidal"));
}

TEST(VariationRefusals, AcceptPathsAsWellAsNames) {
  EXPECT_EQ(variation_refusal({{"layer.attention.heads", "3"}, {"readout.final_norm", "false"}}),
            "nothing was refused");
}

}  // namespace
}  // namespace attnscope
