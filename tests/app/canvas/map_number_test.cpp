#include "app/canvas/map_number.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

#include "analysis/spectrum/estimated_spectrum.h"
#include "analysis/spectrum/rank.h"
#include "app/session/spectrum_store.h"
#include "tests/app/canvas/synthetic_trace.h"

namespace attnscope {
namespace {

class MapNumberTest : public testing::Test {
 protected:
  [[nodiscard]] std::optional<PrintedNumber> number(std::int64_t layer, std::int64_t head) const {
    return printed_number(spectra_, *trace_, view_, layer, head);
  }

  std::shared_ptr<const Trace> trace_ = banded_trace(2, 3, 17);
  SubjectSpectra spectra_{spectra_of(*trace_, IdentityView::without),
                          spectra_of(*trace_, IdentityView::with)};
  ViewSettings view_;
};

TEST_F(MapNumberTest, IsTakenFromTheShownMap) {
  const MapSpectrum& map = spectra_.without[1 * 3 + 2];
  EXPECT_EQ(number(1, 2)->text.toLongLong(), equivalent_rank(map.singular_values, 0.9));
  EXPECT_NEAR(number(1, 2)->share, number(1, 2)->text.toDouble() / 17, 1e-12);
  view_.rank_threshold = 0.5;
  EXPECT_EQ(number(1, 2)->text.toLongLong(), equivalent_rank(map.singular_values, 0.5));
  view_.identity = IdentityView::with;
  EXPECT_EQ(number(1, 2)->text.toLongLong(),
            equivalent_rank(spectra_.with[1 * 3 + 2].singular_values, 0.5));
  view_.map_number = MapNumber::effective_rank;
  EXPECT_EQ(number(1, 2)->text, QString::number(spectra_.with[5].effective_rank, 'f', 1));
}

TEST_F(MapNumberTest, IsTakenFromALayerWhoseMapsHaveNoIdentity) {
  const auto trace = std::make_shared<Trace>(*trace_);
  trace->identity_in_maps = true;
  trace->layers[1].identity = false;
  trace_ = trace;
  EXPECT_EQ(number(1, 2)->text.toLongLong(),
            equivalent_rank(spectra_.without[1 * 3 + 2].singular_values, 0.9));
  EXPECT_EQ(number(0, 2)->text.toLongLong(),
            equivalent_rank(spectra_.with[2].singular_values, 0.9));
}

TEST_F(MapNumberTest, IsHiddenWhereTheLensShowsAnotherMap) {
  ASSERT_TRUE(number(0, 0));
  view_.temperature = 2;
  EXPECT_FALSE(number(0, 0));
  view_ = {};
  view_.head_fusion = HeadFusion::mean;
  EXPECT_FALSE(number(0, 0));
  view_ = {};
  view_.hide_prefix_tokens = true;
  EXPECT_FALSE(number(0, 0));
  view_ = {};
  view_.map_number = MapNumber::none;
  EXPECT_FALSE(number(0, 0));
  view_ = {};
  EXPECT_FALSE(number(7, 0)) << "no such map";
}

TEST_F(MapNumberTest, ShowsADashForUnknownValues) {
  spectra_.without[0].state = SpectrumState::not_finite;
  EXPECT_EQ(number(0, 0)->text, "–");
}

TEST_F(MapNumberTest, MarksEstimatedValues) {
  const QString exact = number(0, 0)->text;
  spectra_.without[0].estimate = std::make_shared<const SpectrumEstimate>();
  EXPECT_EQ(number(0, 0)->text, "≈ " + exact);
  EXPECT_EQ(number(0, 1)->text.count("≈"), 0);
  EXPECT_TRUE(mean_rank_text(spectra_.without, 0.9).startsWith("≈ "));
  EXPECT_FALSE(mean_rank_text(spectra_.with, 0.9).startsWith("≈ "));
  EXPECT_TRUE(are_estimated(spectra_.without, 0));
  EXPECT_FALSE(are_estimated(spectra_.without, 1));
}

TEST_F(MapNumberTest, EntropiesAreThoseOfTheRows) {
  const MapEntropies all = map_entropies(*trace_);
  const Tensor& maps = trace_->layers[1].implied_map.whole();
  const std::int64_t keys = maps.extent(2);
  double sum = 0;
  for (std::int64_t query = 0; query < maps.extent(1); ++query) {
    const float* row = maps.data() + (2 * maps.extent(1) + query) * keys;
    const double total = std::accumulate(row, row + keys, 0.0);
    for (std::int64_t key = 0; key < keys; ++key) {
      const double share = static_cast<double>(row[key]) / total;
      if (share > 0) sum -= share * std::log(share);
    }
  }
  EXPECT_NEAR(all.of(1, 2), sum / static_cast<double>(maps.extent(1)), 1e-9);
  EXPECT_TRUE(std::isnan(all.of(1, 3)));
  view_.map_number = MapNumber::entropy;
  EXPECT_EQ(printed_entropy(std::log(17.0), *trace_, view_, 0)->share, 1);
  EXPECT_EQ(printed_entropy(all.of(1, 3), *trace_, view_, 0)->text, "–");
  view_.temperature = 2;
  EXPECT_FALSE(printed_entropy(1, *trace_, view_, 0));
}

}  // namespace
}  // namespace attnscope
