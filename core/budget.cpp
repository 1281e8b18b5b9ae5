#include "core/budget.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

thread_local ThreadBudget* innermost_budget = nullptr;
thread_local std::string_view innermost_rule;

std::uint64_t units_for(std::uint64_t given, const BudgetRates& rates) {
  const std::uint64_t room = rates.most - std::min(rates.always, rates.most);
  const bool all = rates.a_byte > 0 && given > room / rates.a_byte;
  return all ? rates.most : rates.always + given * rates.a_byte;
}

}  // namespace

Budget::Budget(std::string work, std::uint64_t given, BudgetRates rates)
    : work_(std::move(work)), units_(units_for(given, rates)) {}

void Budget::refuse(std::string_view rule) const {
  throw Error(ErrorKind::unsupported, work_ + " takes too much work or memory")
      .about(std::string(rule))
      .expected("at most " + std::to_string(units_) + " bytes and steps");
}

ThreadBudget::ThreadBudget(std::string work, std::uint64_t given, BudgetRates rates)
    : budget_(std::move(work), given, rates), before_(std::exchange(innermost_budget, this)) {}

ThreadBudget::~ThreadBudget() { innermost_budget = before_; }

void spend_work(std::uint64_t units) {
  for (ThreadBudget* budget = innermost_budget; budget != nullptr; budget = budget->before_) {
    budget->budget_.spend(units, innermost_rule);
  }
}

WorkRule::WorkRule(std::string_view name) : before_(std::exchange(innermost_rule, name)) {}

WorkRule::~WorkRule() { innermost_rule = before_; }

}  // namespace attnscope
