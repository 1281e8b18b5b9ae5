#include "analysis/spectrum/spectrum.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <set>
#include <tbb/global_control.h>

#include "analysis/spectrum/identity_effect.h"
#include "analysis/spectrum/mean_spectrum.h"
#include "analysis/spectrum/rank.h"
#include "core/error.h"
#include "tests/support/naive_attention.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

Tensor stacked(const std::vector<Tensor>& maps) {
  Tensor result({static_cast<std::int64_t>(maps.size()), maps[0].extent(0), maps[0].extent(1)});
  for (std::size_t h = 0; h < maps.size(); ++h) {
    result.slice(static_cast<std::int64_t>(h)) = maps[h].matrix();
  }
  return result;
}

/// A trace of three layers of two heads with 41 tokens.
Trace small_trace(bool identity = false) {
  Trace trace;
  trace.model_name = "small";
  trace.identity_in_maps = identity;
  for (unsigned layer = 0; layer < 3; ++layer) {
    LayerTrace record;
    record.implied_map = stacked(
        {kernel_map(41, 3, 2 + 10 * layer, 10 * layer + 1), kernel_map(41, 5, 60, 10 * layer + 5)});
    if (identity) {
      for (std::int64_t h = 0; h < 2; ++h) {
        record.implied_map.slice(h).diagonal().array() += 1.0F;
      }
    }
    trace.layers.push_back(std::move(record));
  }
  return trace;
}

TEST(Spectra, ComeInOrderOfLayerAndHeadWhateverTheThreads) {
  const Trace trace = small_trace();
  const std::vector<MapSpectrum> parallel = spectra_of(trace, IdentityView::as_is);
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const std::vector<MapSpectrum> serial = spectra_of(trace, IdentityView::as_is);
  ASSERT_EQ(parallel.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(parallel[i].layer, static_cast<std::int64_t>(i / 2));
    EXPECT_EQ(parallel[i].head, static_cast<std::int64_t>(i % 2));
    EXPECT_EQ(parallel[i].tokens, 41);
    EXPECT_EQ(parallel[i].singular_values, serial[i].singular_values) << "the same bytes";
    EXPECT_EQ(parallel[i].equivalent_rank,
              equivalent_rank(parallel[i].singular_values, parallel[i].threshold));
  }
}

TEST(Spectra, IdentityIsAddedOnceAndNeverTwice) {
  const Trace without = small_trace(false);
  const Trace with = small_trace(true);
  for (const auto& [trace, view, identity] :
       {std::tuple(&without, IdentityView::as_is, false),
        std::tuple(&with, IdentityView::as_is, true),
        std::tuple(&without, IdentityView::with, true), std::tuple(&with, IdentityView::with, true),
        std::tuple(&without, IdentityView::without, false),
        std::tuple(&with, IdentityView::without, false)}) {
    const std::vector<MapSpectrum> found = spectra_of(*trace, view);
    const std::vector<MapSpectrum> expected =
        spectra_of(identity ? with : without, IdentityView::as_is);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].identity, identity);
      for (std::size_t t = 0; t < 41; ++t) {
        // 1 + h was rounded to float32 in one of the two.
        EXPECT_NEAR(found[i].singular_values[t], expected[i].singular_values[t], 41 * 0x1p-24);
      }
    }
  }
}

