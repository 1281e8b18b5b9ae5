// Losses, gradients and whole training curves compared with PyTorch's in float64.
#include "core/training/network.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "core/error.h"
#include "core/training/batch_gradient.h"
#include "core/training/optimiser.h"
#include "tests/support/reference_maps.h"
#include "tests/support/training_case.h"

namespace attnscope {
namespace {

using nlohmann::json;

const json& cases_of(const char* file) { return read_test_data(file).at("cases"); }

std::string name_of_network_case(const testing::TestParamInfo<std::size_t>& info,
                                 const char* file) {
  const json& one = cases_of(file).at(info.param);
  const std::string optimiser = one.contains("optimiser") ? one.at("optimiser") : "";
  return one.at("name").get<std::string>() + optimiser;
}

/// ‖found − expected‖ / ‖expected‖ of a tensor that is not all zero.
double relative_error(const std::vector<double>& expected, const float* found) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += (found[i] - expected[i]) * (found[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  return std::sqrt(difference / std::max(size, 1e-20));
}

class GradientsBesidePyTorch : public testing::TestWithParam<std::size_t> {};

TEST_P(GradientsBesidePyTorch, AgreeForEveryParameter) {
  const json& one = cases_of("training/gradients.json").at(GetParam());
  const TrainedNetwork network(training_spec(one), gradient_forms(one));
  const auto values = training_values(one, network.parameters());
  const Examples examples = training_examples(one, 4, 7);
  const auto targets = static_cast<float>(examples.targets.size());
  std::vector<float> gradients(values.size());
  TrainedNetwork::Room room;
  const LossSum sum = network.run(values.data(), gradients.data(), 1.0F / targets, examples, room);
  EXPECT_NEAR(sum.loss / static_cast<double>(sum.count), one.at("loss").get<double>(), 2e-6);
  ASSERT_EQ(network.parameters().list().size(), one.at("gradients").size());
  for (const Parameter& parameter : network.parameters().list()) {
    const std::vector<double> expected = one.at("gradients").at(parameter.name);
    ASSERT_EQ(static_cast<std::int64_t>(expected.size()), parameter.slot.size) << parameter.name;
    const float* const found = parameter.slot.in(gradients.data());
    double size = 0;
    for (const double number : expected) size += number * number;
    if (parameter.name.find(".ksh.") != std::string::npos) {
      EXPECT_EQ(size, 0) << parameter.name << " is learned apart";
      EXPECT_TRUE(std::all_of(found, found + parameter.slot.size, [](float x) { return x == 0; }));
    }
    // The bias of the keys has no gradient in softmax attention: only rounding remains.
    if (size < 1e-16) continue;
    EXPECT_LT(relative_error(expected, found), 1e-4) << parameter.name;
  }
}

TEST(GradientCases, CoverEveryTrainableMechanism) {
  for (const TrainedAttentionEntry& entry : trained_attentions()) {
    EXPECT_TRUE(std::ranges::any_of(cases_of("training/gradients.json"), [&](const json& one) {
      return one.at("mechanism") == entry.name;
    })) << entry.name;
  }
  EXPECT_EQ(cases_of("training/gradients.json").size(), 115U);
}

INSTANTIATE_TEST_SUITE_P(All, GradientsBesidePyTorch,
                         testing::Range(std::size_t{0}, std::size_t{115}), [](const auto& info) {
                           return name_of_network_case(info, "training/gradients.json");
                         });

class CurveBesidePyTorch : public testing::TestWithParam<std::size_t> {};

TEST_P(CurveBesidePyTorch, LossesOfFiftyStepsAreTheSame) {
  const json& one = cases_of("training/curves.json").at(GetParam());
  const TrainedNetwork network(training_spec(one), gradient_forms(one));
  auto values = training_values(one, network.parameters());
  const std::int64_t items = one.at("items"), batch = one.at("batch");
  const Examples all = training_examples(one, items, 9);
  const OptimiserKind kind =
      value_of(optimiser_kind_names, one.at("optimiser").get<std::string>(), "optimiser");
  Optimiser optimiser(network.parameters(), {.kind = kind, .weight_decay = 0.05, .clip = 1});
  const RateSettings rate{
      .highest = one.at("highest"), .warm_up = one.at("warm_up"), .steps = one.at("steps")};
  BatchGradient pass(network);
  std::vector<float> gradients;
  const std::vector<double> expected = one.at("losses");
  for (std::size_t step = 0; step < expected.size(); ++step) {
    const auto examples = [&](std::int64_t first, std::int64_t count) {
      std::vector<std::int64_t> numbers;
      for (std::int64_t i = first; i < first + count; ++i) {
        numbers.push_back((static_cast<std::int64_t>(step) * batch + 5 * i) % items);
      }
      return chosen_examples(all, numbers);
    };
    const LossSum sum = pass.gradient(values, batch, examples, gradients);
    ASSERT_NEAR(sum.loss / static_cast<double>(sum.count), expected[step], 1e-4) << "step " << step;
    optimiser.step(values, gradients, rate_of_step(rate, static_cast<std::int64_t>(step)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, CurveBesidePyTorch, testing::Range(std::size_t{0}, std::size_t{7}),
                         [](const auto& info) {
                           return name_of_network_case(info, "training/curves.json");
                         });

TEST(BatchGradientTest, BytesDoNotDependOnTheThreads) {
  const json& one = cases_of("training/gradients.json").at(0);
  const TrainedNetwork network(training_spec(one));
  const auto values = training_values(one, network.parameters());
  const Examples all = training_examples(one, 600, 3);
  const auto make = [&](std::int64_t first, std::int64_t count) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = first; i < first + count; ++i) numbers.push_back(i);
    return chosen_examples(all, numbers);
  };
  const auto of_threads = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    BatchGradient pass(network);
    std::vector<float> gradients;
    const LossSum sum = pass.gradient(values, 600, make, gradients);
    gradients.push_back(static_cast<float>(sum.loss));
    return gradients;
  };
  const auto alone = of_threads(1);
  EXPECT_EQ(alone, of_threads(2));
  EXPECT_EQ(alone, of_threads(7));
}

TEST(BatchGradientTest, EqualsThatOfTheWholeBatch) {
  const json& one = cases_of("training/gradients.json").at(2);
  const TrainedNetwork network(training_spec(one));
  const auto values = training_values(one, network.parameters());
  const Examples all = training_examples(one, 100, 3);
  std::vector<float> whole(values.size()), cut;
  TrainedNetwork::Room room;
  network.run(values.data(), whole.data(), 0.01F, all, room);
  BatchGradient pass(network);
  pass.gradient(
      values, 100,
      [&](std::int64_t first, std::int64_t count) {
        std::vector<std::int64_t> numbers;
        for (std::int64_t i = first; i < first + count; ++i) numbers.push_back(i);
        return chosen_examples(all, numbers);
      },
      cut);
  const std::vector<double> expected(whole.begin(), whole.end());
  EXPECT_LT(relative_error(expected, cut.data()), 1e-5);
}

/// The subject of the error about a network of `spec`; "nothing" if there is no error.
std::string refused_part(const ModelSpec& spec) {
  try {
    const TrainedNetwork network(spec);
    return "nothing";
  } catch (const Error& error) {
    return error.subject();
  }
}

TEST(NetworkTest, NamesLayersWithoutGradients) {
  const json& one = cases_of("training/gradients.json").at(0);
  const auto refused = [&](const auto& change) -> std::string {
    ModelSpec spec = training_spec(one);
    change(spec);
    return refused_part(spec);
  };
  EXPECT_EQ(refused([](ModelSpec& spec) { spec.layer.rotary.form = Rotary::half; }),
            "layer.rotary.form");
  EXPECT_EQ(refused([](ModelSpec& spec) { spec.layer.mlp.activation = Activation::silu; }),
            "activation");
  EXPECT_EQ(refused([](ModelSpec& spec) { spec.readout.kind = Readout::mean_all; }), "readout");
  EXPECT_EQ(refused([](ModelSpec& spec) { spec.mechanism.name = "reformer"; }), "mechanism");
}

TEST(NetworkTest, RefusesMissingPartsOfFastformersLayers) {
  const json& cases = cases_of("training/gradients.json");
  const auto found = std::ranges::find_if(
      cases, [](const json& one) { return one.at("name") == "fastformer_windows"; });
  const auto refused = [&](const auto& change) -> std::string {
    ModelSpec spec = training_spec(*found);
    change(spec);
    return refused_part(spec);
  };
  EXPECT_EQ(refused([](ModelSpec&) {}), "nothing");
  EXPECT_EQ(refused([](ModelSpec& spec) { spec.layer.form = LayerForm::fastformer_rescaled; }),
            "layer.form");
  EXPECT_EQ(refused([](ModelSpec& spec) {
              spec.layer_mechanisms[1] = {"softmax", {}};
            }),
            "mechanism");
  EXPECT_EQ(refused([](ModelSpec& spec) { spec.readout.final_norm = true; }), "readout.final_norm");
  EXPECT_EQ(refused([](ModelSpec& spec) { spec.readout.logit_scale = 1; }), "readout.logit_scale");
  EXPECT_EQ(refused([](ModelSpec& spec) { spec.arithmetic = Arithmetic::adder; }), "arithmetic");
}

}  // namespace
}  // namespace attnscope
