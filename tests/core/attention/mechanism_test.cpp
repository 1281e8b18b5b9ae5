// Requirements of every mechanism in the list.
#include "core/attention/mechanism.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <set>
#include <utility>

#include "analysis/spectrum/spectrum.h"
#include "core/error.h"
#include "tests/support/naive_twins.h"
#include "tests/support/refusal.h"

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

/// Cases with the settings of every naive twin, at awkward sizes.
std::vector<Case> mechanism_cases() {
  struct Extents {
    std::int64_t n, m, heads, d, dv;
  };
  constexpr Extents kExtents[] = {{1, 1, 1, 1, 1},     {5, 5, 2, 3, 4},       {63, 63, 1, 16, 16},
                                  {65, 65, 3, 17, 15}, {197, 197, 3, 16, 16}, {7, 33, 2, 8, 9},
                                  {130, 31, 2, 64, 5}};
  std::vector<Case> list;
  for (const NaiveTwin& twin : naive_twins()) {
    for (const NaiveCase& one : twin.cases) {
      for (const Extents& e : kExtents) {
        if ((one.square && e.n != e.m) || e.m < one.least_tokens) continue;
        list.push_back({{std::string(twin.name), one.parameters},
                        e.n,
                        e.m,
                        e.heads,
                        e.d,
                        twin.gated ? e.d : e.dv});
      }
    }
  }
  return list;
}

std::vector<Case> causal_cases() {
  std::vector<Case> list = mechanism_cases();
  std::erase_if(list, [](const Case& one) {
    return one.n != one.m || !find_mechanism(one.choice.name).causal;
  });
  return list;
}

/// The mechanism of a case with random tokens and tensors.
class OverRandomTokens : public testing::TestWithParam<Case> {
 protected:
  OverRandomTokens()
      : mechanism_(make_mechanism(GetParam().choice)),
        data_(GetParam().n, GetParam().m, GetParam().heads, GetParam().d, GetParam().dv, 21) {
    data_.parameters = random_tensors(GetParam().choice, data_.input().shape(), 24);
  }

  [[nodiscard]] const NaiveTwin& twin() const { return *find_naive_twin(GetParam().choice.name); }

  /// True if the mechanism's own settings make it causal, independently of the layer.
  [[nodiscard]] bool is_causal() const {
    const ParameterValues& values = mechanism_->choice().parameters;
    return values.contains("causal") && TypedValues(values).flag("causal");
  }

  /// Tolerance relative to the weights: scores of magnitude s err by s · d · 2⁻²⁴, and sums over M
  /// keys by M.
  [[nodiscard]] double tolerance() const {
    return static_cast<double>(GetParam().d * 20 + GetParam().m + 100) * 0x1p-24;
  }

