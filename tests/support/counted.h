// A number that counts operations by component. Naive references that use it execute an equation
// and leave their number of operations behind.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>

namespace attnscope::test {

struct Tally {
  std::int64_t multiplications = 0, additions = 0, shifts = 0, divisions = 0, exponentials = 0;
};

class Counted {
 public:
  Counted(double value = 0) : value_(value) {}  // NOLINT: constants read as in the equation

  [[nodiscard]] double value() const { return value_; }

  /// Assigns later operations to `component`.
  static void enter(const std::string& component) { current_ = &tallies_[component]; }
  static void forget() {
    tallies_.clear();
    enter("");
  }
  /// Removes the operations of `component`.
  static void leave_out(const std::string& component) {
    tallies_.erase(component);
    enter("");
  }
  [[nodiscard]] static const std::map<std::string, Tally>& tallies() { return tallies_; }

  friend Counted operator+(Counted a, Counted b) {
    return ++current_->additions, a.value_ + b.value_;
  }
  friend Counted operator-(Counted a, Counted b) {
    return ++current_->additions, a.value_ - b.value_;
  }
  friend Counted operator*(Counted a, Counted b) {
    return ++current_->multiplications, a.value_ * b.value_;
  }
  friend Counted operator/(Counted a, Counted b) {
    return ++current_->divisions, a.value_ / b.value_;
  }
  friend bool operator<(Counted a, Counted b) { return ++current_->additions, a.value_ < b.value_; }
  Counted& operator+=(Counted other) { return *this = *this + other; }
  /// Only the sign bit changes: free in hardware, and in every accounting.
  Counted operator-() const { return -value_; }
  friend Counted abs(Counted a) { return std::abs(a.value_); }
  friend Counted exp(Counted a) { return ++current_->exponentials, std::exp(a.value_); }
  friend Counted sqrt(Counted a) { return ++current_->exponentials, std::sqrt(a.value_); }
  friend Counted shift_left(Counted a, int bits) {
    return ++current_->shifts, std::ldexp(a.value_, bits);
  }

 private:
  double value_;
  inline static std::map<std::string, Tally> tallies_;
  inline static Tally* current_ = &tallies_[""];
};

}  // namespace attnscope::test
