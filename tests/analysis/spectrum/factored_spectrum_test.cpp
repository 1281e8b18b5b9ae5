// Spectra from factors compared with the spectra of their products.
#include <cmath>
#include <gtest/gtest.h>

#include "analysis/spectrum/estimated_spectrum.h"
#include "analysis/spectrum/rank.h"
#include "analysis/spectrum/spectrum.h"
#include "core/error.h"
#include "tests/support/naive_attention.h"
#include "tests/support/naive_baselines.h"

namespace attnscope {
namespace {

using Extents = std::pair<std::int64_t, std::int64_t>;

struct Factored {
  MechanismChoice choice;
  std::int64_t bound;
  std::string name;
};

std::ostream& operator<<(std::ostream& out, const Factored& of) { return out << of.name; }

std::vector<Factored> factored_mechanisms() {
  const std::string softmax = "softmax", relu = "relu", pooling = "pooling", gaussian = "gaussian";
  return {
      {{"linear", {}}, 16, "linear"},
      {{"additive", {}}, 1, "additive"},
      {{"hash", {{"bits", std::int64_t{16}}, {"supports", std::int64_t{25}}}}, 17, "hash"},
      {{"performer", {{"kernel", softmax}, {"features", std::int64_t{40}}}}, 40, "favor"},
      {{"performer", {{"kernel", relu}, {"features", std::int64_t{40}}}}, 40, "relu"},
      {{"linformer", {{"projection", pooling}, {"landmarks", std::int64_t{20}}}}, 20, "pooling"},
      {{"linformer", {{"projection", gaussian}, {"landmarks", std::int64_t{20}}}}, 20, "gaussian"}};
}

/// A trace of one layer, recorded like by a model with this mechanism.
Trace trace_of(const MechanismChoice& choice, std::int64_t n, std::int64_t m) {
  const RandomAttention data(n, m, 2, 16, 4, 31);
  const auto mechanism = make_mechanism(choice);
  Trace trace;
  trace.mechanism = choice;
  LayerTrace& layer = trace.layers.emplace_back();
  layer.implied_map = mechanism->implied_map(data.input());
  layer.factors = mechanism->factors(data.input());
  layer.rank_bound = mechanism->structure(data.input().shape()).rank_bound;
  return trace;
}

class FromFactors : public testing::TestWithParam<Factored> {};

TEST_P(FromFactors, EveryShareIsThatOfTheDenseMap) {
  for (const auto& [n, m] : {Extents{197, 197}, Extents{90, 150}, Extents{150, 90}}) {
    const Trace trace = trace_of(GetParam().choice, n, m);
    ASSERT_TRUE(trace.layers[0].factors.has_value());
    for (const IdentityView view : {IdentityView::without, IdentityView::with}) {
      if (view == IdentityView::with && n != m) continue;
      const SpectrumOptions dense{.accuracy = SpectrumAccuracy::every_value,
                                  .method = SpectrumMethod::dense};
      const std::vector<MapSpectrum> expected = spectra_of(trace, view, dense);
      const std::vector<MapSpectrum> found =
          spectra_of(trace, view, {.method = SpectrumMethod::factored});
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t head = 0; head < found.size(); ++head) {
        EXPECT_EQ(found[head].method, SpectrumMethod::factored);
        EXPECT_EQ(expected[head].method, SpectrumMethod::dense);
        EXPECT_EQ(found[head].identity, view == IdentityView::with);
        const std::vector<double> share = cumulative_share(found[head].singular_values),
                                  reference = cumulative_share(expected[head].singular_values);
        ASSERT_EQ(share.size(), reference.size());
        for (std::size_t r = 0; r < share.size(); ++r) {
          ASSERT_NEAR(share[r], reference[r], 1e-5 * reference[r]);
        }
        EXPECT_EQ(found[head].equivalent_rank, expected[head].equivalent_rank);
        EXPECT_NEAR(found[head].effective_rank, expected[head].effective_rank,
                    1e-4 * expected[head].effective_rank);
        if (n == m) {
          EXPECT_NEAR(found[head].symmetry_error, expected[head].symmetry_error, 1e-5);
        } else {
          EXPECT_TRUE(std::isnan(found[head].symmetry_error));
          EXPECT_TRUE(std::isnan(expected[head].symmetry_error));
        }
        EXPECT_EQ(found[head].tokens, std::max(n, m));
      }
    }
  }
}

TEST_P(FromFactors, KeepsAndReportsTheBound) {
  const Trace trace = trace_of(GetParam().choice, 197, 197);
  for (const SpectrumMethod method : {SpectrumMethod::dense, SpectrumMethod::factored}) {
    for (const MapSpectrum& map : spectra_of(trace, IdentityView::as_is, {.method = method})) {
      EXPECT_EQ(map.rank_bound, GetParam().bound);
      EXPECT_LE(map.numerical_rank, GetParam().bound);
      EXPECT_GE(map.numerical_rank, 1);
    }
    for (const MapSpectrum& map : spectra_of(trace, IdentityView::with, {.method = method})) {
      EXPECT_EQ(map.rank_bound, 0) << "I has full rank";
      EXPECT_EQ(map.numerical_rank, 197);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, FromFactors, testing::ValuesIn(factored_mechanisms()),
                         [](const auto& info) { return info.param.name; });

TEST(FactoredSpectra, AreUsedForFactorsNarrowerThanTheMap) {
  const auto method_of = [](const Trace& trace, IdentityView view) {
    return spectra_of(trace, view).front().method;
  };
  const Trace narrow = trace_of({"hash", {}}, 197, 197);
  EXPECT_EQ(method_of(narrow, IdentityView::without), SpectrumMethod::factored);
  EXPECT_EQ(method_of(narrow, IdentityView::with), SpectrumMethod::factored);
  const Trace wide = trace_of({"performer", {{"features", std::int64_t{150}}}}, 197, 197);
  EXPECT_EQ(method_of(wide, IdentityView::without), SpectrumMethod::dense);
  const Trace softmax = trace_of({"softmax", {}}, 50, 50);
  EXPECT_EQ(method_of(softmax, IdentityView::without), SpectrumMethod::dense);
  EXPECT_THROW((void)spectra_of(softmax, IdentityView::as_is, {.method = SpectrumMethod::factored}),
               Error);
}

TEST(FactoredSpectra, NeedNoMaps) {
  Trace trace = trace_of({"linear", {}}, 197, 197);
  const std::vector<MapSpectrum> with_maps = spectra_of(trace, IdentityView::as_is);
  trace.layers[0].implied_map = {};
  const std::vector<MapSpectrum> without = spectra_of(trace, IdentityView::as_is);
  ASSERT_EQ(without.size(), with_maps.size());
  EXPECT_EQ(without[1].singular_values, with_maps[1].singular_values);
  EXPECT_THROW((void)spectra_of(trace, IdentityView::as_is, {.method = SpectrumMethod::dense}),
               Error);
}

TEST(FactoredSpectra, StatesAreShown) {
  Matrix left = Matrix::Ones(20, 2), right = Matrix::Ones(20, 2);
  const auto spectrum = [&](bool identity) {
    return spectrum_of_factors(ConstMatrixMap(left.data(), 20, 2),
                               ConstMatrixMap(right.data(), 20, 2), identity);
  };
  EXPECT_EQ(spectrum(false).numerical_rank, 1) << "two equal columns";
  EXPECT_NEAR(spectrum(false).singular_values.front(), 40, 1e-12);
  EXPECT_NEAR(spectrum(true).singular_values.front(), 41, 1e-12);
  EXPECT_NEAR(spectrum(true).singular_values.back(), 1, 1e-12);
  left.row(3).setZero();
  EXPECT_EQ(spectrum(false).zero_rows, 1);
  left(5, 0) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(spectrum(false).state, SpectrumState::not_finite);
  EXPECT_EQ(spectrum(false).not_finite_entries, 20);
  left.setZero();
  EXPECT_EQ(spectrum(false).state, SpectrumState::zero);
  EXPECT_EQ(spectrum(true).equivalent_rank, 18) << "I alone";
  EXPECT_THROW((void)spectrum_of_factors(ConstMatrixMap(left.data(), 20, 2),
                                         ConstMatrixMap(right.data(), 10, 4), false),
               Error);
}

TEST(FactoredSpectra, ColumnsOfVeryDifferentLengthsKeepTheirValues) {
  // Only the product of the two lengths matters: 1e-18 · 1e18 is as large as 1 · 1.
  Matrix left = random_normal({60, 2}, 1).matrix(), right = random_normal({60, 2}, 2).matrix();
  const auto values = [&] {
    return spectrum_of_factors(ConstMatrixMap(left.data(), 60, 2),
                               ConstMatrixMap(right.data(), 60, 2), false)
        .singular_values;
  };
  const std::vector<double> before = values();
  left.col(1) *= 0x1p-60F;
  right.col(1) *= 0x1p60F;
  const std::vector<double> after = values();
  EXPECT_NEAR(after[0], before[0], 1e-12 * before[0]);
  EXPECT_NEAR(after[1], before[1], 1e-12 * before[0]);
}

}  // namespace
}  // namespace attnscope
