// Checked 64-bit counts: a sum, difference or product outside the range is an error and never
// wraps.
#pragma once

#include <cstdint>

namespace attnscope {

/// A number of operations, tokens or bytes. Arithmetic throws Error(usage) beyond 2^63 - 1.
class Count {
 public:
  constexpr Count(std::int64_t value = 0) : value_(value) {}  // NOLINT: 2 * n reads as the formula

  [[nodiscard]] constexpr std::int64_t value() const { return value_; }

  Count& operator+=(Count other) { return *this = *this + other; }

  friend Count operator+(Count a, Count b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a.value_, b.value_, &sum)) refuse("+", a, b);
    return sum;
  }
  friend Count operator-(Count a, Count b) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a.value_, b.value_, &difference)) refuse("-", a, b);
    return difference;
  }
  friend Count operator*(Count a, Count b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a.value_, b.value_, &product)) refuse("x", a, b);
    return product;
  }
  /// Rounds towards zero; `b` is positive.
  friend Count operator/(Count a, Count b) { return a.value_ / b.value_; }
  friend bool operator==(Count a, Count b) = default;

 private:
  [[noreturn]] static void refuse(const char* sign, Count a, Count b);

  std::int64_t value_;
};

}  // namespace attnscope
