// Estimated spectra compared with LAPACK.
#include "analysis/spectrum/estimated_spectrum.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <tbb/global_control.h>

#include "analysis/spectrum/map_operator.h"
#include "analysis/spectrum/rank.h"
#include "core/attention/mechanism.h"
#include "core/error.h"
#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

using Extents = std::pair<std::int64_t, std::int64_t>;

struct Estimated {
  std::string name;
  MechanismChoice choice;
  std::int64_t n, m, d;
  double sharpness;  ///< factor of the queries
  double shift;
};

std::ostream& operator<<(std::ostream& out, const Estimated& of) { return out << of.name; }

Tensor map_of(const Estimated& of) {
  RandomAttention data(of.n, of.m, 1, of.d, 1, 41);
  data.queries.matrix() *= static_cast<float>(of.sharpness);
  return make_mechanism(of.choice)->implied_map(data.input());
}

class AgainstLapack : public testing::TestWithParam<Estimated> {};

TEST_P(AgainstLapack, LeadingValuesNormAndRankAgree) {
  const Tensor map = map_of(GetParam());
  const MapSpectrum found = estimated_spectrum(map.slice(0), GetParam().shift);
  ASSERT_EQ(found.state, SpectrumState::ready);
  ASSERT_EQ(found.method, SpectrumMethod::estimated);
  ASSERT_NE(found.estimate, nullptr);
  Tensor shifted = map;
  if (GetParam().shift != 0) {
    shifted.slice(0).diagonal().array() += static_cast<float>(GetParam().shift);
  }
  const MapSpectrum exact =
      spectrum_of(std::as_const(shifted).slice(0), {.accuracy = SpectrumAccuracy::every_value});
  ASSERT_EQ(found.singular_values.size(), exact.singular_values.size());
  const std::int64_t known = found.estimate->known;
  EXPECT_GE(known, 1);
  for (std::int64_t t = 0; t < known; ++t) {
    const auto index = static_cast<std::size_t>(t);
    ASSERT_NEAR(found.singular_values[index], exact.singular_values[index],
                1e-6 * exact.singular_values.front());
  }
  for (std::size_t t = 1; t < found.singular_values.size(); ++t) {
    ASSERT_LE(found.singular_values[t], found.singular_values[t - 1] * (1 + 1e-12));
  }
  // The tolerance is three standard errors plus the error of the quadrature.
  const double norm = nuclear_norm(exact);
  EXPECT_NEAR(nuclear_norm(found), norm, 3 * found.estimate->standard_error + 2e-4 * norm);
  EXPECT_LE(found.estimate->standard_error, 0.01 * norm);
  for (const double level : {0.5, 0.9, 0.99}) {
    // ‖H‖_F is known: a rank by Σσ² that the known values reach is exact.
    const RankThreshold of_squares(level, RankShare::energy);
    const RankInterval squares = rank_interval(found, of_squares);
    const std::int64_t squares_rank = equivalent_rank(exact.singular_values, of_squares);
    EXPECT_LE(squares.low, squares_rank) << level;
    EXPECT_GE(squares.high, squares_rank) << level;
    if (squares_rank <= known) {
      EXPECT_EQ(squares.rank, squares_rank) << level;
      EXPECT_EQ(squares.low, squares.high) << level;
    }
    EXPECT_NEAR(cumulative_share(found, RankShare::energy).back(), 1, 1e-12);
    const RankThreshold threshold = level;
    const RankInterval interval = rank_interval(found, threshold);
    const std::int64_t rank = equivalent_rank(exact.singular_values, threshold);
    EXPECT_LE(interval.low, interval.rank);
    EXPECT_LE(interval.rank, interval.high);
    EXPECT_LE(interval.low, rank) << level;
    EXPECT_GE(interval.high, rank) << level;
    // With I, whose Σσ is known at once, the interval is at most 2 % of n wide; otherwise it is
    // twice as wide.
    EXPECT_LE(interval.high - interval.low, GetParam().n / (GetParam().shift != 0 ? 50 : 25));
  }
  EXPECT_NEAR(found.stable_rank, exact.stable_rank, 1e-6 * exact.stable_rank);
  EXPECT_NEAR(found.rank_one_distance, exact.rank_one_distance, 1e-6);
  if (map.extent(1) == map.extent(2)) {
    EXPECT_NEAR(found.symmetry_error, exact.symmetry_error, 1e-6);
  } else {
    EXPECT_TRUE(std::isnan(found.symmetry_error) && std::isnan(exact.symmetry_error));
  }
  EXPECT_EQ(found.numerical_rank, 0) << "not known";
  EXPECT_NEAR(found.effective_rank, exact.effective_rank, 0.05 * exact.effective_rank);
  // Four standard errors from at least 16 probes plus the error of the quadrature.
  const double error = found.estimate->effective_rank_error;
  EXPECT_NEAR(found.effective_rank, exact.effective_rank, 4 * error + 2e-3 * exact.effective_rank);
  EXPECT_GT(error, 0);
  EXPECT_LE(error, 0.025 * exact.effective_rank);
}

