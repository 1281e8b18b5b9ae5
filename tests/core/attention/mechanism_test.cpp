// What every mechanism of the list must satisfy.
#include "core/attention/mechanism.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <utility>

#include "analysis/spectrum/spectrum.h"
#include "core/error.h"
#include "tests/support/naive_attention.h"
#include "tests/support/naive_baselines.h"

namespace attnscope {
namespace {

struct Case {
  MechanismChoice choice;
  std::int64_t n, m, heads, d, dv;
};

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  std::string name = to_string(info.param.choice) + "_" + std::to_string(info.param.n) + "_" +
                     std::to_string(info.param.m) + "_" + std::to_string(info.index);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

std::vector<Case> cases() {
  std::vector<Case> list;
  const auto additive = [](bool causal, std::int64_t window) {
    return MechanismChoice{"additive", {{"causal", causal}, {"window", window}}};
  };
  const auto hash = [](const char* mode, std::int64_t bits, std::int64_t supports,
                       const char* codes = "learned") {
    return MechanismChoice{"hash",
                           {{"mode", std::string(mode)},
                            {"codes", std::string(codes)},
                            {"bits", bits},
                            {"supports", supports}}};
  };
  static constexpr std::int64_t seed = 1;
  const auto performer = [](const char* kernel, std::int64_t features) {
    return MechanismChoice{
        "performer", {{"kernel", std::string(kernel)}, {"features", features}, {"seed", seed}}};
  };
  const auto linformer = [](std::int64_t landmarks) {
    return MechanismChoice{
        "linformer",
        {{"projection", std::string("pooling")}, {"landmarks", landmarks}, {"seed", seed}}};
  };
  const auto reformer = [](std::int64_t hashes, std::int64_t chunk) {
    return MechanismChoice{"reformer", {{"hashes", hashes}, {"chunk", chunk}, {"seed", seed}}};
  };
  const auto synthesizer = [](const char* scores) {
    return MechanismChoice{
        "synthesizer",
        {{"scores", std::string(scores)}, {"factors", std::int64_t{5}}, {"seed", seed}}};
  };
  const std::vector<MechanismChoice> of_any_shape = {hash("paper", 16, 25),
                                                     hash("paper", 1, 3),
                                                     hash("paper", 64, 9),
                                                     hash("paper", 16, 25, "sign"),
                                                     {"softmax", {}},
                                                     {"adder", {{"identity", false}}},
                                                     {"linear", {}},
                                                     additive(false, 0),
                                                     performer("softmax", 8),
                                                     performer("relu", 33),
                                                     linformer(1),
                                                     synthesizer("random"),
                                                     synthesizer("dense"),
                                                     synthesizer("factorised")};
  const std::vector<MechanismChoice> square = {{"adder", {{"identity", true}}},
                                               additive(true, 0),
                                               additive(true, 1),
                                               additive(true, 7),
                                               additive(true, 64),
                                               additive(true, 1000),
                                               reformer(1, 4),
                                               reformer(3, 17),
                                               reformer(2, 1000)};
  std::vector<MechanismChoice> choices = of_any_shape;
  choices.insert(choices.end(), square.begin(), square.end());
  for (const MechanismChoice& choice : choices) {
    list.push_back({choice, 1, 1, 1, 1, 1});
    list.push_back({choice, 5, 5, 2, 3, 4});
    list.push_back({choice, 63, 63, 1, 16, 16});
    list.push_back({choice, 65, 65, 3, 17, 15});
    list.push_back({choice, 197, 197, 3, 16, 16});
  }
  // A gate for each channel: queries are as wide as values. Without biases, which daft_test.cpp
  // has.
  const MechanismChoice daft_full{"daft-full", {{"factors", std::int64_t{128}}}};
  const MechanismChoice daft_conv{"daft-conv",
                                  {{"kernel", std::int64_t{5}},
                                   {"conv_heads", std::int64_t{1}},
                                   {"dimensions", std::int64_t{1}},
                                   {"full_keys", true}}};
  for (const MechanismChoice& choice : {daft_full, daft_conv}) {
    list.push_back({choice, 1, 1, 1, 1, 1});
    list.push_back({choice, 65, 65, 3, 17, 17});
    list.push_back({choice, 197, 197, 3, 16, 16});
  }
  list.push_back({daft_full, 7, 33, 2, 8, 8});
  for (const MechanismChoice& choice : of_any_shape) {
    list.push_back({choice, 7, 33, 2, 8, 9});
    list.push_back({choice, 130, 31, 2, 64, 5});
  }
  list.push_back({linformer(5), 5, 5, 2, 3, 4});
  list.push_back({linformer(20), 197, 197, 3, 16, 16});
  list.push_back({linformer(31), 130, 31, 2, 64, 5});
  return list;
}

class EveryMechanism : public testing::TestWithParam<Case> {
 protected:
  EveryMechanism()
      : mechanism_(make_mechanism(GetParam().choice)),
        data_(GetParam().n, GetParam().m, GetParam().heads, GetParam().d, GetParam().dv, 21) {
    data_.parameters.emplace("importance", random_normal({GetParam().heads, GetParam().d}, 24));
    if (GetParam().choice.name == "hash") {
      const ParameterValues& values = GetParam().choice.parameters;
      add_hash_buffers(data_.parameters, GetParam().heads,
                       std::get<std::int64_t>(values.at("bits")),
                       std::get<std::int64_t>(values.at("supports")), GetParam().d, 25);
    }
    add_baseline_parameters(data_.parameters, GetParam().choice, data_.input().shape(), 26);
  }

