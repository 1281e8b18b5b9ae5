// Forgetting attention and mechanisms that carry a state from token to token: comparison with their
// authors' plain code, and their own properties. mechanism_test.cpp checks the requirements of all
// mechanisms.
#include <cmath>
#include <gtest/gtest.h>
#include <utility>

#include "analysis/spectrum/spectrum.h"
#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/model/model.h"
#include "core/parameters/parameters_json.h"
#include "tests/support/naive_twins.h"
#include "tests/support/near.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

constexpr const char* kSequential[] = {"forgetting", "gla", "mamba2", "gated-delta", "kda"};

AttentionInput in_causal_layer(const RandomAttention& data) {
  AttentionInput input = data.input();
  input.causal = true;
  return input;
}

Tensor map_of(const MechanismChoice& choice, const AttentionInput& input) {
  return make_mechanism(choice)->implied_map(input);
}

TEST(Recurrences, MapsAndOutputsAreThoseOfTheAuthorsCode) {
  for (const nlohmann::json& reference : read_test_data("attention/recurrences.json").at("cases")) {
    const std::string name = reference.at("mechanism");
    SCOPED_TRACE(name + " " + reference.at("seed").dump());
    RandomAttention data = raw_attention(reference.at("n"), reference.at("heads"),
                                         reference.at("width"), reference.at("seed"));
    for (const nlohmann::json& one : reference.at("tensors")) {
      const std::string gate = one.at("name");
      Tensor tensor = raw_uniform(one.at("shape"), one.at("seed"));
      for (float& value : tensor.values()) {
        value = gate == "log_decay" ? -std::abs(value) * reference.at("decay").get<float>()
                                    : (value + 2) / 4;
      }
      data.parameters.emplace(gate, std::move(tensor));
    }
    const auto mechanism =
        make_mechanism({name, parameters_from_json(reference.at("parameters").dump())});
    AttentionInput input = data.input();
    input.causal = reference.at("causal");
    const Tensor map = mechanism->implied_map(input);
    const std::int64_t first = reference.at("first_row"), rows = map.extent(1) - first;
    Tensor last({map.extent(0), rows, map.extent(2)});
    for (std::int64_t head = 0; head < map.extent(0); ++head) {
      last.slice(head) = map.slice(head).bottomRows(rows);
    }
    expect_values(last, reference.at("map"), 1e-5, "map");
    expect_values(mechanism->forward(input), reference.at("output"), 1e-5, "output");
  }
}

TEST(Recurrences, EveryLayerIsCausalButThatOfRetention) {
  const RandomAttention data(70, 70, 2, 4, 4, 7);
  for (const char* const name : kSequential) {
    EXPECT_TRUE(find_mechanism(name).sequential) << name;
    EXPECT_EQ(map_of({name, {}}, data.input()).matrix(),
              map_of({name, {}}, in_causal_layer(data)).matrix())
        << name;
  }
  EXPECT_FALSE(find_mechanism("retention").sequential);
  const Tensor both = map_of({"retention", {}}, data.input());
  const Tensor one = map_of({"retention", {}}, in_causal_layer(data));
  for (std::int64_t head = 0; head < 2; ++head) {
    const Matrix lower = both.slice(head).triangularView<Eigen::Lower>();
    EXPECT_LT((lower - one.slice(head)).cwiseAbs().maxCoeff(), 1e-6F);
    EXPECT_NE(both.slice(head)(0, 69), 0);
  }
}

TEST(Recurrences, ATraceOfAPictureKnowsTheKeysThatAreHidden) {
  const auto model = load_model(source_folder() + "/sample_data/models/fashion-softmax.h5");
  const Input bag = open_input(source_folder() + "/sample_data/inputs/08_bag.png");
  EXPECT_EQ(model->run(bag, {"gla", {}}, {}, {}).layers[0].seen, up_to_the_query(197));
  EXPECT_NE(model->run(bag, {"retention", {}}, {}, {}).layers[0].seen, up_to_the_query(197));
}

TEST(Recurrences, BlocksBelowTheDiagonalHaveTheRankOfTheState) {
  RandomAttention data(90, 90, 1, 5, 5, 7);
  for (const char* const name : {"retention", "gla", "mamba2", "gated-delta", "kda"}) {
    data.parameters = random_tensors({name, {}}, data.input().shape(), 3);
    const Tensor map = map_of({name, {}}, in_causal_layer(data));
    const Matrix block = map.slice(0).bottomLeftCorner(50, 40);
    Tensor copy({50, 40});
    copy.matrix() = block;
    EXPECT_EQ(spectrum_of(std::as_const(copy).matrix()).numerical_rank, 5) << name;
  }
}

