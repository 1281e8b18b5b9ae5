// Learned codes in training: they equal those of the mechanism, and gradients are differences of
// hard tanh.
#include "core/training/attention/trained_codes.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "core/training/kernels/products.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

constexpr std::int64_t kTokens = 11, kCodeWidth = 4, kCodeHeads = 2, kCodeBits = 5, kSupports = 6;

/// The second head of a layer with hash codes.
class LearnedCodesTest : public testing::Test {
 protected:
  [[nodiscard]] HeadTensors head(bool shared) const {
    return {seen_rows(shared ? keys_ : queries_), seen_rows(keys_), seen_rows(keys_), own_, 1};
  }

  static ConstStridedMatrixMap seen_rows(const Tensor& tensor) {
    return rows_of(tensor.data(), kTokens, kCodeWidth);
  }

  /// clamp(p, −1, 1) of p = A (κ − μ), by the equations. The keys determine the width of the
  /// kernel.
  [[nodiscard]] MatrixD hard_tanh(const std::vector<double>& tokens,
                                  const std::vector<double>& keys) const {
    const auto anchor = [&](std::int64_t a, std::int64_t c) {
      return static_cast<double>(anchors_.data()[(kSupports + a) * kCodeWidth + c]);
    };
    const auto square = [&](const std::vector<double>& rows, std::int64_t i, std::int64_t a) {
      double length = 0, sum = 0;
      for (std::int64_t c = 0; c < kCodeWidth; ++c) length += at(rows, i, c) * at(rows, i, c);
      for (std::int64_t c = 0; c < kCodeWidth; ++c) {
        const double difference = at(rows, i, c) / std::sqrt(length) - anchor(a, c);
        sum += difference * difference;
      }
      return sum;
    };
    double width = 0;
    for (std::int64_t i = 0; i < kTokens; ++i) {
      for (std::int64_t a = 0; a < kSupports; ++a) width += square(keys, i, a);
    }
    width /= kTokens * kSupports;
    MatrixD made(kTokens, kCodeBits);
    for (std::int64_t i = 0; i < kTokens; ++i) {
      for (std::int64_t r = 0; r < kCodeBits; ++r) {
        double sum = 0;
        for (std::int64_t a = 0; a < kSupports; ++a) {
          const double weight = weights_.data()[(kCodeBits + r) * kSupports + a],
                       mean = means_.data()[kSupports + a];
          sum += weight * (std::exp(-square(tokens, i, a) / (2 * width)) - mean);
        }
        made(i, r) = std::clamp(sum, -1.0, 1.0);
      }
    }
    return made;
  }

  static double at(const std::vector<double>& rows, std::int64_t i, std::int64_t c) {
    return rows[static_cast<std::size_t>(i * kCodeWidth + c)];
  }

  static std::vector<double> numbers(const Tensor& tensor) {
    return {tensor.values().begin(), tensor.values().end()};
  }

  static double relative_error(const Tensor& found, const std::vector<double>& expected) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      difference += std::pow(found.data()[i] - expected[i], 2);
      size += expected[i] * expected[i];
    }
    return std::sqrt(difference / size);
  }

  Tensor queries_ = raw_uniform({kTokens, kCodeWidth}, 1),
         keys_ = raw_uniform({kTokens, kCodeWidth}, 2),
         weights_ = raw_uniform({kCodeHeads, kCodeBits, kSupports}, 3),
         means_ = raw_uniform({kCodeHeads, kSupports}, 4),
         anchors_ = raw_uniform({kCodeHeads, kSupports, kCodeWidth}, 5);
  std::vector<const float*> own_ = {weights_.data(), means_.data(), anchors_.data()};
};

TEST_F(LearnedCodesTest, EqualTheMechanisms) {
  NamedTensors parameters;
  parameters.emplace("ksh.A", weights_);
  parameters.emplace("ksh.mvec", means_);
  parameters.emplace("ksh.anchor", anchors_);
  const HashFunction function =
      hash_function(&parameters, kCodeHeads, 1, seen_rows(keys_),
                    {.kind = HashKind::learned, .bits = kCodeBits, .supports = kSupports});
  const auto codes = learned_codes(head(false), kCodeBits, kSupports, false);
  EXPECT_EQ(codes->keys(), function.codes_of(seen_rows(keys_), false).signs.cast<double>());
  EXPECT_EQ(codes->queries(), function.codes_of(seen_rows(queries_), false).signs.cast<double>());
  const auto shared = learned_codes(head(true), kCodeBits, kSupports, false);
  EXPECT_EQ(shared->queries(), codes->keys());
}

TEST_F(LearnedCodesTest, GradientsAreThoseOfHardTanh) {
  const Tensor passed = raw_uniform({2, kTokens, kCodeBits}, 6);
  const MatrixD d_queries = passed.slice(0).cast<double>(), d_keys = passed.slice(1).cast<double>();
  const MatrixD projected = hard_tanh(numbers(queries_), numbers(keys_));
  const auto saturated = (projected.array().abs() == 1).count();
  ASSERT_GT(saturated, 5) << "some gradients end here";
  ASSERT_LT(saturated, kTokens * kCodeBits - 5);
  for (const bool shared : {false, true}) {
    Tensor of_queries({kTokens, kCodeWidth}), of_keys({kTokens, kCodeWidth}),
        unused({kTokens, kCodeWidth});
    const auto rows = [](Tensor& tensor) { return rows_of(tensor.data(), kTokens, kCodeWidth); };
    HeadGradients gradients{rows(of_queries), rows(of_keys), rows(unused)};
    learned_codes(head(shared), kCodeBits, kSupports, false)
        ->backward(d_queries, d_keys, gradients);
    const auto objective = [&](const std::vector<double>& queries,
                               const std::vector<double>& keys) {
      return hard_tanh(shared ? keys : queries, keys).cwiseProduct(d_queries).sum() +
             hard_tanh(keys, keys).cwiseProduct(d_keys).sum();
    };
    for (const bool of_key : {false, true}) {
      if (shared && !of_key) continue;
      std::vector<double> expected;
      for (std::size_t i = 0; i < kTokens * kCodeWidth; ++i) {
        constexpr double kStep = 1e-6;
        std::vector<double> queries = numbers(queries_), keys = numbers(keys_);
        double& number = (of_key ? keys : queries)[i];
        number += kStep;
        const double above = objective(queries, keys);
        number -= 2 * kStep;
        expected.push_back((above - objective(queries, keys)) / (2 * kStep));
      }
      EXPECT_LT(relative_error(of_key ? of_keys : of_queries, expected), 1e-5)
          << "shared " << shared << ", keys " << of_key;
    }
    EXPECT_EQ((of_queries.matrix().array() == 0).all(), shared) << "all of it is the keys'";
  }
}

}  // namespace
}  // namespace attnscope
