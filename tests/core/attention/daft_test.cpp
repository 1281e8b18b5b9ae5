// All forms of DAFT compared with the dense O(T²) equations and with PyTorch.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <tbb/global_control.h>
#include <utility>

#include "core/attention/mechanism.h"
#include "core/error.h"
#include "tests/support/naive_daft.h"
#include "tests/support/near.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

MechanismChoice full(std::int64_t factors) { return {"daft-full", {{"factors", factors}}}; }

MechanismChoice window(const char* name, std::int64_t kernel, std::int64_t heads,
                       std::int64_t dimensions, bool full_keys = false) {
  return {name,
          {{"kernel", kernel},
           {"conv_heads", heads},
           {"dimensions", dimensions},
           {"full_keys", full_keys}}};
}

/// One layer of DAFT with random tokens that it owns.
struct DaftData {
  RandomAttention random;
  TokenLayout layout;
  bool causal = false;

  DaftData(std::int64_t tokens, std::int64_t heads, std::int64_t d, std::int64_t key_channels = 0)
      : random(tokens, tokens, heads, d, d, 77) {
    if (key_channels > 0) random.keys = random_normal({tokens, key_channels}, 78);
  }

  void add_full(std::int64_t factors, float scale = 1) {
    const std::int64_t n = random.queries.extent(0), m = random.keys.extent(0);
    if (factors == 0) return add("w", {n, m}, 91, scale);
    add("pe0", {n, factors}, 91, scale);
    add("pe1", {m, factors}, 92, 1);
  }

  void add_window(const MechanismChoice& choice, float scale = 1) {
    const auto kernel = std::get<std::int64_t>(choice.parameters.at("kernel"));
    const auto heads = std::get<std::int64_t>(choice.parameters.at("conv_heads"));
    const bool plane = choice.parameters.at("dimensions") == ParameterValue(std::int64_t{2});
    add("r", plane ? Shape{heads, kernel, kernel} : Shape{heads, kernel}, 93, 1);
    add("gamma", plane ? Shape{heads, 1, 1} : Shape{heads}, 94, scale);
    add("beta", plane ? Shape{heads, 1, 1} : Shape{heads}, 95, scale);
  }

  void add(const char* name, Shape shape, unsigned seed, float scale) {
    Tensor tensor = random_normal(std::move(shape), seed);
    for (float& value : tensor.values()) value *= scale;
    random.parameters.insert_or_assign(name, std::move(tensor));
  }

  [[nodiscard]] AttentionInput input() const {
    AttentionInput made = random.input();
    made.layout = &layout;
    made.causal = causal;
    return made;
  }
};

