// The complete convention compared with naive twins that count their operations.
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "core/attention/mechanism_cost.h"
#include "tests/support/counted_attention.h"
#include "tests/support/naive_twins.h"

namespace attnscope {
namespace {

using namespace test;

/// Expects the counts of the naive references in every component of `counts`, and no other
/// component.
void expect_tallied(const std::vector<OperationCount>& counts) {
  std::map<std::string, Tally> tallies = Counted::tallies();
  for (const OperationCount& count : counts) {
    SCOPED_TRACE(count.component);
    const Tally tally = tallies[count.component];
    EXPECT_EQ(count.multiplications, tally.multiplications);
    EXPECT_EQ(count.additions, tally.additions);
    EXPECT_EQ(count.shifts, tally.shifts);
    EXPECT_EQ(count.divisions, tally.divisions);
    EXPECT_EQ(count.exponentials, tally.exponentials);
    tallies.erase(count.component);
  }
  for (const auto& [component, tally] : tallies) {
    EXPECT_EQ(tally.multiplications + tally.additions + tally.shifts + tally.divisions +
                  tally.exponentials,
              0)
        << "not in the cost: " << component;
  }
}

TEST(Counting, CompleteCountsEqualTheExecutedEquations) {
  for (const NaiveTwin& twin : naive_twins()) {
    const auto described = find_counted_mechanism(twin.name).counted_parameters();
    for (const CountedCase& one : twin.counted) {
      const MechanismChoice choice = {std::string(twin.name), one.parameters};
      SCOPED_TRACE(to_string(choice));
      const ParameterValues values = complete_values(twin.name, described, one.parameters);
      Counted::forget();
      twin.count(one.shape, TypedValues(values));
      expect_tallied(MechanismCost(choice).counts(one.shape, CostConvention::complete));
    }
  }
}

// The papers' conventions omit components but count the same matrix products.
TEST(Counting, PapersCountTheSameMatrixProducts) {
  constexpr AttentionShape kShape{
      .queries = 5, .keys = 7, .heads = 2, .head_width = 3, .value_width = 4};
  Counted::forget();
  count_softmax(kShape);
  const auto tallies = Counted::tallies();
  for (const auto convention : {CostConvention::adder, CostConvention::ecoformer}) {
    for (const OperationCount& count : costs::softmax(kShape, convention)) {
      if (count.component == "softmax") continue;
      EXPECT_EQ(count.multiplications, tallies.at(count.component).multiplications);
      EXPECT_EQ(count.additions, tallies.at(count.component).additions);
      EXPECT_EQ(count.bytes_moved, 0);
    }
  }
}

}  // namespace
}  // namespace attnscope
