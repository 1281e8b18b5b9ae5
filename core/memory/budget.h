// What a file from a stranger may cost to read, and a text to split by it: a bound on work and
// memory that is linear in what is given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attnscope {

/// Units of work that may be spent: a unit is about a byte that is kept or written, or a step.
struct BudgetRates {
  std::uint64_t always;  ///< for whatever is given
  std::uint64_t a_byte;  ///< for each that is given
  std::uint64_t most = std::uint64_t{1} << 62;
};

class Budget {
 public:
  /// `work`: what errors call it, "splitting the text"; `given`: bytes of the file or text, or
  /// tokens.
  Budget(std::string work, std::uint64_t given, BudgetRates rates);

  /// Throws Error(unsupported) about `rule`, what in the file asks for it, once more was spent than
  /// may be. To be called before the memory is taken.
  void spend(std::uint64_t units, std::string_view rule) {
    spent_ += units;
    if (spent_ > units_ || spent_ < units) refuse(rule);
  }

 private:
  [[noreturn]] void refuse(std::string_view rule) const;

  std::string work_;
  std::uint64_t units_, spent_ = 0;
};

/// A budget of this thread while it lives: spend_work draws on it, and on those that were there
/// before. What lies between waits for no other thread.
class ThreadBudget {
 public:
  ThreadBudget(std::string work, std::uint64_t given, BudgetRates rates);
  ~ThreadBudget();
  ThreadBudget(const ThreadBudget&) = delete;
  ThreadBudget& operator=(const ThreadBudget&) = delete;

 private:
  friend void spend_work(std::uint64_t units);
  Budget budget_;
  ThreadBudget* before_;
};

/// Draws on all budgets of this thread; nothing where it has none. Throws as Budget::spend, about
/// the innermost WorkRule.
void spend_work(std::uint64_t units);

/// While it lives, what this thread spends is spent for the rule of that name: "normalizer".
class WorkRule {
 public:
  /// `name` stays where it is meanwhile.
  explicit WorkRule(std::string_view name);
  ~WorkRule();
  WorkRule(const WorkRule&) = delete;
  WorkRule& operator=(const WorkRule&) = delete;

 private:
  std::string_view before_;
};

}  // namespace attnscope