/// Compares forward and the map of every channel with the dense equations. `exponents` bounds
/// |K + w|, whose rounding in float32 gives a relative error of the weights.
void expect_dense(const MechanismChoice& choice, const DaftData& data, double exponents = 8) {
  const auto mechanism = make_mechanism(choice);
  AttentionInput input = data.input();
  const Tensor output = mechanism->forward(input);
  const std::int64_t tokens = input.queries.rows(), each = input.values.cols() / input.heads;
  const double tolerance = (4 * exponents + static_cast<double>(tokens) + 50) * 0x1p-24;
  ASSERT_EQ(output.shape(), (Shape{tokens, input.values.cols()}));
  for (std::int64_t c = 0; c < each; ++c) {
    input.channel = c;
    const Tensor maps = mechanism->implied_map(input);
    for (std::int64_t head = 0; head < input.heads; ++head) {
      const std::int64_t channel = head * each + c;
      const NaiveMap expected = naive_daft_channel_map(choice, input, channel);
      for (std::int64_t i = 0; i < tokens; ++i) {
        const std::vector<double>& row = expected[static_cast<std::size_t>(i)];
        double sum = 0, magnitude = 0, of_map = 0;
        for (std::int64_t j = 0; j < input.keys.rows(); ++j) {
          const double weight = row[static_cast<std::size_t>(j)];
          const auto value = static_cast<double>(input.values(j, channel));
          const float found = std::as_const(maps).slice(head)(i, j);
          ASSERT_NEAR(found, weight, tolerance * weight + 1e-30)
              << "channel " << channel << ", " << i << ", " << j;
          sum += weight * value;
          magnitude += weight * std::abs(value);
          of_map += static_cast<double>(found) * value;
        }
        const float found = output.matrix()(i, channel);
        // Below the normal range of float32 digits are lost. Gates of queries near −100 lead there.
        const double least = 16 * static_cast<double>(std::numeric_limits<float>::min());
        ASSERT_NEAR(found, sum, tolerance * magnitude + least)
            << "channel " << channel << ", token " << i;
        ASSERT_NEAR(found, of_map, 2 * tolerance * magnitude + least) << "implied map · V";
      }
    }
  }
  input.channel.reset();
  const Tensor mean = mechanism->implied_map(input);
  for (std::int64_t head = 0; head < input.heads; ++head) {
    const NaiveMap expected = naive_daft_map(choice, input, head);
    for (std::int64_t i = 0; i < tokens; ++i) {
      for (std::int64_t j = 0; j < input.keys.rows(); ++j) {
        const double weight = expected[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
        ASSERT_NEAR(std::as_const(mean).slice(head)(i, j), weight, tolerance * weight + 1e-30);
      }
    }
  }
}

TEST(DaftFull, EqualsTheDenseEquations) {
  for (const std::int64_t tokens : {1, 2, 31, 33, 129, 197}) {
    for (const std::int64_t factors : {0, 1, 7}) {
      DaftData data(tokens, 2, 3);
      data.add_full(factors);
      expect_dense(full(factors), data, 16);
      data.causal = true;
      expect_dense(full(factors), data, 16);
    }
  }
}

TEST(DaftFull, QueriesAndKeysMayDifferInNumber) {
  DaftData data(7, 1, 4);
  data.random = RandomAttention(7, 33, 1, 4, 4, 5);
  data.add_full(3);
  expect_dense(full(3), data);
}

// There are more channels than are prepared together and more keys than are summed at once, and no
// size is a multiple of a block.
TEST(DaftFull, ManyChannelsAndKeysAreCutAnywhere) {
  for (const std::int64_t factors : {0, 5}) {
    DaftData data(53, 2, 41);
    data.random = RandomAttention(53, 299, 2, 41, 41, 5);
    data.add_full(factors);
    expect_dense(full(factors), data, 16);
  }
}

TEST(DaftFull, IsTheSameForAnyNumberOfThreads) {
  DaftData data(130, 2, 41);
  data.add_full(6);
  const auto forward = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return make_mechanism(full(6))->forward(data.input());
  };
  const Tensor one = forward(1);
  for (const std::size_t threads : {2, 3, 8}) {
    EXPECT_EQ(forward(threads).matrix(), one.matrix()) << threads << " threads: to the bit";
  }
}

TEST(DaftFull, MissingBiasesAreZero) {
  DaftData data(12, 3, 2);
  expect_dense(full(128), data);
  expect_dense(full(0), data);
}

TEST(DaftFull, AMaskMultipliesFreeBiases) {
  DaftData data(9, 1, 2);
  data.add_full(0);
  Tensor mask({9, 9});
  for (std::int64_t i = 0; i < 9; ++i) mask.matrix()(i, i) = 1;
  data.random.parameters.emplace("local_mask", std::move(mask));
  expect_dense(full(0), data);
}

TEST(DaftFull, CausalTextsMayBeShorterThanTheirBiases) {
  DaftData data(40, 1, 3);
  data.add_full(0);
  data.causal = true;
  data.random.queries = random_normal({25, 3}, 1);
  data.random.keys = random_normal({25, 3}, 2);
  data.random.values = random_normal({25, 3}, 3);
  expect_dense(full(0), data);
  data.causal = false;
  EXPECT_THROW((void)make_mechanism(full(0))->forward(data.input()), Error);
}

