// Maps of lower rank in the atlas, chosen in the lens.
#include "analysis/components/ranked_maps.h"
#include "tests/app/canvas/atlas_fixture.h"
#include "tests/app/support/session_fixture.h"

namespace attnscope {

TEST_F(AtlasCanvasTest, LensShowsAMapsTruncationAndRemainder) {
  const auto trace = std::make_shared<const Trace>(sample_trace(2, 2, 4, 2));
  open(trace);
  open_lens();
  AtlasCanvas* const canvas = canvases_[0];
  const QRectF slider = canvas->lens_control("rank");
  ASSERT_FALSE(slider.isEmpty());
  const QPoint left(static_cast<int>(slider.left()) + 6, slider.center().toPoint().y());
  QTest::mouseMove(canvas, left);
  QTest::qWait(40);
  QTest::mousePress(canvas, Qt::LeftButton, {}, left);
  QTest::qWait(60);
  QTest::mouseRelease(canvas, Qt::LeftButton, {}, left);
  settle();
  ASSERT_EQ(session_.view().shown_rank, 1);
  const Trace kept = RankedMaps(trace).of_rank(1, false);
  EXPECT_NEAR(link_.maps(id(0))->value({1, 0, 3, 5}), kept.layers[1].implied_map.slice(0)(3, 5),
              1e-6F);
  click_lens("rest");
  EXPECT_TRUE(session_.view().shows_rest);
  const float whole = trace->layers[1].implied_map.slice(0)(3, 5);
  EXPECT_NEAR(link_.maps(id(0))->value({1, 0, 3, 5}),
              whole - kept.layers[1].implied_map.slice(0)(3, 5), 1e-6F);
  session_.reset_lens();
  settle();
  EXPECT_EQ(link_.maps(id(0))->value({1, 0, 3, 5}), whole);
}

}  // namespace attnscope
