#include "analysis/heads/attention_chain.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

#include "core/tensor/decompose.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

MatrixD random_chain(std::int64_t n, std::int64_t seed) {
  MatrixD map =
      (raw_uniform({n, n}, static_cast<unsigned>(seed)).matrix().cast<double>() * 4).array().exp();
  map.array().colwise() /= map.rowwise().sum().array().eval();
  return map;
}

double by_lapack(const MatrixD& map) {
  std::vector<double> moduli;
  for (const auto& value : eigenvalues_of(map)) moduli.push_back(std::abs(value));
  std::ranges::sort(moduli, std::greater<>());
  return moduli.at(1);
}

TEST(AttentionChain, SecondEigenvalueOfManyTokensIsThatOfLapack) {
  constexpr Eigen::Index kTokens = 300;
  // Near tokens attend to each other: few eigenvalues are great. Random weights have many.
  MatrixD near(kTokens, kTokens);
  for (Eigen::Index i = 0; i < kTokens; ++i) {
    for (Eigen::Index j = 0; j < kTokens; ++j) {
      near(i, j) =
          std::exp(-std::abs(static_cast<double>(i - j)) / (20 + 0.1 * static_cast<double>(i)));
    }
  }
  near.array().colwise() /= near.rowwise().sum().array().eval();
  for (const MatrixD& map : {near, random_chain(kTokens, 1), random_chain(kTokens, 2)}) {
    EXPECT_NEAR(second_eigenvalue(map, false), by_lapack(map), 1e-8);
    const MatrixD half = 0.5 * map + 0.5 * MatrixD::Identity(kTokens, kTokens);
    EXPECT_NEAR(second_eigenvalue(half, false), by_lapack(half), 1e-8);
  }
}

TEST(AttentionChain, SecondEigenvalueOfKnownMaps) {
  for (const Eigen::Index n : {8, 300}) {
    const MatrixD even = MatrixD::Constant(n, n, 1 / static_cast<double>(n));
    EXPECT_NEAR(second_eigenvalue(even, false), 0, 1e-12) << n;
    EXPECT_NEAR(second_eigenvalue(MatrixD::Identity(n, n), false), 1, 1e-9) << n;
    MatrixD cycle = MatrixD::Zero(n, n);  // eigenvalues are the n-th roots of 1
    for (Eigen::Index i = 0; i < n; ++i) cycle(i, (i + 1) % n) = 1;
    EXPECT_NEAR(second_eigenvalue(cycle, false), 1, 1e-9) << n;
    EXPECT_NEAR(second_eigenvalue(0.25 * MatrixD::Identity(n, n) + 0.75 * even, false), 0.25, 1e-9);
  }
  const MatrixD causal{{1, 0, 0}, {0.7, 0.3, 0}, {0.2, 0.2, 0.6}};
  EXPECT_EQ(second_eigenvalue(causal, true), 0.6);
  EXPECT_NEAR(second_eigenvalue(causal, false), 0.6, 1e-12);
  EXPECT_TRUE(std::isnan(second_eigenvalue(MatrixD::Identity(1, 1), false)));
}

TEST(AttentionChain, TokenRankStaysAfterAStep) {
  const MatrixD map = random_chain(40, 5);
  const Eigen::VectorXd share = token_rank(map);
  const Eigen::VectorXd next =
      0.99 * map.transpose() * share + Eigen::VectorXd::Constant(40, 0.01 / 40);
  EXPECT_LT((next - share).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_NEAR(share.sum(), 1, 1e-12);
  const MatrixD sink{{1, 0, 0}, {1, 0, 0}, {1, 0, 0}};
  EXPECT_NEAR(token_rank(sink)(0), 1 - 2 * 0.01 / 3, 1e-12);
}

TEST(AttentionChain, DiagonalAndLaplacianOfASmallMap) {
  const MatrixD causal{{1, 0, 0}, {0.5, 0.5, 0}, {0.25, 0.25, 0.5}};
  EXPECT_NEAR(mean_log_diagonal(causal), 2 * std::log(0.5) / 3, 1e-15);
  // 1.75/3 − 1, 0.75/2 − 0.5 and 0.5 − 0.5.
  EXPECT_NEAR(greatest_laplacian_eigenvalue(causal), 0, 1e-15);
  EXPECT_EQ(mean_log_diagonal(MatrixD::Zero(2, 2)), -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace attnscope