// Where keys are ±80, biases are ∓80, so that a factor of exp(w)·exp(K) can underflow while the
// product does not.
TEST(DaftFull, KeysAndBiasesOfEightyAreStable) {
  for (const bool causal : {false, true}) {
    DaftData data(70, 1, 3);
    data.causal = causal;
    data.add_full(0);
    Tensor& w = data.random.parameters.at("w");
    for (std::int64_t j = 0; j < 70; ++j) {
      const float sign = j % 3 == 0 ? 80.0F : j % 3 == 1 ? -80.0F : 0.0F;
      data.random.keys.matrix().row(j).setConstant(sign);
      data.random.keys.matrix()(j, 2) = -sign;
      for (std::int64_t i = 0; i < 70; ++i) {
        w.matrix()(i, j) = i % 2 == 0 ? -sign : static_cast<float>((i + j) % 161 - 80);
      }
    }
    expect_dense(full(0), data, 160);
  }
}

// Queries include values that close the gate: exp(−q) overflows for q below about −89.
TEST(DaftFull, QueriesOfEverySizeAreGated) {
  for (const bool causal : {false, true}) {
    DaftData data(40, 1, 3);
    data.causal = causal;
    data.add_full(3);
    constexpr float kSizes[] = {-1e30F,  -712.0F, -534.0F, -356.0F, -200.0F,
                                -178.0F, -177.0F, -104.0F, -89.0F,  -88.0F,
                                -50.0F,  0.0F,    50.0F,   200.0F,  1e30F};
    for (std::int64_t i = 0; i < 40; ++i) {
      data.random.queries.matrix().row(i).setConstant(kSizes[i % std::ssize(kSizes)]);
    }
    expect_dense(full(3), data, 16);
  }
}

struct Place {
  std::int64_t prefix, rows, columns, dimensions;
};

TEST(DaftWindow, EqualsTheDenseEquations) {
  for (const char* name : {"daft-conv", "daft-local", "daft-one-hot"}) {
    for (const Place& place : {Place{0, 0, 0, 1}, Place{0, 4, 6, 2}, Place{1, 5, 3, 2},
                               Place{2, 1, 9, 2}, Place{1, 0, 0, 1}, Place{0, 1, 1, 2}}) {
      for (const std::int64_t kernel : {1, 3, 11}) {
        for (const bool full_keys : {false, true}) {
          const std::int64_t heads = place.dimensions == 2 ? 3 : 6;
          const MechanismChoice choice = window(name, kernel, heads, place.dimensions, full_keys);
          const bool grid = place.rows > 0;
          DaftData data(grid ? place.prefix + place.rows * place.columns : 19, 2, 3,
                        full_keys ? 0 : heads);
          data.layout = {place.prefix, place.rows, place.columns};
          data.add_window(choice);
          SCOPED_TRACE(to_string(choice) + " at " + data.layout.name(0));
          expect_dense(choice, data);
          if (place.dimensions == 2 || place.prefix > 0) continue;
          data.causal = true;
          expect_dense(choice, data);
        }
      }
    }
  }
}

TEST(DaftWindow, MissingBiasesAreZero) {
  DaftData data(17, 2, 4);
  data.layout = {1, 4, 4};
  expect_dense(window("daft-conv", 5, 4, 2), data);
  expect_dense(window("daft-local", 5, 4, 2), data);
}

TEST(DaftWindow, UsesRWithoutGainUnchanged) {
  const MechanismChoice choice = window("daft-conv", 5, 2, 1);
  DaftData data(17, 1, 4, 2);
  data.add_window(choice);
  data.random.parameters.erase("gamma");
  EXPECT_THROW((void)make_mechanism(choice)->forward(data.input()), Error);
  data.random.parameters.erase("beta");
  expect_dense(choice, data);
}

