// Position biases and key maps: the values shown and the statistics computed from them.
#include "analysis/position_bias/position_bias.h"

#include <cmath>
#include <gtest/gtest.h>

#include "analysis/position_bias/key_maps.h"
#include "core/error.h"
#include "core/input/input.h"
#include "core/model/model.h"
#include "tests/support/naive_daft.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

/// A trace of one layer over 1 + 3·4 tokens that recorded `name`.
Trace trace_with(const char* name, Tensor tensor, std::int64_t prefix = 1) {
  Trace trace;
  trace.mechanism = {"daft-conv", {}};
  trace.layout = {prefix, 3, 4};
  LayerTrace& layer = trace.layers.emplace_back();
  layer.layout = layer.key_layout = trace.layout;
  layer.quantities.emplace(name, std::move(tensor));
  return trace;
}

TEST(PositionBias, IsShownAsExpMinusOne) {
  Tensor w({1, 13, 13});
  w.slice(0)(2, 5) = 1;
  w.slice(0)(3, 3) = -80;
  const Trace trace = trace_with("position_bias", std::move(w));
  ASSERT_TRUE(has_position_biases(trace));
  const std::vector<PositionBias> biases = position_biases(trace);
  ASSERT_EQ(biases.size(), 1U);
  EXPECT_FALSE(biases[0].windowed);
  const MatrixD shown = shown_bias(biases[0]);
  EXPECT_DOUBLE_EQ(shown(2, 5), std::exp(1.0) - 1);
  EXPECT_NEAR(shown(3, 3), -1, 1e-12);
  EXPECT_EQ(shown(0, 0), 0);
  EXPECT_EQ(query_bias(biases[0], 2).at(5), 1);
  EXPECT_THROW((void)query_bias(biases[0], 13), Error);
}

// A window bias is unrolled like in the equations of the mechanism.
TEST(PositionBias, WindowsUnrollAsTheEquationsDo) {
  for (const char* name : {"daft-conv", "daft-local"}) {
    const MechanismChoice choice = {name,
                                    {{"kernel", std::int64_t{3}},
                                     {"conv_heads", std::int64_t{2}},
                                     {"dimensions", std::int64_t{2}},
                                     {"full_keys", false}}};
    RandomAttention data(13, 13, 1, 4, 4, 3);
    data.keys = random_normal({13, 2}, 4);
    data.parameters.emplace("r", random_normal({2, 3, 3}, 5));
    const TokenLayout layout = {1, 3, 4};
    AttentionInput input = data.input();
    input.layout = &layout;
    NamedTensors quantities = make_mechanism(choice)->quantities(input);
    Trace trace = trace_with("window_bias", quantities.at("window_bias"));
    trace.mechanism = choice;
    const std::vector<PositionBias> biases = position_biases(trace);
    ASSERT_EQ(biases.size(), 2U);
    for (const PositionBias& bias : biases) {
      const NaiveMap expected = naive_daft_bias(choice, input, 2 * bias.head);
      for (std::int64_t query = 0; query < 13; ++query) {
        const std::vector<double> row = query_bias(bias, query);
        for (std::size_t key = 0; key < row.size(); ++key) {
          const double reference = expected[static_cast<std::size_t>(query)][key];
          if (std::isinf(reference)) {
            EXPECT_EQ(row[key], reference);
          } else {
            EXPECT_NEAR(row[key], reference, 1e-6) << query << " → " << key;
          }
        }
      }
    }
  }
}

TEST(PositionBias, NumbersOfKnownBiases) {
  // Equal biases have the largest entropy, no asymmetry and the distance of uniform weights.
  BiasNumbers numbers =
      bias_numbers(position_biases(trace_with("position_bias", Tensor({1, 13, 13}))).at(0));
  EXPECT_NEAR(numbers.entropy_nats, std::log(169.0), 1e-12);
  EXPECT_EQ(numbers.largest_entropy_nats, std::log(169.0));
  EXPECT_EQ(numbers.symmetry_error, 0);
  EXPECT_DOUBLE_EQ(numbers.mean_distance_tokens, numbers.even_distance_tokens);
  EXPECT_EQ(numbers.largest, 0);

  // Each query puts all of its weight on its right neighbour, up to rounding, at a distance of one.
  // At the end of a line the neighbour is the first token of the next line.
  Tensor w({1, 13, 13});
  for (std::int64_t i = 1; i < 13; ++i) w.slice(0)(i, i == 12 ? 11 : i + 1) = 80;
  numbers = bias_numbers(position_biases(trace_with("position_bias", std::move(w))).at(0));
  const double steps = 10 * 1.0 + 2 * std::hypot(1.0, 3.0);
  EXPECT_NEAR(numbers.mean_distance_tokens, steps / 12, 1e-9);
  EXPECT_NEAR(numbers.entropy_nats, std::log(12.0), 1e-9);
  EXPECT_GT(numbers.symmetry_error, 1) << "only the last two are mutual";
  EXPECT_LE(numbers.symmetry_error, std::sqrt(2.0) + 1e-9) << "no entry is negative";
}

