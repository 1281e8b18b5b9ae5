#include "analysis/spectrum/eigenvalue_batch.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <random>

#include "analysis/spectrum/tridiagonal_values.h"
#include "tests/support/eigen_decompositions.h"

namespace attnscope {
namespace {

TwoDiagonals random_form(std::size_t size, unsigned seed, double mean = 0) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  TwoDiagonals form;
  for (std::size_t i = 0; i < size; ++i) {
    form.diagonal.push_back(mean + normal(random));
    if (i > 0) form.off_diagonal.push_back(normal(random));
  }
  return form;
}

/// Forms of every kind: random, graded in both directions, clustered, separated, Wilkinson's pairs
/// and zero.
std::vector<TwoDiagonals> forms_of(std::size_t size) {
  std::vector<TwoDiagonals> forms;
  for (const unsigned seed : {1U, 2U, 3U, 4U}) forms.push_back(random_form(size, seed));
  for (const double mean : {3.0, 50.0}) forms.push_back(random_form(size, 5, mean));
  const auto add = [&](const auto& diagonal, const auto& off_diagonal) {
    TwoDiagonals& form = forms.emplace_back();
    for (std::size_t i = 0; i < size; ++i) {
      form.diagonal.push_back(diagonal(static_cast<double>(i)));
      if (i > 0) form.off_diagonal.push_back(off_diagonal(static_cast<double>(i)));
    }
  };
  const auto always = [](double value) { return [value](double) { return value; }; };
  add(always(2), always(-1));
  add(always(1), always(0));
  add(always(0), always(0));
  add(always(0), always(1));
  add([](double i) { return std::fmod(i, 3) / 4; }, always(0));
  add([](double i) { return std::pow(10.0, -0.5 * i); },
      [](double i) { return 0.1 * std::pow(10.0, -0.5 * i); });
  const double n = static_cast<double>(size);
  add([n](double i) { return std::pow(10.0, -0.5 * (n - i)); },
      [n](double i) { return 0.1 * std::pow(10.0, -0.5 * (n - i)); });
  add([n](double i) { return std::abs(i - n / 2); }, always(1));
  for (const double width : {1e-16, 1e-15, 1e-14, 1e-12, 1e-9}) {
    add([width](double i) { return 1 + 10 * width * std::sin(i); }, always(width));
    add([width](double i) { return 1 + width * std::sin(i); },
        [width](double i) { return 10 * width * std::cos(i); });
  }
  add([](double i) { return i < 1 ? 1.0 : 0.0; }, always(1e-9));  // nearly rank one
  add([n](double i) { return i > n - 2 ? 1.0 : 0.0; }, always(1e-9));
  return forms;
}

/// Eigenvalues by Eigen in long double, descending; negative ones are set to 0.
std::vector<double> values_by_eigen(const TwoDiagonals& form) {
  std::vector<double> values;
  for (const double value : tridiagonal_eigenvalues_by_eigen(form.diagonal, form.off_diagonal)) {
    values.push_back(std::max(value, 0.0));
  }
  std::ranges::sort(values, std::greater<>());
  return values;
}

std::vector<const TwoDiagonals*> pointers_to(const std::vector<TwoDiagonals>& forms) {
  std::vector<const TwoDiagonals*> pointers;
  for (const TwoDiagonals& form : forms) pointers.push_back(&form);
  return pointers;
}

TEST(EigenvalueBatch, AgreesWithTheQrAlgorithmInHigherPrecision) {
  for (const std::size_t size : {1UL, 2UL, 3UL, 7UL, 8UL, 50UL, 197UL}) {
    const std::vector<TwoDiagonals> forms = forms_of(size);
    const auto found = all_eigenvalues(pointers_to(forms));
    ASSERT_EQ(found.size(), forms.size());
    for (std::size_t m = 0; m < forms.size(); ++m) {
      ASSERT_TRUE(found[m]) << m;
      const std::vector<double> expected = values_by_eigen(forms[m]);
      ASSERT_EQ(found[m]->size(), size);
      const double room = 0x1p-53 * greatest_row_sum(forms[m].diagonal, forms[m].off_diagonal) * 4 *
                          std::sqrt(static_cast<double>(size));
      for (std::size_t j = 0; j < size; ++j) {
        ASSERT_NEAR((*found[m])[j], expected[j], room)
            << size << " rows, matrix " << m << ", " << j;
      }
    }
  }
}

TEST(EigenvalueBatch, GivesEachMatrixTheSameValuesInAnyBatch) {
  std::vector<TwoDiagonals> forms = forms_of(61);
  for (unsigned seed = 10; forms.size() < 2 * kEigenvalueBatch + 5; ++seed) {
    forms.push_back(random_form(61, seed, 4));
  }
  const std::vector<const TwoDiagonals*> pointers = pointers_to(forms);
  const auto together = all_eigenvalues(pointers);
  for (std::size_t m = 0; m < forms.size(); ++m) {
    EXPECT_EQ(all_eigenvalues({&pointers[m], 1}).front(), together[m]) << m;
  }
  const auto some = all_eigenvalues(std::span(pointers).subspan(3, 11));
  for (std::size_t m = 0; m < some.size(); ++m) EXPECT_EQ(some[m], together[m + 3]) << m;
}

TEST(EigenvalueBatch, ScalesWithTheMatrix) {
  const TwoDiagonals form = random_form(61, 4, 2);
  const TwoDiagonals* const pointer = &form;
  const auto values = all_eigenvalues({&pointer, 1}).front();
  ASSERT_TRUE(values);
  std::vector<TwoDiagonals> scaled;
  const std::vector<int> exponents = {-1000, -300, 300, 1000};
  for (const int exponent : exponents) {
    TwoDiagonals& one = scaled.emplace_back(form);
    for (double& value : one.diagonal) value = std::ldexp(value, exponent);
    for (double& value : one.off_diagonal) value = std::ldexp(value, exponent);
  }
  const auto found = all_eigenvalues(pointers_to(scaled));
  for (std::size_t m = 0; m < scaled.size(); ++m) {
    std::vector<double> expected = *values;
    for (double& value : expected) value = std::ldexp(value, exponents[m]);
    EXPECT_EQ(found[m], expected);
  }
}

TEST(EigenvalueBatch, SkipsMatricesThatAreNotFiniteAndKeepsTheOthers) {
  for (const double wrong :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    std::vector<TwoDiagonals> forms = {random_form(9, 1), random_form(9, 2), random_form(9, 3)};
    const auto before = all_eigenvalues(pointers_to(forms));
    forms[0].diagonal[4] = wrong;
    forms[2].off_diagonal[7] = wrong;
    const auto found = all_eigenvalues(pointers_to(forms));
    EXPECT_FALSE(found[0]);
    EXPECT_EQ(found[1], before[1]);
    EXPECT_FALSE(found[2]);
  }
  EXPECT_TRUE(all_eigenvalues({}).empty());
}

}  // namespace
}  // namespace attnscope