  void expect_naive_map(const AttentionInput& input) const {
    const Tensor map = mechanism_->implied_map(input);
    for (std::int64_t head = 0; head < GetParam().heads; ++head) {
      const NaiveMap expected = naive_map(GetParam().choice, input, head);
      for (std::int64_t i = 0; i < GetParam().n; ++i) {
        for (std::int64_t j = 0; j < GetParam().m; ++j) {
          const double reference =
              expected[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
          const double magnitude = twin().differences ? 1 : std::abs(reference);
          ASSERT_NEAR(map.slice(head)(i, j), reference, tolerance() * magnitude + 1e-30);
        }
      }
    }
  }

  void expect_map_times_values(AttentionInput input) const {
    const Tensor output = mechanism_->forward(input);
    const std::int64_t dv = GetParam().dv;
    ASSERT_EQ(output.shape(), (Shape{GetParam().n, GetParam().heads * dv}));
    const std::int64_t maps = mechanism_->structure(input.shape()).channels;
    for (std::int64_t channel = 0; channel < maps; ++channel) {
      input.channel = channel;
      const Tensor map = mechanism_->implied_map(input);
      for (std::int64_t head = 0; head < GetParam().heads; ++head) {
        const MatrixD weights = map.slice(head).cast<double>();
        const MatrixD values = input.values.middleCols(head * dv, dv).cast<double>();
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

  void expect_both_at_once(const AttentionInput& input) const {
    const Attended both = mechanism_->forward_with_map(input);
    EXPECT_EQ(both.output.shape(), mechanism_->forward(input).shape());
    EXPECT_EQ(both.output.matrix(), mechanism_->forward(input).matrix());
    EXPECT_EQ(both.implied_map.shape(), mechanism_->implied_map(input).shape());
    EXPECT_EQ(both.implied_map.matrix(), mechanism_->implied_map(input).matrix());
  }

  std::unique_ptr<const Mechanism> mechanism_;
  RandomAttention data_;
};

using EveryMechanism = OverRandomTokens;

TEST_P(EveryMechanism, ReportsItsParameters) {
  const MechanismEntry& entry = find_mechanism(GetParam().choice.name);
  EXPECT_EQ(mechanism_->choice().name, entry.name);
  EXPECT_EQ(mechanism_->choice().parameters,
            complete_values(entry.name, entry.parameters, GetParam().choice.parameters));
}

TEST_P(EveryMechanism, MapEqualsTheNaiveReference) { expect_naive_map(data_.input()); }

TEST_P(EveryMechanism, MapTimesValuesIsTheForwardPass) { expect_map_times_values(data_.input()); }

TEST_P(EveryMechanism, ForwardWithMapIsBothToTheBit) { expect_both_at_once(data_.input()); }

TEST_P(EveryMechanism, RowsHaveTheDeclaredStructure) {
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

TEST_P(EveryMechanism, PermutedTokensGiveThePermutedOutput) {
  if (is_causal() || twin().knows_order) return;
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
    // Weights sum to at most 2, and values stay below 6. The sums have M such terms in another
    // order.
    ASSERT_NEAR(output.data()[k], expected.data()[k], 12 * tolerance());
  }
}

INSTANTIATE_TEST_SUITE_P(AwkwardSizes, EveryMechanism, testing::ValuesIn(mechanism_cases()),
                         name_of_case);

/// A mechanism in a causal layer, in which no query sees later keys.
class CausalMechanism : public OverRandomTokens {
 protected:
  [[nodiscard]] AttentionInput causal(const RandomAttention& data) const {
    AttentionInput input = data.input();
    input.causal = true;
    return input;
  }

  /// The first `count` tokens with the same tensors.
  [[nodiscard]] RandomAttention first(std::int64_t count) const {
    RandomAttention data = data_;
    for (Tensor* tensor : {&data.queries, &data.keys, &data.values}) {
      const std::int64_t width = tensor->extent(1);
      *tensor = Tensor({count, width}, {tensor->data(), tensor->data() + count * width});
    }
    return data;
  }
};

TEST_P(CausalMechanism, MapEqualsTheNaiveReference) { expect_naive_map(causal(data_)); }

TEST_P(CausalMechanism, MapTimesValuesIsTheForwardPass) { expect_map_times_values(causal(data_)); }

TEST_P(CausalMechanism, ForwardWithMapIsBothToTheBit) { expect_both_at_once(causal(data_)); }

TEST_P(CausalMechanism, LaterTokensChangeNotASingleBit) {
  RandomAttention later = data_;
  const std::int64_t kept = GetParam().n / 2;
  for (Tensor* tensor : {&later.queries, &later.keys, &later.values}) {
    tensor->matrix().bottomRows(GetParam().n - kept).setConstant(9.0F);
  }
  const Tensor before = mechanism_->forward(causal(data_));
  const Tensor after = mechanism_->forward(causal(later));
  EXPECT_EQ(before.matrix().topRows(kept), after.matrix().topRows(kept));
  const Tensor map = mechanism_->implied_map(causal(data_));
  for (std::int64_t head = 0; head < GetParam().heads; ++head) {
    for (std::int64_t i = 0; i < GetParam().n; ++i) {
      EXPECT_TRUE((map.slice(head).row(i).tail(GetParam().n - i - 1).array() == 0).all());
    }
  }
  EXPECT_FALSE(mechanism_->factors(causal(data_))) << "a triangle is not narrow";
}

// A longer text must not change the result at its beginning, neither with tensors learned for texts
// of this length nor with the mechanism's own tensors.
TEST_P(CausalMechanism, APrefixGivesTheBeginningOfTheWhole) {
  for (const bool learned : {true, false}) {
    if (!learned) {
      data_.parameters.clear();
      const ParameterValues& values = mechanism_->choice().parameters;
      if (values.contains("codes") && TypedValues(values).is("codes", "learned")) continue;
    }
    const Tensor whole = mechanism_->forward(causal(data_));
    for (const std::int64_t count : {GetParam().n / 3, GetParam().n / 2, GetParam().n - 1}) {
      if (count < 1) continue;
      const RandomAttention shorter = first(count);
      const Tensor prefix = mechanism_->forward(causal(shorter));
      // Blocks may have other boundaries, so that the same terms are summed in another order.
      const float largest = data_.values.matrix().cwiseAbs().maxCoeff();
      EXPECT_LT((prefix.matrix() - whole.matrix().topRows(count)).cwiseAbs().maxCoeff(),
                static_cast<float>(tolerance()) * largest)
          << count << (learned ? " tokens" : " tokens, tensors of its own");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AwkwardSizes, CausalMechanism, testing::ValuesIn(causal_cases()),
                         name_of_case);

TEST(MechanismList, EveryMechanismHasANaiveTwin) {
  for (const MechanismEntry& entry : counted_mechanisms()) {
    const NaiveTwin* const twin = find_naive_twin(entry.name);
    ASSERT_NE(twin, nullptr) << entry.name << ": write tests/support/naive_" << entry.name
                             << ".cpp and its line in tests/support/naive_twins.cpp";
    EXPECT_TRUE(twin->count && !twin->counted.empty()) << entry.name << ": what it executes";
    if (!entry.make) continue;
    EXPECT_TRUE(twin->map && !twin->cases.empty()) << entry.name << ": its map, and settings";
  }
  for (const NaiveTwin& twin : naive_twins()) {
    EXPECT_NO_THROW((void)find_counted_mechanism(twin.name)) << "a twin of nothing";
  }
}

TEST(MechanismList, EveryEntryIsComplete) {
  for (const MechanismEntry& entry : counted_mechanisms()) {
    SCOPED_TRACE(std::string(entry.name));
    for (const std::string_view text : {entry.title, entry.source, entry.complexity.time,
                                        entry.complexity.space, entry.complexity.source}) {
      EXPECT_FALSE(text.empty());
    }
    EXPECT_TRUE(entry.counts && entry.projections);
    for (const TensorDescription& tensor : entry.tensors) {
      EXPECT_TRUE(tensor.explanation.starts_with("[")) << tensor.name << ": its extents";
    }
    const auto parameters = entry.counted_parameters();
    for (const ParameterDescription& parameter : parameters) {
      EXPECT_FALSE(parameter.explanation.empty()) << parameter.name;
      EXPECT_EQ(checked_parameter(parameter, parameter.default_value), parameter.default_value);
      EXPECT_EQ(std::ranges::count(parameters, parameter.name, &ParameterDescription::name), 1)
          << parameter.name;
    }
  }
}

TEST(MechanismList, NamesAreUniqueAndEveryEntryMakesItself) {
  for (const MechanismEntry& entry : mechanisms()) {
    EXPECT_EQ(&find_mechanism(entry.name), &entry);
    const auto made = make_mechanism({std::string(entry.name), {}});
    EXPECT_EQ(made->choice().name, entry.name);
    for (const ParameterDescription& parameter : entry.parameters) {
      EXPECT_EQ(made->choice().parameters.at(parameter.name), parameter.default_value);
    }
  }
}

TEST(MechanismList, AllServeLanguageModelsButThoseThatLookAhead) {
  const std::set<std::string_view> ahead = {"linformer", "focused", "inline", "sima", "agent",
                                            "nystrom",   "soft",    "rala",   "mlla"};
  for (const MechanismEntry& entry : mechanisms()) {
    EXPECT_EQ(entry.causal, !ahead.contains(entry.name)) << entry.name;
  }
}

TEST(MechanismList, DoesNotRunMechanismsThatAreOnlyCounted) {
  EXPECT_EQ(find_counted_mechanism("mixer").make, nullptr);
  EXPECT_THROW((void)find_mechanism("mixer"), Error);
  EXPECT_LT(mechanisms().size(), counted_mechanisms().size());
}

TEST(MechanismList, AnUnknownNameListsTheKnownOnes) {
  const Error error = refusal_of([&] { (void)make_mechanism({"adde", {}}); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_NE(error.remedy_text().find("softmax, adder, additive, hash, linear"), std::string::npos)
      << error.what();
}

TEST(MechanismList, RefusesUnknownAndMistypedParameters) {
  EXPECT_THROW((void)make_mechanism({"softmax", {{"identity", true}}}), Error);
  EXPECT_THROW((void)make_mechanism({"adder", {{"idntity", true}}}), Error);
  const Error error = refusal_of([&] {
    (void)make_mechanism({"adder", {{"identity", std::int64_t{3}}}});
  });
  EXPECT_EQ(error.subject(), "adder identity");
  EXPECT_EQ(error.expected_text(), "true or false");
}

TEST(AttentionInput, IsRefusedIfItsShapesDoNotFit) {
  const auto mechanism = make_mechanism({"adder", {{"identity", true}}});
  const auto refuse = [&mechanism](const RandomAttention& data) {
    EXPECT_THROW((void)mechanism->forward(data.input()), Error);
    EXPECT_THROW((void)mechanism->implied_map(data.input()), Error);
  };
  refuse(RandomAttention(3, 4, 1, 2, 2, 1));  // an identity mapping needs a square map
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

TEST(MechanismChoice, IsNamedInWordsWithoutDefaults) {
  EXPECT_EQ(in_words({"adder", {{"identity", false}}}), "adder attention");
  EXPECT_EQ(in_words({"adder", {{"identity", true}}}), "adder attention + identity");
  EXPECT_EQ(in_words({"hash", {{"bits", std::int64_t{8}}, {"codes", std::string("learned")}}}),
            "hash attention, 8 bits, learned codes");
  EXPECT_EQ(in_words({"additive", {{"causal", true}, {"window", std::int64_t{64}}}}),
            "additive attention, causal, window 64");
}

}  // namespace
}  // namespace attnscope
