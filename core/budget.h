// Budgets for reading untrusted files and for tokenizing with them: a bound on work and memory that
// is linear in the input's size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attnscope {

/// Allowed units of work. A unit is about one byte kept or written, or one step.
struct BudgetRates {
  std::uint64_t always;  ///< units for any input
  std::uint64_t a_byte;  ///< additional units per byte of input
  std::uint64_t most = std::uint64_t{1} << 62;
};

class Budget {
 public:
  /// `work`: description in errors, "splitting the text". `given`: size of the input in bytes or
  /// tokens.
  Budget(std::string work, std::uint64_t given, BudgetRates rates);

  /// Spends units; call it before allocating. Throws Error(unsupported) about `rule`, the part of
  /// the file that requires the work, if the budget is exceeded.
  void spend(std::uint64_t units, std::string_view rule) {
    spent_ += units;
    if (spent_ > units_ || spent_ < units) refuse(rule);
  }

 private:
  [[noreturn]] void refuse(std::string_view rule) const;

  std::string work_;
  std::uint64_t units_, spent_ = 0;
};

/// A budget of this thread during its lifetime: spend_work charges it and the earlier ones. The
/// code in its scope must not wait for other threads.
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

/// Charges all budgets of this thread, if any. Throws like Budget::spend, about the innermost
/// WorkRule.
void spend_work(std::uint64_t units);

/// Names the rule ("normalizer") for which this thread spends work during its lifetime.
class WorkRule {
 public:
  /// `name` must outlive the object.
  explicit WorkRule(std::string_view name);
  ~WorkRule();
  WorkRule(const WorkRule&) = delete;
  WorkRule& operator=(const WorkRule&) = delete;

 private:
  std::string_view before_;
};

}  // namespace attnscope