TEST(Spectra, AreEqualWhetherComputedTogetherOrSeparately) {
  Trace odd = small_trace();  // maps of every state, in blocks, and not square
  odd.layers[0].implied_map.slice(0)(3, 4) = std::numeric_limits<float>::quiet_NaN();
  odd.layers[0].implied_map.slice(1).setZero();
  odd.layers[1].implied_map.slice(0) = -MatrixD::Identity(41, 41).cast<float>();
  odd.layers[1].implied_map.slice(1).setIdentity();
  odd.layers[2].implied_map = stacked({random_normal({41, 30}, 1), random_normal({41, 30}, 2)});
  for (const Trace& trace : {small_trace(false), small_trace(true), odd}) {
    const auto both = spectra_without_and_with_identity(trace);
    for (const IdentityView view : {IdentityView::without, IdentityView::with}) {
      const std::vector<MapSpectrum> expected = spectra_of(trace, view);
      const std::vector<MapSpectrum>& found = both[view == IdentityView::with ? 1 : 0];
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].state, expected[i].state);
        EXPECT_EQ(found[i].layer, expected[i].layer);
        EXPECT_EQ(found[i].head, expected[i].head);
        EXPECT_EQ(found[i].identity, expected[i].identity);
        EXPECT_EQ(found[i].tokens, expected[i].tokens);
        EXPECT_EQ(found[i].zero_rows, expected[i].zero_rows);
        EXPECT_EQ(found[i].not_finite_entries, expected[i].not_finite_entries);
        EXPECT_EQ(found[i].equivalent_rank, expected[i].equivalent_rank);
        const std::vector<double> share = cumulative_share(found[i].singular_values);
        const std::vector<double> exact = cumulative_share(expected[i].singular_values);
        ASSERT_EQ(share.size(), exact.size());
        for (std::size_t r = 0; r < share.size(); ++r) EXPECT_NEAR(share[r], exact[r], 1e-6);
        if (found[i].state != SpectrumState::ready) continue;
        if (found[i].tokens == 41 && exact.size() == 41) {
          EXPECT_NEAR(found[i].symmetry_error, expected[i].symmetry_error, 1e-12);
        }
      }
    }
  }
}

TEST(Spectra, ReportMapsWithoutASpectrumAsAState) {
  Trace trace = small_trace();
  trace.layers[0].implied_map.slice(0)(3, 4) = std::numeric_limits<float>::quiet_NaN();
  trace.layers[0].implied_map.slice(0)(3, 5) = std::numeric_limits<float>::infinity();
  trace.layers[1].implied_map.slice(1).setZero();
  trace.layers[2].implied_map.slice(0).row(7).setZero();
  const std::vector<MapSpectrum> spectra = spectra_of(trace, IdentityView::as_is);
  EXPECT_EQ(spectra[0].state, SpectrumState::not_finite);
  EXPECT_EQ(spectra[0].not_finite_entries, 2);
  EXPECT_TRUE(spectra[0].singular_values.empty());
  EXPECT_EQ(spectra[1].state, SpectrumState::ready);
  EXPECT_EQ(spectra[3].state, SpectrumState::zero);
  EXPECT_EQ(spectra[3].singular_values, std::vector<double>(41, 0.0));
  EXPECT_EQ(spectra[3].equivalent_rank, 0);
  EXPECT_EQ(spectra[4].state, SpectrumState::ready);
  EXPECT_EQ(spectra[4].zero_rows, 1);
  EXPECT_LT(spectra[4].numerical_rank, 41);

  const MeanSpectrum mean = mean_spectrum(spectra, 0.9);
  EXPECT_EQ(mean.maps, 4);
  EXPECT_EQ(mean.left_out, 2);
}

TEST(Spectra, SkipUnchosenAndUnrecordedLayers) {
  Trace trace = small_trace();
  trace.layers[1].implied_map = Tensor();
  EXPECT_EQ(spectra_of(trace, IdentityView::as_is).size(), 4U);
  const std::vector<MapSpectrum> last = spectra_of(trace, IdentityView::as_is, {.layers = {2}});
  ASSERT_EQ(last.size(), 2U);
  EXPECT_EQ(last[0].layer, 2);
  EXPECT_THROW((void)spectra_of(trace, IdentityView::as_is, {.layers = {3}}), Error);
  EXPECT_THROW((void)spectra_of(trace, IdentityView::as_is, {.layers = {1}}), Error);
  EXPECT_THROW((void)spectra_of(Trace{}, IdentityView::as_is), Error);
}

TEST(Spectra, RefuseThresholdsOutOfRange) {
  for (const double threshold : {0.0, -1.0, 1.5, std::nan("")}) {
    EXPECT_THROW((void)spectra_of(small_trace(), IdentityView::as_is, {.threshold = threshold}),
                 Error);
  }
}