INSTANTIATE_TEST_SUITE_P(Maps, AgainstLapack,
                         testing::Values(Estimated{"softmax", {"softmax", {}}, 500, 500, 16, 1, 0},
                                         Estimated{"sharp", {"softmax", {}}, 700, 700, 32, 3, 0},
                                         Estimated{"adder", {"adder", {}}, 600, 600, 32, 1, 0},
                                         Estimated{
                                             "with_identity", {"softmax", {}}, 500, 500, 16, 2, 1},
                                         Estimated{"wide", {"softmax", {}}, 400, 800, 16, 2, 0},
                                         Estimated{"tall", {"softmax", {}}, 800, 400, 16, 2, 0}),
                         [](const auto& info) { return info.param.name; });

TEST(EstimatedSpectra, DoNotDependOnTheThreadCount) {
  const Tensor map = map_of({"", {"softmax", {}}, 300, 300, 16, 1, 0});
  const MapSpectrum several = estimated_spectrum(map.slice(0), 0);
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  EXPECT_EQ(estimated_spectrum(map.slice(0), 0).singular_values, several.singular_values);
}

TEST(EstimatedSpectra, AreTakenAboveTheLimitOnly) {
  Trace trace;
  LayerTrace& layer = trace.layers.emplace_back();
  layer.implied_map = map_of({"", {"softmax", {}}, 120, 120, 16, 1, 0});
  const auto method = [&](const SpectrumOptions& options) {
    return spectra_of(trace, IdentityView::as_is, options).front().method;
  };
  EXPECT_EQ(SpectrumOptions{}.dense_limit, 4095);
  EXPECT_EQ(method({}), SpectrumMethod::dense);
  EXPECT_EQ(method({.dense_limit = 120}), SpectrumMethod::dense);
  EXPECT_EQ(method({.dense_limit = 119}), SpectrumMethod::estimated);
  EXPECT_EQ(method({.method = SpectrumMethod::dense, .dense_limit = 10}), SpectrumMethod::dense);
  EXPECT_EQ(method({.method = SpectrumMethod::estimated}), SpectrumMethod::estimated);
  const MapSpectrum with =
      spectra_of(trace, IdentityView::with, {.method = SpectrumMethod::estimated}).front();
  EXPECT_TRUE(with.identity);
  EXPECT_GT(with.equivalent_rank, 90);
}