// Products of these decays underflow, and quotients of such products are not finite.
TEST(Recurrences, DecaysOfNearlyZeroLeaveEachTokenItself) {
  RandomAttention data(70, 70, 1, 3, 3, 7);
  for (const char* const name : {"gla", "mamba2", "gated-delta", "kda"}) {
    data.parameters = random_tensors({name, {}}, data.input().shape(), 3);
    data.parameters.at("log_decay").matrix().setConstant(-1e30F);
    const Tensor map = map_of({name, {}}, data.input());
    const Matrix diagonal = map.slice(0).diagonal().asDiagonal();
    EXPECT_EQ(Matrix(map.slice(0)), diagonal) << name;
    EXPECT_GT(diagonal.diagonal().cwiseAbs().minCoeff(), 0) << name;
  }
}

TEST(Recurrences, WithoutALayersGatesDecaysOfTokensAndChannelsAreTheSame) {
  const RandomAttention data(70, 70, 2, 4, 4, 7);
  EXPECT_EQ(map_of({"kda", {}}, data.input()).matrix(),
            map_of({"gated-delta", {}}, data.input()).matrix());
}

// With β = 1 and no decay the state returns for a key what was last written with it.
TEST(DeltaRule, ReadsTheLastValueOfAKeyThatWasWrittenTwice) {
  RandomAttention data(4, 4, 1, 2, 2, 7);
  data.keys = Tensor({4, 2}, {30, 0, 0, 50, 20, 0, 0, 10});
  data.queries = Tensor({4, 2}, {10, 0, 10, 0, 10, 0, 10, 0});
  AttentionInput input = data.input();
  input.scale = 1;
  const Tensor map = map_of({"gated-delta", {{"rate", 0.0}, {"beta", 1.0}}}, input);
  const Tensor expected({1, 4, 4}, {1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0});
  expect_near(map, expected, 1e-6F);
}

TEST(Forgetting, IsCausalSoftmaxWhenNothingIsForgotten) {
  const RandomAttention data(70, 70, 2, 4, 4, 7);
  expect_near(map_of({"forgetting", {{"rate", 0.0}}}, data.input()),
              map_of({"softmax", {}}, in_causal_layer(data)), 1e-6F);
}

TEST(Forgetting, RowsComputedOnRequestAreThoseOfTheMap) {
  const RandomAttention data(70, 70, 2, 4, 4, 7);
  const auto mechanism = make_mechanism({"forgetting", {}});
  const AttentionInput input = data.input();
  const Tensor map = mechanism->implied_map(input);
  const MapRows rows = mechanism->map_rows(input);
  for (std::int64_t head = 0; head < 2; ++head) {
    Matrix found(9, 70);
    rows(head, 61, {found.data(), 9, 70, Eigen::OuterStride<>(70)});
    EXPECT_LT((found - map.slice(head).bottomRows(9)).cwiseAbs().maxCoeff(), 1e-6F);
  }
}

TEST(Recurrences, InputsThatDoNotFitAreRefused) {
  for (const char* const name :
       {"retention", "forgetting", "gla", "mamba2", "gated-delta", "kda"}) {
    const RandomAttention other(4, 5, 1, 2, 2, 7);
    const auto mechanism = make_mechanism({name, {}});
    EXPECT_EQ(refusal_of([&] { (void)mechanism->forward(other.input()); }).subject(), name);
    if (find_mechanism(name).tensors.empty()) continue;
    RandomAttention data(4, 4, 1, 2, 2, 7);
    data.parameters = random_tensors({name, {}}, data.input().shape(), 3);
    data.parameters.at("log_decay").values()[2] = 0.5F;
    const Error positive = refusal_of([&] { (void)mechanism->implied_map(data.input()); });
    EXPECT_EQ(positive.subject(), "log_decay");
    EXPECT_EQ(positive.found_text(), "0.5") << positive.what();
    data.parameters.at("log_decay") = Tensor({3, 3});
    EXPECT_EQ(refusal_of([&] { (void)mechanism->implied_map(data.input()); }).subject(),
              "log_decay");
  }
}

}  // namespace
}  // namespace attnscope