TEST(DaftWindow, LeavesOutTheGateAndEq9WhereTheSettingsSaySo) {
  for (const char* name : {"daft-conv", "daft-local", "daft-one-hot"}) {
    for (const char* setting : {"gate", "reparameterised"}) {
      MechanismChoice choice = window(name, 3, 2, 2);
      DaftData data(21, 1, 4, 2);
      data.layout = {1, 4, 5};
      data.add_window(choice);
      const Tensor whole = make_mechanism(choice)->forward(data.input());
      choice.parameters[setting] = false;
      SCOPED_TRACE(to_string(choice));
      expect_dense(choice, data);
      const Tensor without = make_mechanism(choice)->forward(data.input());
      EXPECT_GT((without.matrix() - whole.matrix()).cwiseAbs().maxCoeff(), 0.01F);
      choice.parameters["dimensions"] = std::int64_t{1};
      data.layout = {};
      data.causal = true;
      data.random.parameters.insert_or_assign("r", random_normal({2, 3}, 93));
      expect_dense(choice, data);
    }
  }
}

// One token holds nearly all of the global sum, and its bias removes it: Eq. 8 as written would
// cancel.
TEST(DaftWindow, KeysAndBiasesOfEightyAreStable) {
  for (const char* name : {"daft-conv", "daft-local", "daft-one-hot"}) {
    for (const float size : {80.0F, -80.0F}) {
      for (const bool causal : {false, true}) {
        const MechanismChoice choice = window(name, 5, 2, causal ? 1 : 2);
        DaftData data(30, 1, 4, 2);
        data.layout = {0, 5, 6};
        data.causal = causal;
        data.add("r", causal ? Shape{2, 5} : Shape{2, 5, 5}, 1, 1);
        for (float& value : data.random.parameters.at("r").values()) {
          value = value > 0 ? size : value < -1 ? -size : value;
        }
        data.random.keys.matrix().setConstant(-80);
        for (const std::int64_t token : {0, 9, 20}) {
          data.random.keys.matrix().row(token).setConstant(80);
        }
        SCOPED_TRACE(std::string(name) + (causal ? " causal" : ""));
        expect_dense(choice, data, 160);
      }
    }
  }
}

TEST(DaftWindow, AWindowOfAllTokensMakesConvAndLocalTheSame) {
  DaftData data(20, 1, 6, 3);
  data.layout = {0, 4, 5};
  const MechanismChoice conv = window("daft-conv", 9, 3, 2), local = window("daft-local", 9, 3, 2);
  data.add_window(conv);
  const Tensor a = make_mechanism(conv)->forward(data.input());
  const Tensor b = make_mechanism(local)->forward(data.input());
  for (std::int64_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a.data()[k], b.data()[k], 1e-5);
}

TEST(Daft, CausalFormsDoNotLookAhead) {
  for (const MechanismChoice& choice :
       {full(4), full(0), window("daft-conv", 7, 2, 1), window("daft-local", 7, 2, 1),
        window("daft-one-hot", 7, 2, 1)}) {
    const bool windowed = choice.name != "daft-full";
    DaftData data(90, 1, 4, windowed ? 2 : 0);
    data.causal = true;
    if (windowed) {
      data.add_window(choice);
    } else {
      data.add_full(std::get<std::int64_t>(choice.parameters.at("factors")));
    }
    const auto mechanism = make_mechanism(choice);
    const Tensor before = mechanism->forward(data.input());
    for (const std::int64_t changed : {1, 31, 32, 45, 89}) {
      DaftData later = data;
      for (Tensor* tensor : {&later.random.queries, &later.random.keys, &later.random.values}) {
        tensor->matrix().bottomRows(90 - changed).setConstant(80.0F);
      }
      const Tensor after = mechanism->forward(later.input());
      EXPECT_EQ(before.matrix().topRows(changed), after.matrix().topRows(changed))
          << to_string(choice) << ": to the bit";
    }
  }
}

