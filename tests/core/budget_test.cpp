#include "core/budget.h"

#include <gtest/gtest.h>
#include <thread>

#include "tests/support/refusal.h"

namespace attnscope {
namespace {

constexpr BudgetRates kRates{.always = 10, .a_byte = 2, .most = 100};

TEST(Budget, GrowsLinearlyWithTheInputUpToItsMaximum) {
  for (const auto& [given, units] : {std::pair<std::uint64_t, std::uint64_t>{0, 10},
                                     {5, 20},
                                     {45, 100},
                                     {46, 100},
                                     {~0ULL, 100}}) {
    Budget budget("reading", given, kRates);
    budget.spend(units, "all");
    budget.spend(0, "nothing");
    expect_refusal([&] { return budget.spend(1, "one more"), 0; }, ErrorKind::unsupported,
                   "one more: reading takes too much work or memory (expected at most " +
                       std::to_string(units) + " bytes and steps",
                   "");
  }
}

TEST(Budget, CannotBeExceededByOverflow) {
  Budget budget("reading", 0, kRates);
  budget.spend(2, "two");
  EXPECT_THROW(budget.spend(~0ULL, "wraps to one"), Error);
}

TEST(ThreadBudget, PaysFromAllThatAreOpenOnTheThread) {
  spend_work(1'000'000);  // no budget is open
  const WorkRule rule("outer rule");
  const ThreadBudget outer("outer work", 0, kRates);
  for (int i = 0; i < 2; ++i) {
    const ThreadBudget inner("inner work", 0, kRates);
    const WorkRule own("inner rule");
    spend_work(4);
  }
  std::thread([] { spend_work(1'000'000); }).join();
  spend_work(2);
  expect_refusal([] { return spend_work(1), 0; }, ErrorKind::unsupported, "outer rule: outer work",
                 "");
}

}  // namespace
}  // namespace attnscope
