#include "app/canvas/value_range.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "tests/app/canvas/synthetic_trace.h"

namespace attnscope {
namespace {

ValueRange range_of(std::initializer_list<std::shared_ptr<Trace>> traces,
                    const ViewSettings& view) {
  std::vector<ValueStatistics> statistics;
  for (const auto& trace : traces) {
    statistics.push_back(value_statistics(ShownMaps(trace, ValueSettings(view))));
  }
  std::vector<const ValueStatistics*> pointers;
  for (const ValueStatistics& one : statistics) pointers.push_back(&one);
  return shared_range(pointers, view);
}

TEST(ValueHistogram, QuantilesAreKnownToThreePercent) {
  ValueHistogram histogram;
  for (int i = -1000; i <= 3000; ++i) histogram.add(static_cast<float>(i) / 1000);
  EXPECT_EQ(histogram.count(), 4001);
  EXPECT_NEAR(histogram.quantile(0.75), 2.0, 0.06);
  EXPECT_NEAR(histogram.quantile(0.05), -0.8, 0.03);
  EXPECT_NEAR(histogram.quantile(0.25), 0.0, 0.002);
  EXPECT_NEAR(histogram.positive_quantile(0.5), 1.5, 0.05);
  EXPECT_EQ(ValueHistogram().quantile(0.5), 0);
}

TEST(SharedRange, CoversAllSubjects) {
  const auto low = synthetic_trace(1, 1, 8, [](auto, auto, auto, auto) { return 0.1F; });
  const auto high = synthetic_trace(1, 1, 8, [](auto, auto, auto, auto) { return 0.4F; });
  const ViewSettings view;
  EXPECT_NEAR(range_of({low}, view).maximum, 0.1, 0.005);
  EXPECT_NEAR(range_of({low, high}, view).maximum, 0.4, 0.015);
  EXPECT_EQ(range_of({low, high}, view).minimum, 0);
}

TEST(SharedRange, IsTheSameWithAndWithoutIdentity) {
  const auto trace = banded_trace(2, 2, 65);
  ViewSettings view;
  const ValueRange without = range_of({trace}, view);
  view.identity = IdentityView::with;
  const ValueRange with = range_of({trace}, view);
  EXPECT_EQ(without.minimum, with.minimum);
  EXPECT_EQ(without.maximum, with.maximum);
  EXPECT_TRUE(with.clips_above);
}

TEST(SharedRange, FewPeaksDoNotDarkenTheRest) {
  const auto trace = synthetic_trace(
      1, 1, 100, [](auto, auto, auto q, auto k) { return q == 5 && k == 5 ? 0.99F : 0.01F; });
  const ValueRange range = range_of({trace}, ViewSettings());
  EXPECT_LT(range.maximum, 0.02);
  EXPECT_TRUE(range.clips_above);
  EXPECT_FALSE(range.clips_below);
}

TEST(SharedRange, LogarithmicReachesFromSmallToLargest) {
  const auto trace = synthetic_trace(1, 1, 50, [](auto, auto, auto q, auto k) {
    return static_cast<float>(std::pow(10.0, -static_cast<double>((q + k) % 5)));
  });
  ViewSettings view;
  view.norm = ScaleNorm::logarithmic;
  const ValueRange range = range_of({trace}, view);
  EXPECT_GT(range.minimum, 0.8e-4);
  EXPECT_LT(range.minimum, 1.1e-4);
  EXPECT_NEAR(range.maximum, 1, 1e-9);
}

TEST(SharedRange, KeepsARangeSetByHand) {
  ViewSettings view;
  view.range_minimum = 0.25;
  view.range_maximum = 0.5;
  const ValueRange range = range_of({banded_trace(1, 1, 9)}, view);
  EXPECT_EQ(range.minimum, 0.25);
  EXPECT_EQ(range.maximum, 0.5);
}

TEST(SharedRange, HoldsTheRequestedShare) {
  const auto trace = synthetic_trace(1, 1, 100, [](auto, auto, auto q, auto k) {
    return static_cast<float>(q * 100 + k + 1) / 10000;
  });
  ViewSettings view;
  for (const double share : range_shares) {
    view.range_share = share;
    EXPECT_NEAR(range_of({trace}, view).maximum, share, 0.06 * share) << share;
  }
  EXPECT_NEAR(range_of({trace}, view).maximum, 1, 1e-9) << "all of them";
  EXPECT_FALSE(range_of({trace}, view).clips_above);
}

TEST(MapRange, IsTakenFromThatMapOnly) {
  const auto trace = synthetic_trace(2, 3, 20, [](auto l, auto h, auto q, auto k) {
    const auto most = static_cast<float>(3 * l + h + 1);
    return most * static_cast<float>(q * 20 + k + 1) / 400;
  });
  ViewSettings view;
  view.range_share = 1;
  const ValueStatistics statistics = value_statistics(ShownMaps(trace, ValueSettings(view)));
  EXPECT_EQ(statistics.columns, 3);
  ASSERT_EQ(statistics.layers.size(), 2U);
  for (std::int64_t i = 0; i < 6; ++i) {
    const ValueRange range = map_range(statistics.map(i / 3, i % 3), view);
    EXPECT_EQ(range.minimum, 0);
    EXPECT_NEAR(range.maximum, static_cast<double>(i + 1), 1e-6);
    EXPECT_FALSE(range.clips_above);
  }
  const ValueStatistics* one[] = {&statistics};
  EXPECT_NEAR(shared_range(one, view).maximum, 6, 1e-6);
}

TEST(SharedRange, DivergingColoursAreSymmetricAboutZero) {
  const auto trace =
      synthetic_trace(1, 1, 16, [](auto, auto, auto q, auto) { return q % 2 == 0 ? -0.2F : 0.6F; });
  ViewSettings view;
  view.colour_map = "diverging";
  const ValueRange range = range_of({trace}, view);
  EXPECT_EQ(range.minimum, -range.maximum);
  EXPECT_GE(range.maximum, 0.6);
}

TEST(SharedRange, IgnoresNonFiniteValues) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  const auto trace = synthetic_trace(1, 1, 4, [=](auto, auto, auto q, auto k) {
    return q == 0 ? nan : q == 1 && k == 1 ? infinite : 0.5F;
  });
  const ValueStatistics statistics = value_statistics(ShownMaps(trace, ValueSettings()));
  EXPECT_EQ(statistics.all.not_finite, 5);
  EXPECT_EQ(statistics.all.finite, 11);
  EXPECT_EQ(statistics.all.maximum, 0.5);
}

TEST(ValueStatistics, AreComputedOnceForComputedLayers) {
  const auto all = std::make_shared<Trace>();
  all->layers.resize(2);
  for (LayerTrace& layer : all->layers) {
    layer.implied_map = ImpliedMaps(std::make_shared<const ComputedMaps>(
        Shape{2, 8, 8}, 0, [](std::int64_t head, std::int64_t, StridedMatrixMap rows) {
          rows.setConstant(head == 0 ? 0.125F : 0.25F);
        }));
  }
  const auto first = std::make_shared<Trace>(*all);
  first->layers[1] = {};
  const ValueSettings plain;
  const ValueStatistics half = value_statistics(ShownMaps(first, plain));
  const ValueStatistics fresh = value_statistics(ShownMaps(all, plain));
  const ValueStatistics whole = value_statistics(ShownMaps(all, plain), &half);
  EXPECT_EQ(whole.layers[0], half.layers[0]);
  EXPECT_NE(whole.layers[1], half.layers[1]);
  EXPECT_EQ(whole.all.finite, fresh.all.finite);
  EXPECT_EQ(whole.all.maximum, 0.25);
  EXPECT_EQ(whole.map(1, 0).maximum, 0.125);
  ValueSettings warm;
  warm.temperature = 2;
  const ValueStatistics other = value_statistics(ShownMaps(all, warm), &whole);
  EXPECT_NE(other.layers[0], whole.layers[0]);
}

TEST(SharedRange, IsUsableForNoValues) {
  const ValueRange range = shared_range({}, ViewSettings());
  EXPECT_LT(range.minimum, range.maximum);
  const auto zero = synthetic_trace(1, 1, 4, [](auto, auto, auto, auto) { return 0.0F; });
  const ValueRange flat = range_of({zero}, ViewSettings());
  EXPECT_LT(flat.minimum, flat.maximum);
}

}  // namespace
}  // namespace attnscope