TEST(EstimatedSpectra, SpecialMapsHaveKnownSpectra) {
  // Every query attends alike, so that the map has rank one.
  Tensor alike({1, 200, 200}, std::vector<float>(40000, 1.0F / 200));
  const MapSpectrum one = estimated_spectrum(std::as_const(alike).slice(0), 0);
  ASSERT_EQ(one.state, SpectrumState::ready);
  EXPECT_NEAR(one.singular_values.front(), 1, 1e-6);
  EXPECT_NEAR(nuclear_norm(one), 1, 1e-4);
  EXPECT_EQ(rank_interval(one, 0.9).high, 1);
  // The identity has only singular values of 1, and none stands out.
  Tensor nothing({1, 200, 200});
  EXPECT_EQ(estimated_spectrum(std::as_const(nothing).slice(0), 0).state, SpectrumState::zero);
  EXPECT_EQ(estimated_spectrum(std::as_const(nothing).slice(0), 0).zero_rows, 200);
  const MapSpectrum identity = estimated_spectrum(std::as_const(nothing).slice(0), 1);
  ASSERT_EQ(identity.state, SpectrumState::ready);
  EXPECT_NEAR(nuclear_norm(identity), 200, 0.1);
  EXPECT_NEAR(static_cast<double>(identity.equivalent_rank), 180, 1);
  nothing.values()[7] = std::numeric_limits<float>::infinity();
  const MapSpectrum infinite = estimated_spectrum(std::as_const(nothing).slice(0), 0);
  EXPECT_EQ(infinite.state, SpectrumState::not_finite);
  EXPECT_EQ(infinite.not_finite_entries, 1);
  EXPECT_THROW((void)estimated_spectrum(std::as_const(nothing).slice(0), 0, {.threshold = 0}),
               Error);
}

// A Σσ² that is hardly known does not help: the probes then differ as their sums do, and the error
// of the quadrature comes on top.
TEST(EstimatedSpectra, HaveTheErrorOfProbesAndQuadrature) {
  const Tensor map = random_normal({200, 200}, 8);
  const double squares = map.matrix().cast<double>().squaredNorm();
  const TraceQuadrature found = probe_rest(MapOperator(map.matrix(), 0), Eigen::MatrixXd(200, 0),
                                           {.squares = squares, .frobenius = 1e8, .known = 0}, 0.5);
  const auto count = static_cast<double>(found.probes.size());
  double mean = 0, deviations = 0;
  for (const QuadratureNodes& probe : found.probes) mean += sum_of_values(probe) / count;
  for (const QuadratureNodes& probe : found.probes) {
    deviations += std::pow(sum_of_values(probe) - mean, 2);
  }
  EXPECT_NEAR(found.sum, mean, 1e-9 * mean);
  EXPECT_GT(found.standard_error, std::sqrt(deviations / (count - 1) / count) + 1e-6 * mean);
}

/// Singular values of the map by LAPACK.
std::vector<double> exact_values(const Tensor& map) {
  return spectrum_of(map.slice(0), {.accuracy = SpectrumAccuracy::every_value}).singular_values;
}

TEST(EstimatedSpectra, CollapsedMapsAreOfTheRankTheyHave) {
  // Rows that differ in the last digit of float32 or not at all, like in additive attention and in
  // trained softmax models.
  const std::int64_t n = 197;
  Tensor alike({1, n, n}), nearly({1, n, n}), two({1, n, n}), blocks({1, n, n});
  const Tensor noise = random_normal({n, n}, 6), row = random_normal({n}, 7);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const float weight = std::exp(row.values()[static_cast<std::size_t>(j)]) / 300;
      alike.slice(0)(i, j) = weight;
      nearly.slice(0)(i, j) = weight * (1 + 1e-7F * noise.matrix()(i, j));
      two.slice(0)(i, j) = i < 90 ? weight : 0.01F * static_cast<float>(j % 3);
      // The value 1 occurs 60 times, and the rest are zeros: one direction of each says nothing
      // about the others.
      blocks.slice(0)(i, j) = i == j && i < 60 ? 1 : 0;
    }
  }
  const struct {
    const Tensor& map;
    std::int64_t rank;
  } cases[] = {{alike, 1}, {nearly, 1}, {two, 2}, {blocks, 54}};
  for (const auto& [map, rank] : cases) {
    const MapSpectrum found = estimated_spectrum(map.slice(0), 0);
    ASSERT_EQ(found.state, SpectrumState::ready) << rank;
    const std::vector<double> exact = exact_values(map);
    EXPECT_EQ(equivalent_rank(exact, 0.9), rank);
    EXPECT_NEAR(static_cast<double>(found.equivalent_rank), static_cast<double>(rank),
                rank > 32 ? 4 : 0);
    EXPECT_NEAR(nuclear_norm(found), nuclear_norm(spectrum_of(map.slice(0))),
                3 * found.estimate->standard_error + 1e-5);
    for (std::int64_t t = 0; t < found.estimate->known; ++t) {
      const auto at = static_cast<std::size_t>(t);
      EXPECT_NEAR(found.singular_values[at], exact[at], 1e-6 * exact.front()) << t;
    }
    EXPECT_GE(found.estimate->known, 1);
  }
}

