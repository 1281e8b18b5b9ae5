// GELU with SIMD compared with the standard library's in double.
#include "core/training/kernels/gelu.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numbers>
#include <vector>

namespace attnscope {
namespace {

std::vector<float> many_numbers() {
  std::vector<float> numbers;
  for (int i = -2000; i <= 2000; ++i) numbers.push_back(static_cast<float>(i) * 0.01F);
  numbers.insert(numbers.end(), {1e-8F, -1e-8F, 300.0F, -300.0F, 0.0F});
  return numbers;
}

using Kernel = void (*)(const float*, std::int64_t, float*);

/// The largest |found − expected| / (1 + |x|).
double gelu_error(Kernel kernel, const auto& expected) {
  const std::vector<float> x = many_numbers();
  std::vector<float> found(x.size(), 1.0F);
  kernel(x.data(), std::ssize(x), found.data());
  double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    most = std::max(most, std::abs(found[i] - expected(static_cast<double>(x[i]))) /
                              (1 + std::abs(static_cast<double>(x[i]))));
  }
  return most;
}

double phi(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double gate(double x) {
  return 0.5 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
double slope(const auto& function, double x) {
  return (function(x + 1e-5) - function(x - 1e-5)) / 2e-5;
}

TEST(GeluTest, AgreesWithTheErrorFunction) {
  const auto whole = [](double x) { return x * phi(x); };
  EXPECT_LT(gelu_error(gelu, whole), 3e-7);
  EXPECT_LT(gelu_error(multiply_by_gelu_derivative, [&](double x) { return slope(whole, x); }),
            1e-6);
}

TEST(GeluTest, AgreesWithTheTanhForm) {
  const auto whole = [](double x) { return x * gate(x); };
  EXPECT_LT(gelu_error(gelu_tanh, whole), 5e-7);
  EXPECT_LT(gelu_error(multiply_by_gelu_tanh_derivative, [&](double x) { return slope(whole, x); }),
            2e-6);
}

}  // namespace
}  // namespace attnscope