TEST(Spectra, ReportProgressAndStopWhenCancelled) {
  const Trace trace = small_trace();
  std::set<std::pair<std::int64_t, std::int64_t>> arrived;
  std::vector<double> fractions;
  const Progress progress([&](double fraction, std::string_view) { fractions.push_back(fraction); },
                          {});
  const std::vector<MapSpectrum> spectra =
      spectra_of(trace, IdentityView::as_is, {}, progress, [&](const MapSpectrum& spectrum) {
        arrived.insert({spectrum.layer, spectrum.head});
      });
  EXPECT_EQ(arrived.size(), spectra.size());
  EXPECT_EQ(fractions.front(), 0);
  EXPECT_EQ(fractions.back(), 1);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));

  std::stop_source stop;
  int count = 0;
  EXPECT_THROW((void)spectra_of(trace, IdentityView::as_is, {}, Progress({}, stop.get_token()),
                                [&](const MapSpectrum&) {
                                  ++count;
                                  stop.request_stop();
                                }),
               Cancelled);
  EXPECT_EQ(count, 1);
}

TEST(IdentityEffect, FollowsThePaperForASymmetricPositiveMap) {
  // A Gaussian kernel of equal queries and keys with rows that are not normalised is symmetric and
  // positive definite.
  Tensor map({1, 30, 30});
  for (std::int64_t i = 0; i < 30; ++i) {
    for (std::int64_t j = 0; j < 30; ++j) {
      const auto distance = static_cast<double>(i - j);
      map.slice(0)(i, j) = static_cast<float>(0.1 * std::exp(-distance * distance / 20));
    }
  }
  Trace trace;
  trace.layers.emplace_back().implied_map = map;
  const std::vector<IdentityEffect> effects = identity_effects(trace);
  ASSERT_EQ(effects.size(), 1U);
  EXPECT_EQ(effects[0].without.symmetry_error, 0);
  EXPECT_FALSE(effects[0].without.identity);
  EXPECT_TRUE(effects[0].with.identity);
  EXPECT_LT(effects[0].prediction_error, 1e-7);
  EXPECT_EQ(effects[0].predicted_rank, effects[0].with.equivalent_rank);
  EXPECT_TRUE(effects[0].share_is_concave);
  EXPECT_TRUE(effects[0].closer_to_linear);
  EXPECT_TRUE(effects[0].rank_not_lower);
  EXPECT_LE(effects[0].largest_excess, 0);
}

TEST(IdentityEffect, DiffersForAMapFarFromSymmetric) {
  // Every token attends to its mirror image: the map H is orthogonal, but H + I has half its rank.
  Tensor map({1, 30, 30});
  for (std::int64_t i = 0; i < 30; ++i) map.slice(0)(i, 29 - i) = 1.0F;
  Trace trace;
  trace.layers.emplace_back().implied_map = map;
  const IdentityEffect effect = identity_effects(trace).at(0);
  EXPECT_EQ(effect.without.equivalent_rank, 27);
  EXPECT_EQ(effect.with.numerical_rank, 15);
  EXPECT_EQ(effect.predicted_rank, 27);
  EXPECT_FALSE(effect.rank_not_lower);
  EXPECT_FALSE(effect.closer_to_linear);
  EXPECT_GT(effect.largest_excess, 0.4);
  EXPECT_GT(effect.prediction_error, 0.4);
}

TEST(IdentityEffect, IsNotClaimedOfMapsThatAreNotSquare) {
  Trace trace;
  trace.layers.emplace_back().implied_map = Tensor({1, 4, 3}, std::vector<float>(12, 0.5F));
  const IdentityEffect effect = identity_effects(trace).at(0);
  EXPECT_EQ(effect.without.state, SpectrumState::ready);
  EXPECT_FALSE(effect.with.identity);
  EXPECT_TRUE(effect.predicted.empty());
  EXPECT_FALSE(effect.rank_not_lower);
  EXPECT_TRUE(std::isnan(effect.without.symmetry_error));
  EXPECT_FALSE(shows_identity(trace, IdentityView::with));
  trace.layers.emplace_back().implied_map = Tensor({1, 4, 4}, std::vector<float>(16, 0.5F));
  EXPECT_TRUE(shows_identity(trace, IdentityView::with));
  EXPECT_FALSE(shows_identity(trace, IdentityView::without));
}

