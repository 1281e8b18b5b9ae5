#include "analysis/components/ranked_maps.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "analysis/components/components.h"

namespace attnscope {
namespace {

std::shared_ptr<const Trace> trace_of(bool identity) {
  Trace trace;
  LayerTrace layer;
  layer.implied_map = Tensor({2, 7, 7});
  for (std::int64_t i = 0; i < layer.implied_map.whole().size(); ++i) {
    layer.implied_map.data()[i] = static_cast<float>(std::sin(1.7 * static_cast<double>(i * i)));
  }
  for (std::int64_t head = 0; identity && head < 2; ++head) {
    layer.implied_map.slice(head).diagonal().array() += 1;
  }
  trace.identity_in_maps = identity;
  trace.layers.push_back(std::move(layer));
  return std::make_shared<const Trace>(std::move(trace));
}

TEST(RankedMaps, AreTheSumsOfTheLeadingComponents) {
  const auto trace = trace_of(false);
  const RankedMaps maps(trace);
  EXPECT_EQ(maps.greatest_rank(), 7);
  for (const std::int64_t rank : {1, 3, 6}) {
    const Trace ranked = maps.of_rank(rank, false);
    const MatrixD expected =
        sum_of(map_components(without_model(*trace), {0, 1}, {}, rank).components);
    EXPECT_LT((ranked.layers[0].implied_map.slice(1).cast<double>() - expected).norm(), 1e-5)
        << rank;
  }
}

TEST(RankedMaps, KeepTheRemainderOfTheLeadingComponents) {
  const auto trace = trace_of(true);
  const RankedMaps maps(trace);
  const Trace sum = maps.of_rank(2, false), rest = maps.of_rank(2, true);
  EXPECT_FALSE(has_identity(sum, 0));
  const Matrix whole = sum.layers[0].implied_map.slice(0) + rest.layers[0].implied_map.slice(0);
  const Tensor bare = maps_seen(*trace, 0, IdentityView::without).whole();
  EXPECT_LT((whole - Matrix(bare.slice(0))).norm(), 1e-5F);
  EXPECT_LT(maps.of_rank(7, true).layers[0].implied_map.slice(0).norm(), 1e-5F);
  EXPECT_EQ(maps.of_rank(0, false).layers[0].implied_map.slice(0).norm(), 0);
}

TEST(RankedMaps, LeaveNonFiniteMapsUnchanged) {
  Trace trace = *trace_of(false);
  trace.layers[0].implied_map.data()[3] = std::numeric_limits<float>::quiet_NaN();
  const RankedMaps maps(std::make_shared<const Trace>(trace));
  const Trace ranked = maps.of_rank(1, false);
  EXPECT_TRUE(std::isnan(ranked.layers[0].implied_map.data()[3]));
  EXPECT_EQ(ranked.layers[0].implied_map.data()[4], trace.layers[0].implied_map.data()[4]);
}

}  // namespace
}  // namespace attnscope
