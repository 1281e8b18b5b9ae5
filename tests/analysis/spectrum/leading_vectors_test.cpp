// Leading singular vectors compared with LAPACK's decomposition, by Spectra for few of them.
#include "analysis/spectrum/leading_vectors.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <tbb/global_control.h>

#include "core/attention/mechanism.h"
#include "core/tensor/decompose.h"
#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

struct Wanted {
  std::string name;
  MechanismChoice choice;
  std::int64_t rows, columns, count;
  bool causal = false, identity = false;
};

std::ostream& operator<<(std::ostream& out, const Wanted& of) { return out << of.name; }

MatrixD wanted_map(const Wanted& of) {
  const RandomAttention data(of.rows, of.columns, 1, 32, 1, 19);
  AttentionInput input = data.input();
  input.causal = of.causal;
  MatrixD map = make_mechanism(of.choice)->implied_map(input).slice(0).cast<double>();
  if (of.identity) map.diagonal().array() += 1;
  return map;
}

/// Checks that `found` are orthonormal vectors of the shorter side of `map` with LAPACK's values.
void expect_leading(const MatrixD& map, const Eigen::MatrixXd& found, Eigen::Index count) {
  const MatrixD tall = map.rows() >= map.cols() ? map : MatrixD(map.transpose());
  const Eigen::VectorXd exact = singular_values_of(map);
  ASSERT_EQ(found.rows(), tall.cols());
  ASSERT_EQ(found.cols(), count);
  EXPECT_TRUE((found.transpose() * found).isIdentity(1e-13 * static_cast<double>(count)));
  const Eigen::MatrixXd image = tall * found, back = tall.transpose() * image;
  for (Eigen::Index k = 0; k < count; ++k) {
    EXPECT_NEAR(image.col(k).norm(), exact(k), 1e-10 * exact(k)) << k;
    EXPECT_LE((back.col(k) - exact(k) * exact(k) * found.col(k)).norm(),
              1.1e-12 * tall.squaredNorm())
        << k;
  }
}

class LeadingVectorsAgainstLapack : public testing::TestWithParam<Wanted> {};

TEST_P(LeadingVectorsAgainstLapack, ValuesAndResidualsAgree) {
  const MatrixD map = wanted_map(GetParam());
  expect_leading(map, leading_vectors(map, GetParam().count), GetParam().count);
}

INSTANTIATE_TEST_SUITE_P(
    Maps, LeadingVectorsAgainstLapack,
    testing::Values(
        Wanted{"one", {"softmax", {}}, 197, 197, 1}, Wanted{"few", {"softmax", {}}, 197, 197, 4},
        Wanted{"most_of_few", {"softmax", {}}, 197, 197, 16},
        Wanted{"many", {"softmax", {}}, 197, 197, 17}, Wanted{"every", {"softmax", {}}, 20, 20, 20},
        Wanted{"smallest", {"softmax", {}}, 12, 12, 1},
        Wanted{"causal", {"softmax", {}}, 300, 300, 8, true},
        Wanted{"adder", {"adder", {}}, 256, 256, 8},
        Wanted{"with_identity", {"softmax", {}}, 300, 300, 25, false, true},
        Wanted{"wide", {"softmax", {}}, 130, 400, 8}, Wanted{"tall", {"softmax", {}}, 400, 130, 8}),
    [](const auto& info) { return info.param.name; });

TEST(LeadingVectors, HoldEveryCopyOfARepeatedValue) {
  constexpr Eigen::Index kBlocks = 16, kTokens = 24;
  const MatrixD block = wanted_map({"block", {"softmax", {}}, kTokens, kTokens, 1});
  MatrixD map = MatrixD::Zero(kBlocks * kTokens, kBlocks * kTokens);
  for (Eigen::Index i = 0; i < kBlocks; ++i) {
    map.block(i * kTokens, i * kTokens, kTokens, kTokens) = block;
  }
  for (const Eigen::Index count : {2, 3, 8, 20, 32}) {
    expect_leading(map, leading_vectors(map, count), count);
  }
}

TEST(LeadingVectors, AreOrthonormalForCollapsedMaps) {
  for (const double scale : {1.0, 1e-6, 1e8}) {
    MatrixD map(256, 256);
    map.rowwise() = scale * wanted_map({"row", {"softmax", {}}, 1, 256, 1}).row(0);
    for (const Eigen::Index count : {1, 2, 8, 20}) {
      const Eigen::MatrixXd found = leading_vectors(map, count);
      ASSERT_EQ(found.cols(), count);
      EXPECT_TRUE((found.transpose() * found).isIdentity(1e-12)) << scale << " " << count;
      EXPECT_NEAR((map * found.col(0)).norm(), map.norm(), 1e-12 * map.norm());
    }
  }
}

TEST(LeadingVectors, AreOrthonormalForPermutationsAndZeros) {
  MatrixD shift = MatrixD::Zero(100, 100);
  for (Eigen::Index i = 0; i < 100; ++i) shift(i, (i + 1) % 100) = 1;
  expect_leading(shift, leading_vectors(shift, 5), 5);
  const Eigen::MatrixXd any = leading_vectors(MatrixD::Zero(100, 60), 3);
  EXPECT_TRUE((any.transpose() * any).isIdentity(1e-12));
}

TEST(LeadingVectors, AreNaNIfTheMatrixIsNotFinite) {
  MatrixD map = wanted_map({"", {"softmax", {}}, 60, 60, 1});
  map(3, 5) = std::numeric_limits<double>::infinity();
  const Eigen::MatrixXd found = leading_vectors(map, 2);
  ASSERT_EQ(found.cols(), 2);
  EXPECT_TRUE(found.array().isNaN().all());
}

TEST(LeadingVectors, DoNotDependOnTheThreadCount) {
  const MatrixD map = wanted_map({"", {"softmax", {}}, 600, 600, 1});
  const Eigen::MatrixXd several = leading_vectors(map, 6);
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  EXPECT_EQ(leading_vectors(map, 6), several);
}

}  // namespace
}  // namespace attnscope