TEST(Daft, QuantitiesAreBiasesAndKeys) {
  DaftData data(20, 1, 6);
  data.add_full(3);
  NamedTensors found = make_mechanism(full(3))->quantities(data.input());
  EXPECT_EQ(found.at("key_logits").shape(), (Shape{6, 20}));
  EXPECT_EQ(found.at("key_logits").matrix()(4, 7), data.random.keys.matrix()(7, 4));
  const Tensor& w = found.at("position_bias");
  ASSERT_EQ(w.shape(), (Shape{1, 20, 20}));
  const NaiveMap expected = naive_daft_bias(full(3), data.input(), 0);
  EXPECT_NEAR(w.slice(0)(3, 11), expected[3][11], 1e-5);

  const MechanismChoice choice = window("daft-conv", 3, 2, 2);
  DaftData plane(20, 1, 6, 2);
  plane.layout = {0, 4, 5};
  plane.add_window(choice);
  found = make_mechanism(choice)->quantities(plane.input());
  EXPECT_EQ(found.at("key_logits").shape(), (Shape{2, 20}));
  const Tensor& r = found.at("window_bias");
  ASSERT_EQ(r.shape(), (Shape{2, 3, 3}));
  const NaiveMap dense = naive_daft_bias(choice, plane.input(), 5);
  EXPECT_NEAR(r.slice(1)(0, 2), dense[7][3], 1e-6) << "(1, 2) to (0, 3): up and right";
}

TEST(Daft, WindowsHaveTheDimensionsOfWhereTokensLie) {
  DaftData data(20, 1, 6);
  MechanismChoice choice = window("daft-conv", 3, 2, 1);
  choice.parameters.erase("dimensions");
  const auto taps = [&] {
    return make_mechanism(choice)->quantities(data.input()).at("window_bias").shape();
  };
  EXPECT_EQ(taps(), (Shape{2, 1, 3})) << "a line";
  data.layout = {0, 4, 5};
  EXPECT_EQ(taps(), (Shape{2, 3, 3})) << "a grid";
  EXPECT_EQ(to_string(choice_over_tokens(choice, true)),
            "daft-conv (conv_heads=2, dimensions=2, full_keys=false, kernel=3)");
  EXPECT_EQ(to_string(choice_over_tokens(choice, false)),
            "daft-conv (conv_heads=2, dimensions=1, full_keys=false, kernel=3)");
  EXPECT_EQ(choice_over_tokens({"softmax", {}}, true), (MechanismChoice{"softmax", {}}));
}

TEST(Daft, RefusesInvalidArguments) {
  const auto subject_of = [](const MechanismChoice& choice, const DaftData& data) {
    try {
      (void)make_mechanism(choice)->forward(data.input());
    } catch (const Error& error) {
      return error.subject();
    }
    return std::string("nothing was refused");
  };
  DaftData data(20, 1, 6);
  EXPECT_EQ(subject_of(window("daft-conv", 4, 2, 1), data), "daft-conv kernel");
  EXPECT_EQ(subject_of(window("daft-conv", 0, 2, 1), data), "daft-conv kernel");
  EXPECT_EQ(subject_of(window("daft-conv", 3, 4, 1), data), "conv_heads");
  EXPECT_EQ(subject_of(window("daft-conv", 3, 2, 2), data), "dimensions") << "no grid";
  data.add("r", {2, 5}, 1, 1);
  EXPECT_EQ(subject_of(window("daft-conv", 3, 2, 1), data), "r");
  data.add_full(4);
  EXPECT_EQ(subject_of(full(5), data), "pe0") << "factors";
  EXPECT_EQ(subject_of(full(0), data), "pe0") << "w is not free";
  data.random.parameters.erase("pe1");
  EXPECT_EQ(subject_of(full(4), data), "pe1");
  data.random.parameters.clear();
  data.add("w", {30, 30}, 1, 1);
  EXPECT_EQ(subject_of(full(0), data), "w") << "more positions than tokens";
  EXPECT_EQ(subject_of(full(4), data), "w");
  data.random.parameters.clear();
  AttentionInput input = data.input();
  input.channel = 6;
  EXPECT_THROW((void)make_mechanism(full(0))->implied_map(input), Error);
  data.random.keys = Tensor({20, 5});
  EXPECT_THROW((void)make_mechanism(full(0))->forward(data.input()), Error);
  EXPECT_THROW((void)make_mechanism(window("daft-conv", 3, 3, 1))->forward(data.input()), Error);
}