TEST(EstimatedSpectra, CoverMapsOfAFewTokens) {
  for (const std::int64_t n : {1, 2, 3, 5, 9, 40}) {
    Tensor map({1, n, n});
    map.slice(0).setConstant(1.0F / static_cast<float>(n));
    const MapSpectrum one = estimated_spectrum(std::as_const(map).slice(0), 0);
    ASSERT_EQ(one.state, SpectrumState::ready) << n;
    EXPECT_EQ(one.equivalent_rank, 1) << n;
    EXPECT_EQ(rank_interval(one, 0.9).low, 1) << n;
    EXPECT_EQ(rank_interval(one, 0.9).high, 1) << n;
    const MapSpectrum with = estimated_spectrum(std::as_const(map).slice(0), 1);
    ASSERT_EQ(with.state, SpectrumState::ready) << n;
    EXPECT_NEAR(nuclear_norm(with), static_cast<double>(n) + 1, 1e-4 * static_cast<double>(n));
  }
}

TEST(MapOperator, CountsRowsThatItsShiftRemoves) {
  Tensor map({3, 3});
  map.matrix() << 1, 0, 0, 0, 0, 0, 0.5F, 0.5F, 0;
  EXPECT_EQ(MapOperator(std::as_const(map).matrix(), 0).facts().zero_rows, 1) << "the second";
  EXPECT_EQ(MapOperator(std::as_const(map).matrix(), -1).facts().zero_rows, 1) << "the first";
  EXPECT_EQ(MapOperator(std::as_const(map).matrix(), 1).facts().zero_rows, 0);
}

TEST(MapOperator, MultipliesAsTheMatrix) {
  for (const auto& [n, m] : {Extents{70, 70}, Extents{33, 90}, Extents{90, 33}}) {
    const Tensor map = random_normal({n, m}, 3);
    const double shift = n == m ? 1 : 0;
    const MapOperator tested(map.matrix(), shift);
    MatrixD matrix = map.matrix().cast<double>();
    if (n == m) matrix.diagonal().array() += shift;
    if (m > n) matrix.transposeInPlace();
    ASSERT_EQ(tested.rows(), matrix.rows());
    const MatrixD x = random_normal({matrix.cols(), 3}, 4).matrix().cast<double>();
    const MatrixD y = random_normal({matrix.rows(), 3}, 5).matrix().cast<double>();
    EXPECT_LT((tested.times(x) - matrix * x).norm(), 1e-12);
    EXPECT_LT((tested.times_transposed(y) - matrix.transpose() * y).norm(), 1e-12);
    EXPECT_NEAR(tested.facts().squares, matrix.squaredNorm(), 1e-9);
    if (n == m) {
      EXPECT_NEAR(tested.facts().asymmetry, (matrix - matrix.transpose()).norm(), 1e-9);
    }
  }
}

}  // namespace
}  // namespace attnscope