TEST(Spectra, KeepTheirPrecisionForMapsInDouble) {
  // The singular values are about 1, 1e-9 and 1e-12: float32 would lose the last two in the
  // rounding errors of the first.
  const std::vector<double> entries = {1, 1e-9, 0, 0, 1e-9, 0, 1e-12, 0, 1e-12};
  Trace trace;
  LayerTrace& layer = trace.layers.emplace_back();
  layer.implied_map = Tensor({1, 3, 3});
  std::copy(entries.begin(), entries.end(), layer.implied_map.data());
  layer.exact_map = std::make_shared<const std::vector<double>>(entries);
  const MapSpectrum exact = spectra_of(trace, IdentityView::as_is).at(0);
  ASSERT_EQ(exact.state, SpectrumState::ready);
  // The expected values are those of numpy.linalg.svd for the same entries.
  EXPECT_NEAR(exact.singular_values[0], 1, 1e-15);
  EXPECT_NEAR(exact.singular_values[1], 1e-9, 1e-15);
  EXPECT_NEAR(exact.singular_values[2], 1e-12, 1e-15);
  EXPECT_EQ(exact.numerical_rank, 3);
  layer.exact_map = nullptr;
  EXPECT_EQ(spectra_of(trace, IdentityView::as_is).at(0).numerical_rank, 1);
}

TEST(MeanSpectrum, IsUnknownForNoMaps) {
  MapSpectrum bad;
  bad.state = SpectrumState::not_finite;
  const MeanSpectrum none = mean_spectrum(std::vector<MapSpectrum>{bad}, 0.9);
  EXPECT_EQ(none.left_out, 1);
  EXPECT_TRUE(std::isnan(none.ranks.mean));
  EXPECT_TRUE(std::isnan(none.ranks.median));
  EXPECT_FALSE(none.ranks.minimum.has_value());
  MapSpectrum one;
  one.singular_values = {1, 0};
  EXPECT_TRUE(std::isnan(mean_spectrum(std::vector{one}, 0.9).ranks.standard_deviation));
}

TEST(MeanSpectrum, KeepsTheMeanCurveAndTheDistribution) {
  const auto map = [](std::vector<double> values) {
    MapSpectrum spectrum;
    spectrum.singular_values = std::move(values);
    return spectrum;
  };
  const std::vector<MapSpectrum> spectra = {map({1, 0, 0, 0}), map({1, 1, 0, 0}), map({1, 1, 1, 1}),
                                            map({2, 2, 2, 2})};
  const MeanSpectrum mean = mean_spectrum(spectra, 0.9);
  EXPECT_EQ(mean.mean_share, (std::vector<double>{0.5, 0.75, 0.875, 1}));
  EXPECT_EQ(mean.low_share, (std::vector<double>{0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(mean.high_share, (std::vector<double>{1, 1, 1, 1}));
  EXPECT_EQ(mean.rank_of_mean, 4);
  EXPECT_EQ(mean.ranks.ranks, (std::vector<std::int64_t>{1, 2, 4, 4}));
  EXPECT_EQ(mean.ranks.mean, 2.75);
  EXPECT_EQ(mean.ranks.median, 3);
  EXPECT_EQ(mean.ranks.lower_quartile, 1.75);
  EXPECT_EQ(mean.ranks.upper_quartile, 4);
  EXPECT_NEAR(mean.ranks.standard_deviation, 1.5, 1e-12);
  EXPECT_EQ(mean_spectrum({}, 0.9).maps, 0);
  EXPECT_EQ(mean_spectrum({}, 0.9).rank_of_mean, 0);

  const std::vector<MapSpectrum> mixed = {map({1}), map({1, 1})};
  const MeanSpectrum relative = mean_spectrum(mixed, 0.9);
  EXPECT_TRUE(relative.relative);
  EXPECT_EQ(relative.mean_share, (std::vector<double>{0.5, 1}));  // {1} as a curve is r/n itself
  EXPECT_EQ(relative.ranks.ranks, (std::vector<std::int64_t>{1, 2}));
  EXPECT_FALSE(mean_spectrum(spectra, 0.9).relative);
  EXPECT_THROW((void)mean_spectrum(spectra, 0), Error);
}

}  // namespace
}  // namespace attnscope
