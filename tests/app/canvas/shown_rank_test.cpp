// Maps of lower rank in the atlas.
#include "analysis/components/ranked_maps.h"
#include "tests/app/canvas/atlas_fixture.h"
#include "tests/app/support/session_fixture.h"

namespace attnscope {

TEST_F(AtlasCanvasTest, ShowsAMapsTruncationAndRemainder) {
  const auto trace = std::make_shared<const Trace>(sample_trace(2, 2, 4, 2));
  open(trace);
  settle();
  ViewSettings view = session_.view();
  view.shown_rank = 1;
  session_.set_view(view);
  settle();
  const Trace kept = RankedMaps(trace).of_rank(1, false);
  EXPECT_NEAR(link_.maps(id(0))->value({1, 0, 3, 5}), kept.layers[1].implied_map.slice(0)(3, 5),
              1e-6F);
  view.shows_rest = true;
  session_.set_view(view);
  settle();
  const float whole = trace->layers[1].implied_map.slice(0)(3, 5);
  EXPECT_NEAR(link_.maps(id(0))->value({1, 0, 3, 5}),
              whole - kept.layers[1].implied_map.slice(0)(3, 5), 1e-6F);
  session_.reset_lens();
  settle();
  EXPECT_EQ(link_.maps(id(0))->value({1, 0, 3, 5}), whole);
}

}  // namespace attnscope