TEST(PositionBias, AWindowIsSymmetricAboutItsMiddle) {
  Tensor r({2, 3, 3});
  r.slice(0)(0, 1) = r.slice(0)(2, 1) = 2;  // above and below
  r.slice(1)(0, 1) = 2;                     // only above
  const std::vector<PositionBias> biases = position_biases(trace_with("window_bias", std::move(r)));
  EXPECT_EQ(bias_numbers(biases.at(0)).symmetry_error, 0);
  EXPECT_NEAR(bias_numbers(biases.at(1)).symmetry_error, std::sqrt(2.0), 1e-12);
  const std::vector<BiasNumbers> means =
      layer_means({bias_numbers(biases[0]), bias_numbers(biases[1])});
  ASSERT_EQ(means.size(), 1U);
  EXPECT_EQ(means[0].head, -1);
  EXPECT_NEAR(means[0].symmetry_error, std::sqrt(0.5), 1e-12);
}

TEST(PositionBias, ReportsLayersWithoutRecordedBiases) {
  Trace trace = trace_with("other", Tensor({1}));
  EXPECT_FALSE(has_position_biases(trace));
  EXPECT_FALSE(has_key_maps(trace));
  EXPECT_THROW((void)position_biases(trace), Error);
  EXPECT_THROW((void)key_map(trace, 0, 0), Error);
}

TEST(KeyMaps, AreExpOfTheKeysOverTheirLargestOnTheGrid) {
  Tensor logits({2, 13});
  logits.matrix()(1, 0) = 90;  // the class token, which has no position on the image
  logits.matrix()(1, 4) = 80;
  logits.matrix()(1, 7) = 79;
  const Trace trace = trace_with("key_logits", std::move(logits));
  ASSERT_TRUE(has_key_maps(trace));
  EXPECT_EQ(key_channels(trace, 0), 2);
  const KeyMap map = key_map(trace, 0, 1);
  ASSERT_EQ(map.values.size(), 12U);
  EXPECT_EQ(map.values[3], 1);
  EXPECT_NEAR(map.values[6], std::exp(-1.0F), 1e-6);
  EXPECT_EQ(map.values[0], std::exp(-80.0F));
  EXPECT_THROW((void)key_map(trace, 0, 2), Error);
}

TEST(KeyMaps, AreOnlyOfTokensOnAGrid) {
  EXPECT_FALSE(has_key_maps(trace_with("key_logits", Tensor({2, 14})))) << "a text of 14 tokens";
}

// Biases and key maps of the sample models have their shapes, and statistics within their bounds.
TEST(PositionBias, AreShownForTheSampleModels) {
  const std::filesystem::path samples = source_folder() + "/sample_data";
  const Input input = open_input((samples / "inputs/00_t_shirt.png").string());
  TraceRequest request;
  request.quantities = true;
  request.implied_maps = false;
  const auto full = load_model(samples / "models/fashion-daft-full.h5");
  Trace trace = full->run(input, full->spec().mechanism, request, {});
  std::vector<PositionBias> biases = position_biases(trace);
  ASSERT_EQ(biases.size(), 6U);
  for (const PositionBias& bias : biases) {
    const BiasNumbers numbers = bias_numbers(bias);
    EXPECT_GT(numbers.mean_distance_tokens, 0);
    EXPECT_LE(numbers.mean_distance_tokens, std::hypot(13.0, 13.0));
    EXPECT_NEAR(numbers.even_distance_tokens, 7.2808, 1e-3) << "over a grid of 14×14";
    EXPECT_LT(numbers.entropy_nats, numbers.largest_entropy_nats);
  }
  const auto conv = load_model(samples / "models/fashion-daft-conv.h5");
  trace = conv->run(input, conv->spec().mechanism, request, {});
  biases = position_biases(trace, {0, 5});
  ASSERT_EQ(biases.size(), 32U);
  EXPECT_EQ(biases[17].layer, 5);
  EXPECT_EQ(biases[17].head, 1);
  EXPECT_EQ(biases[17].queries, 196);
  EXPECT_EQ(key_channels(trace, 3), 16);
  EXPECT_EQ(key_map(trace, 3, 15).rows, 14);
}

}  // namespace
}  // namespace attnscope
