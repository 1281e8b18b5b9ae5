// Spectra of maps that are computed on demand equal those of stored maps.
#include "tests/support/computed_maps.h"

#include <gtest/gtest.h>

#include "analysis/spectrum/estimated_spectrum.h"
#include "analysis/spectrum/map_operator.h"
#include "analysis/spectrum/spectrum.h"
#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

constexpr std::int64_t kTokens = 300, kHeads = 2;

class SpectraOfComputedMaps : public testing::TestWithParam<const char*> {
 protected:
  SpectraOfComputedMaps() {
    const auto mechanism = make_mechanism({GetParam(), {}});
    held_.mechanism = computed_.mechanism = mechanism->choice();
    for (unsigned layer = 0; layer < 2; ++layer) {
      const RandomAttention data(kTokens, kTokens, kHeads, 16, 1, layer);
      held_.layers.emplace_back().implied_map = mechanism->implied_map(data.input());
      computed_.layers.emplace_back().implied_map = computed_from(*mechanism, data.input());
    }
  }

  Trace held_, computed_;
};

TEST_P(SpectraOfComputedMaps, AreThoseOfTheMapsHeld) {
  for (const SpectrumMethod method : {SpectrumMethod::dense, SpectrumMethod::estimated}) {
    for (const IdentityView view : {IdentityView::without, IdentityView::with}) {
      const auto expected = spectra_of(held_, view, {.method = method});
      const auto found = spectra_of(computed_, view, {.method = method});
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].layer, expected[i].layer);
        EXPECT_EQ(found[i].head, expected[i].head);
        EXPECT_EQ(found[i].equivalent_rank, expected[i].equivalent_rank);
        EXPECT_NEAR(nuclear_norm(found[i]), nuclear_norm(expected[i]),
                    1e-4 * nuclear_norm(expected[i]));
      }
    }
  }
}

TEST_P(SpectraOfComputedMaps, NeedNoMapInMemory) {
  const ImpliedMaps& computed = computed_.layers[1].implied_map;
  const Matrix map = held_.layers[1].implied_map.head(1);
  for (const double shift : {0.0, 1.0}) {
    const MapOperator held(ConstMatrixMap(map.data(), kTokens, kTokens), shift);
    const MapOperator rows(computed, 1, shift);
    const MatrixD x = MatrixD::Random(kTokens, 5);
    EXPECT_LT((rows.times(x) - held.times(x)).norm(), 1e-6 * held.times(x).norm());
    EXPECT_LT((rows.times_transposed(x) - held.times_transposed(x)).norm(),
              1e-6 * held.times_transposed(x).norm());
    EXPECT_LT((rows.times_roughly(x) - held.times(x)).norm(), 1e-5 * held.times(x).norm());
    EXPECT_LT((rows.times_transposed_roughly(x) - held.times_transposed(x)).norm(),
              1e-5 * held.times_transposed(x).norm());
    EXPECT_NEAR(rows.facts().squares, held.facts().squares, 1e-6 * held.facts().squares);
    EXPECT_EQ(rows.facts().not_finite_entries, 0);
    EXPECT_TRUE(std::isnan(rows.facts().asymmetry));
  }
}

INSTANTIATE_TEST_SUITE_P(All, SpectraOfComputedMaps, testing::Values("softmax", "adder"));

}  // namespace
}  // namespace attnscope
