// Refinement from coarse to fine patches compared with PyTorch; other parameters stay unchanged.
#include "core/training/refinement.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/support/reference_maps.h"
#include "tests/support/training_case.h"

namespace attnscope {
namespace {

using nlohmann::json;

const json& refinement_cases() { return read_test_data("training/refinement.json").at("cases"); }

std::string name_of_refinement(const testing::TestParamInfo<std::size_t>& info) {
  return refinement_cases().at(info.param).at("name");
}

class RefinementBesidePyTorch : public testing::TestWithParam<std::size_t> {};

TEST_P(RefinementBesidePyTorch, ValuesAreTheSame) {
  const json& one = refinement_cases().at(GetParam());
  const TrainedNetwork coarse(training_spec(one.at("coarse"))), fine(training_spec(one.at("fine")));
  const auto values = training_values(one.at("coarse"), coarse.parameters());
  const auto made = refined_values(coarse, values, fine);
  std::size_t changed = 0;
  for (const Parameter& parameter : fine.parameters().list()) {
    const float* const found = parameter.slot.in(made.data());
    if (!one.at("values").contains(parameter.name)) {
      const Parameter& before = *coarse.parameters().find(parameter.name);
      EXPECT_TRUE(std::equal(found, found + parameter.slot.size, before.slot.in(values.data())))
          << parameter.name;
      continue;
    }
    ++changed;
    const std::vector<double> expected = one.at("values").at(parameter.name);
    ASSERT_EQ(std::ssize(expected), parameter.slot.size) << parameter.name;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(found[i], expected[i], 5e-6) << parameter.name << " " << i;
    }
  }
  EXPECT_EQ(changed, one.at("values").size());
}

INSTANTIATE_TEST_SUITE_P(All, RefinementBesidePyTorch,
                         testing::Range(std::size_t{0}, std::size_t{4}), name_of_refinement);

/// The subject of the error about refining this mechanism from 9 patches to 36; "nothing" if there
/// is none.
std::string refused_tensor(const MechanismChoice& mechanism) {
  json coarse = refinement_cases().at(0).at("coarse"), fine = refinement_cases().at(0).at("fine");
  ModelSpec coarse_spec = training_spec(coarse), fine_spec = training_spec(fine);
  coarse_spec.mechanism = fine_spec.mechanism = mechanism;
  const TrainedNetwork before(coarse_spec), after(fine_spec);
  const std::vector<float> values(static_cast<std::size_t>(before.parameters().size()));
  try {
    (void)refined_values(before, values, after);
    return "nothing";
  } catch (const Error& error) {
    return error.subject();
  }
}

TEST(RefinementTest, RefusesMechanismsThatDependOnTheTokenCount) {
  EXPECT_EQ(refused_tensor({"linformer", {{"landmarks", std::int64_t{4}}}}), "blocks.0.attn.E");
  EXPECT_EQ(refused_tensor({"daft-full", {{"factors", std::int64_t{0}}}}), "blocks.0.attn.w");
  EXPECT_EQ(refused_tensor({"synthesizer", {}}), "blocks.0.attn.W2");
  EXPECT_EQ(refused_tensor({"performer", {}}), "nothing");
}

}  // namespace
}  // namespace attnscope