TEST(Daft, EveryChannelHasItsMap) {
  const AttentionShape shape = DaftData(5, 2, 3).input().shape();
  EXPECT_EQ(make_mechanism(full(0))->structure(shape).channels, 3);
  EXPECT_FALSE(make_mechanism(full(0))->structure(shape).rows_sum_to_one);
}

// --- comparison with PyTorch

TEST(DaftBesidePyTorch, Algorithm1Agrees) {
  for (const nlohmann::json& reference : read_test_data("attention/daft.json").at("full")) {
    const std::int64_t n = reference.at("n"), width = reference.at("width"),
                       factors = reference.at("factors");
    const unsigned seed = reference.at("seed");
    DaftData data(n, 1, width);
    data.random = raw_attention(n, 1, width, seed);
    data.random.parameters.emplace("pe0", raw_uniform({n, factors}, seed + 3));
    data.random.parameters.emplace("pe1", raw_uniform({n, factors}, seed + 4));
    const auto run = [&](std::int64_t n_factors) {
      return make_mechanism(full(n_factors))->forward(data.input());
    };
    expect_values(run(factors), reference.at("factorised"), 1e-5, "factorised");
    data.causal = true;
    expect_values(run(factors), reference.at("causal"), 1e-5, "causal");
    data.causal = false;
    data.random.parameters.clear();
    data.random.parameters.emplace("w", raw_uniform({n, n}, seed + 5));
    expect_values(run(0), reference.at("free"), 1e-5, "free");
  }
}

TEST(DaftBesidePyTorch, Algorithm2Agrees) {
  for (const nlohmann::json& reference : read_test_data("attention/daft.json").at("window")) {
    const std::int64_t rows = reference.at("rows"), columns = reference.at("columns"),
                       width = reference.at("width"), heads = reference.at("heads"),
                       kernel = reference.at("kernel"), n = rows * columns;
    const std::int64_t dimensions = rows > 1 ? 2 : 1;
    const unsigned seed = reference.at("seed");
    DaftData data(n, 1, width);
    data.layout = {0, rows, columns};
    data.random.queries = raw_uniform({n, width}, seed);
    data.random.values = raw_uniform({n, width}, seed + 2);
    Shape shape = {heads, kernel};
    if (dimensions == 2) shape.push_back(kernel);
    data.random.parameters.emplace("r", raw_uniform(shape, seed + 3));
    data.random.parameters.emplace("gamma", raw_uniform({heads, 1}, seed + 4));
    data.random.parameters.emplace("beta", raw_uniform({heads, 1}, seed + 5));
    const auto run = [&](const char* name) {
      return make_mechanism(window(name, kernel, heads, dimensions))->forward(data.input());
    };
    data.random.keys = raw_uniform({n, width}, seed + 1);
    expect_values(run("daft-conv"), reference.at("full_keys"), 1e-5, "keys of all channels");
    data.random.keys = raw_uniform({n, heads}, seed + 9);
    for (const char* name : {"daft-conv", "daft-local", "daft-one-hot"}) {
      expect_values(run(name), reference.at(name), 1e-5, name);
    }
    if (dimensions == 2) continue;
    data.causal = true;
    expect_values(run("daft-conv"), reference.at("causal"), 1e-5, "causal");
    expect_values(run("daft-local"), reference.at("causal_local"), 1e-5, "causal, local");
  }
}

}  // namespace
}  // namespace attnscope
