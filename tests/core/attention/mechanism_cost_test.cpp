#include "core/attention/mechanism_cost.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/attention/costs/costs.h"
#include "core/attention/costs/count.h"
#include "core/error.h"

namespace attnscope {
namespace {

constexpr AttentionShape kShape{
    .queries = 12, .keys = 12, .heads = 2, .head_width = 8, .value_width = 8};
constexpr CostConvention kConventions[] = {CostConvention::adder, CostConvention::ecoformer,
                                           CostConvention::complete};

template <class Work>
std::string message_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(MechanismCosts, EveryMechanismCountsUnderEveryConvention) {
  for (const MechanismEntry& entry : counted_mechanisms()) {
    const MechanismCost cost({std::string(entry.name), {}});
    for (const CostConvention convention : kConventions) {
      SCOPED_TRACE(std::string(entry.name));
      std::int64_t operations = 0;
      for (const OperationCount& part : cost.counts(kShape, convention)) {
        EXPECT_FALSE(part.component.empty());
        EXPECT_GE(std::min({part.multiplications, part.additions, part.shifts, part.divisions,
                            part.exponentials, part.bytes_moved}),
                  0);
        operations += part.multiplications + part.additions;
        if (convention != CostConvention::complete) {
          EXPECT_EQ(part.shifts + part.divisions + part.exponentials + part.bytes_moved, 0);
        }
      }
      EXPECT_GT(operations, 0);
    }
    EXPECT_GE(cost.own_parameters(kShape), 0);
  }
}

// The accounting has the settings and defaults of the mechanism that runs.
TEST(MechanismCosts, DependOnTheSettingsThatRun) {
  for (const MechanismEntry& entry : mechanisms()) {
    SCOPED_TRACE(std::string(entry.name));
    const MechanismChoice choice = make_mechanism({std::string(entry.name), {}})->choice();
    const auto of_choice = MechanismCost(choice).counts(kShape, CostConvention::complete);
    const auto of_defaults =
        MechanismCost({std::string(entry.name), {}}).counts(kShape, CostConvention::complete);
    ASSERT_EQ(of_choice.size(), of_defaults.size());
    for (std::size_t i = 0; i < of_choice.size(); ++i) {
      EXPECT_EQ(of_choice[i].multiplications, of_defaults[i].multiplications);
      EXPECT_EQ(of_choice[i].additions, of_defaults[i].additions);
    }
  }
}

TEST(MechanismCosts, OwnParametersAreTheLearnedTensors) {
  const auto own = [](const char* name, const ParameterValues& values) {
    return MechanismCost({name, values}).own_parameters(kShape);
  };
  EXPECT_EQ(own("softmax", {}), 0);
  EXPECT_EQ(own("performer", {}), 0) << "random features are not learned";
  EXPECT_EQ(own("reformer", {}), 0);
  EXPECT_EQ(own("hash", {{"codes", std::string("learned")}}), 2 * (25 * 16 + 25 + 25 * 8));
  EXPECT_EQ(own("hash", {{"codes", std::string("lsh")}}), 0);
  EXPECT_EQ(own("linformer", {{"landmarks", std::int64_t{5}}}), 2 * 5 * 12);
  EXPECT_EQ(own("synthesizer", {}), 2 * (8 * 8 + 8 + 12 * 8 + 12));
  EXPECT_EQ(own("daft-full", {}), 2 * 12 * 128);
  EXPECT_EQ(own("daft-full", {{"factors", std::int64_t{0}}}), 12 * 12);
  EXPECT_EQ(own("daft-conv", {{"conv_heads", std::int64_t{4}}}), 4 * 121 + 2 * 4);
  EXPECT_EQ(own("daft-conv", {{"conv_heads", std::int64_t{4}}, {"reparameterised", false}}),
            4 * 121);
  EXPECT_EQ(own("additive", {}), 2 * (2 * 16 + 2));
  EXPECT_EQ(own("additive", {{"causal", true}}), 2 * 16);
  EXPECT_EQ(own("mixer", {}), 2 * 12 * 48 + 48 + 12);
}

TEST(MechanismCosts, LinformersLandmarksStopGrowing) {
  const auto values_of = [](std::int64_t tokens) {
    const AttentionShape shape{
        .queries = tokens, .keys = tokens, .heads = 1, .head_width = 8, .value_width = 8};
    return MechanismCost({"linformer", {}}).own_parameters(shape) / (2 * tokens);
  };
  EXPECT_EQ(values_of(3), 1);
  EXPECT_EQ(values_of(400), 100);
  EXPECT_EQ(values_of(4000), 256);
}

TEST(MechanismCosts, UnknownNamesListTheKnown) {
  EXPECT_THAT(message_of([] {
                (void)MechanismCost({"sofmax", {}});
              }),
              testing::HasSubstr("softmax, adder, additive, hash"));
  EXPECT_THAT(message_of([] {
                (void)MechanismCost({"hash", {{"bit", std::int64_t{8}}}});
              }),
              testing::HasSubstr("mode, codes, bits, supports, features"));
  EXPECT_THAT(message_of([] {
                (void)MechanismCost({"hash", {{"bits", std::int64_t{0}}}});
              }),
              testing::HasSubstr("from 1"));
}

TEST(MechanismCosts, ImpossibleShapesAreNamed) {
  AttentionShape shape = kShape;
  shape.heads = 0;
  EXPECT_THAT(message_of([&] { (void)costs::softmax(shape, CostConvention::adder); }),
              testing::HasSubstr("heads"));
  shape = kShape;
  shape.keys = 3;
  EXPECT_THAT(message_of([&] { (void)costs::hash(shape, CostConvention::adder, {}); }),
              testing::HasSubstr("expected 12 keys"));
  EXPECT_THAT(
      message_of([&] { (void)costs::daft_conv(kShape, CostConvention::adder, {.heads = 5}); }),
      testing::HasSubstr("divisor of 16"));
}

TEST(Count, RefusesInvalidArguments) {
  const Count largest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ((largest + 0).value(), largest.value());
  EXPECT_THAT(message_of([&] { (void)(largest + 1); }), testing::HasSubstr("2^63 - 1"));
  EXPECT_THAT(message_of([&] { (void)(largest * 2); }), testing::HasSubstr("2^63 - 1"));
  const AttentionShape shape{.queries = std::int64_t{1} << 31,
                             .keys = std::int64_t{1} << 31,
                             .heads = 4,
                             .head_width = 64,
                             .value_width = 64};
  EXPECT_THAT(message_of([&] { (void)costs::softmax(shape, CostConvention::adder); }),
              testing::HasSubstr("does not fit in 64 bits"));
}

}  // namespace
}  // namespace attnscope