  [[nodiscard]] bool is_causal() const {
    const auto found = GetParam().choice.parameters.find("causal");
    return found != GetParam().choice.parameters.end() && std::get<bool>(found->second);
  }

  /// Relative to the weights: scores of magnitude s err by s · d · 2⁻²⁴, sums over M keys by M.
  [[nodiscard]] double tolerance() const {
    return static_cast<double>(GetParam().d * 20 + GetParam().m + 100) * 0x1p-24;
  }

  std::unique_ptr<const Mechanism> mechanism_;
  RandomAttention data_;
};

TEST_P(EveryMechanism, SaysWhatItWasMadeFrom) {
  EXPECT_EQ(mechanism_->choice(), GetParam().choice);
}

TEST_P(EveryMechanism, MapEqualsTheNaiveReference) {
  const Tensor map = mechanism_->implied_map(data_.input());
  for (std::int64_t head = 0; head < GetParam().heads; ++head) {
    const NaiveMap expected = naive_map(GetParam().choice, data_.input(), head);
    for (std::int64_t i = 0; i < GetParam().n; ++i) {
      for (std::int64_t j = 0; j < GetParam().m; ++j) {
        const double reference = expected[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
        ASSERT_NEAR(map.slice(head)(i, j), reference, tolerance() * std::abs(reference) + 1e-30);
      }
    }
  }
}

TEST_P(EveryMechanism, RowsAreAsItsStructureSays) {
  const MapStructure structure = mechanism_->structure(data_.input().shape());
  const Tensor map = mechanism_->implied_map(data_.input());
  ASSERT_EQ(map.shape(), (Shape{GetParam().heads, GetParam().n, GetParam().m}));
  EXPECT_FALSE(mechanism_->has_identity_mapping() && structure.rows_sum_to_one);
  for (std::int64_t row = 0; row < map.matrix().rows(); ++row) {
    if (structure.rows_sum_to_one || mechanism_->has_identity_mapping()) {
      EXPECT_NEAR(map.matrix().row(row).cast<double>().sum(), structure.rows_sum_to_one ? 1 : 2,
                  tolerance());
    }
    EXPECT_TRUE(!structure.non_negative || map.matrix().row(row).minCoeff() >= 0.0F);
  }
}

TEST_P(EveryMechanism, MapsKeepTheRankBound) {
  const std::int64_t bound = mechanism_->structure(data_.input().shape()).rank_bound;
  EXPECT_GE(bound, 1);
  EXPECT_LE(bound, std::min(GetParam().n, GetParam().m));
  const Tensor map = mechanism_->implied_map(data_.input());
  for (std::int64_t head = 0; head < GetParam().heads; ++head) {
    EXPECT_LE(spectrum_of(std::as_const(map).slice(head)).numerical_rank, bound);
  }
}

TEST_P(EveryMechanism, FactorsMultiplyToTheMap) {
  const std::optional<MapFactors> factors = mechanism_->factors(data_.input());
  if (!factors) return;
  const Tensor map = mechanism_->implied_map(data_.input());
  const std::int64_t width = factors->left.extent(2);
  ASSERT_EQ(factors->left.shape(), (Shape{GetParam().heads, GetParam().n, width}));
  ASSERT_EQ(factors->right.shape(), (Shape{GetParam().heads, GetParam().m, width}));
  EXPECT_EQ(mechanism_->structure(data_.input().shape()).rank_bound,
            std::min({width, GetParam().n, GetParam().m}));
  for (std::int64_t head = 0; head < GetParam().heads; ++head) {
    const MatrixD left = factors->left.slice(head).cast<double>();
    const MatrixD right = factors->right.slice(head).cast<double>();
    const MatrixD product = left * right.transpose();
    const MatrixD magnitude = left.cwiseAbs() * right.cwiseAbs().transpose();
    for (std::int64_t i = 0; i < GetParam().n; ++i) {
      for (std::int64_t j = 0; j < GetParam().m; ++j) {
        ASSERT_NEAR(map.slice(head)(i, j), product(i, j), tolerance() * magnitude(i, j) + 1e-30);
      }
    }
  }
}

TEST_P(EveryMechanism, CausalOnesDoNotLookAhead) {
  if (!is_causal()) return;
  RandomAttention later = data_;
  const std::int64_t changed = GetParam().n / 2;
  for (Tensor* tensor : {&later.queries, &later.keys, &later.values}) {
    tensor->matrix().bottomRows(GetParam().n - changed).setConstant(9.0F);
  }
  const Tensor before = mechanism_->forward(data_.input());
  const Tensor after = mechanism_->forward(later.input());
  const Tensor map = mechanism_->implied_map(data_.input());
  EXPECT_EQ(before.matrix().topRows(changed), after.matrix().topRows(changed)) << "to the bit";
  for (std::int64_t head = 0; head < GetParam().heads; ++head) {
    for (std::int64_t i = 0; i < GetParam().n; ++i) {
      EXPECT_TRUE((map.slice(head).row(i).tail(GetParam().n - i - 1).array() == 0).all());
    }
  }
}

TEST_P(EveryMechanism, MapTimesValuesIsTheForwardPass) {
  const Tensor output = mechanism_->forward(data_.input());
  const std::int64_t dv = GetParam().dv;
  ASSERT_EQ(output.shape(), (Shape{GetParam().n, GetParam().heads * dv}));
  const std::int64_t maps = mechanism_->structure(data_.input().shape()).channels;
  for (std::int64_t channel = 0; channel < maps; ++channel) {
    AttentionInput input = data_.input();
    input.channel = channel;
    const Tensor map = mechanism_->implied_map(input);
    for (std::int64_t head = 0; head < GetParam().heads; ++head) {
      const MatrixD weights = map.slice(head).cast<double>();
      const MatrixD values = data_.input().values.middleCols(head * dv, dv).cast<double>();
      const MatrixD expected = weights * values;
      const MatrixD magnitude = weights.cwiseAbs() * values.cwiseAbs();
      for (std::int64_t i = 0; i < GetParam().n; ++i) {
        for (std::int64_t c = maps > 1 ? channel : 0; c < (maps > 1 ? channel + 1 : dv); ++c) {
          ASSERT_NEAR(output.matrix()(i, head * dv + c), expected(i, c),
                      tolerance() * magnitude(i, c) + 1e-30);
        }
      }
    }
  }
}

TEST_P(EveryMechanism, PermutedTokensGiveThePermutedOutput) {
  // Some know the order: what is not causal, by parameters for each position, or by sorting.
  const std::string& name = GetParam().choice.name;
  if (is_causal() || name == "linformer" || name == "reformer" || name == "synthesizer") return;
  const auto permuted = [](const Tensor& tensor) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(tensor.extent(0)));
    std::iota(order.begin(), order.end(), 0);
    std::reverse(order.begin(), order.end());
    std::rotate(order.begin(), order.begin() + tensor.extent(0) / 3, order.end());
    Tensor result(tensor.shape());
    for (std::size_t i = 0; i < order.size(); ++i) {
      result.matrix().row(static_cast<std::int64_t>(i)) = tensor.matrix().row(order[i]);
    }
    return result;
  };
  RandomAttention data = data_;
  data.queries = permuted(data_.queries);
  data.keys = permuted(data_.keys);
  data.values = permuted(data_.values);
  const Tensor expected = permuted(mechanism_->forward(data_.input()));
  const Tensor output = mechanism_->forward(data.input());
  for (std::int64_t k = 0; k < output.size(); ++k) {
    // Weights sum to at most 2 and values stay below 6: sums of M such terms in another order.
    ASSERT_NEAR(output.data()[k], expected.data()[k], 12 * tolerance());
  }
}

INSTANTIATE_TEST_SUITE_P(AwkwardSizes, EveryMechanism, testing::ValuesIn(cases()), name_of_case);

TEST(MechanismList, NamesAreUniqueAndEveryEntryMakesItself) {
  for (const MechanismEntry& entry : mechanisms()) {
    EXPECT_EQ(&find_mechanism(entry.name), &entry);
    const auto made = make_mechanism({std::string(entry.name), {}});
    EXPECT_EQ(made->choice().name, entry.name);
    for (const ParameterDescription& parameter : entry.parameters) {
      EXPECT_EQ(made->choice().parameters.at(parameter.name), parameter.default_value);
      EXPECT_FALSE(parameter.explanation.empty());
    }
  }
}

TEST(MechanismList, AnUnknownNameListsTheKnownOnes) {
  try {
    (void)make_mechanism({"adde", {}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(error.remedy_text().find("softmax, adder, additive, hash, linear"), std::string::npos)
        << error.what();
  }
}

TEST(MechanismList, RefusesUnknownAndMistypedParameters) {
  EXPECT_THROW((void)make_mechanism({"softmax", {{"identity", true}}}), Error);
  EXPECT_THROW((void)make_mechanism({"adder", {{"idntity", true}}}), Error);
  try {
    (void)make_mechanism({"adder", {{"identity", std::int64_t{3}}}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.subject(), "adder identity");
    EXPECT_EQ(error.expected_text(), "true or false");
  }
}

TEST(AttentionInput, ThatDoesNotFitIsRefused) {
  const auto mechanism = make_mechanism({"adder", {{"identity", true}}});
  const auto refuse = [&mechanism](const RandomAttention& data) {
    EXPECT_THROW((void)mechanism->forward(data.input()), Error);
    EXPECT_THROW((void)mechanism->implied_map(data.input()), Error);
  };
  refuse(RandomAttention(3, 4, 1, 2, 2, 1));  // identity mapping of a map that is not square
  RandomAttention data(4, 4, 2, 2, 2, 1);
  data.heads = 3;
  refuse(data);
  data.heads = 0;
  refuse(data);
  data.heads = 2;
  data.keys = Tensor({4, 6});
  refuse(data);
  data.keys = Tensor({5, 4});
  refuse(data);
}

}  // namespace
}  // namespace attnscope
