#include "core/attention/costs/list.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/attention/costs/costs.h"
#include "core/attention/costs/count.h"
#include "core/attention/mechanism.h"
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

std::vector<OperationCount> count(const AttentionCost& cost, const ParameterValues& values,
                                  CostConvention convention) {
  return cost.count(kShape, convention, complete_parameters(cost, values));
}

TEST(AttentionCosts, EveryMechanismCountsUnderEveryConvention) {
  for (const AttentionCost& cost : attention_costs()) {
    for (const CostConvention convention : kConventions) {
      SCOPED_TRACE(std::string(cost.name));
      std::int64_t operations = 0;
      for (const OperationCount& part : count(cost, {}, convention)) {
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
  }
}

TEST(AttentionCosts, AreWhatTheMechanismsThemselvesSay) {
  for (const MechanismEntry& entry : mechanisms()) {
    SCOPED_TRACE(std::string(entry.name));
    const AttentionCost& cost = find_attention_cost(entry.name);
    // Defaults may differ: what is cheap to show is not what papers count.
    MechanismChoice choice{std::string(entry.name), {}};
    for (const ParameterDescription& counted : cost.parameters) {
      if (std::any_of(entry.parameters.begin(), entry.parameters.end(),
                      [&](const ParameterDescription& p) { return p.name == counted.name; })) {
        choice.parameters[counted.name] = counted.default_value;
      }
    }
    const auto mechanism = make_mechanism(choice);
    for (const CostConvention convention : kConventions) {
      const auto ours = count(cost, {}, convention);
      const auto theirs = mechanism->cost(kShape, convention);
      ASSERT_EQ(ours.size(), theirs.size());
      for (std::size_t i = 0; i < ours.size(); ++i) {
        EXPECT_EQ(ours[i].component, theirs[i].component);
        EXPECT_EQ(ours[i].multiplications, theirs[i].multiplications);
        EXPECT_EQ(ours[i].additions, theirs[i].additions);
      }
    }
  }
}

TEST(AttentionCosts, UnknownNamesListTheKnown) {
  EXPECT_THAT(message_of([] { (void)find_attention_cost("sofmax"); }),
              testing::HasSubstr("softmax, adder, hash, performer"));
  const AttentionCost& hash = find_attention_cost("hash");
  EXPECT_THAT(message_of([&] {
                (void)complete_parameters(hash, {{"bit", std::int64_t{8}}});
              }),
              testing::HasSubstr("codes, bits, supports, features"));
  EXPECT_THAT(message_of([&] {
                (void)complete_parameters(hash, {{"bits", std::int64_t{0}}});
              }),
              testing::HasSubstr("from 1"));
}

TEST(AttentionCosts, ImpossibleShapesAreNamed) {
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

TEST(Count, RefusesWhatDoesNotFit) {
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
