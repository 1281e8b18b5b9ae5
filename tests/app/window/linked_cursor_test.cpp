// The cursor over one model's map, and the values of the other models in the status line.
#include "app/session/linked_cursor.h"

#include <QLabel>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/canvas/atlas_canvas.h"
#include "app/panels/row/query_view.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

/// A trace with one head whose weights name their query and key: 1000 · (query's patch) + key's
/// patch. The class token has no patch.
Trace telling_trace(std::int64_t prefix, std::int64_t side) {
  Trace trace = sample_trace(2, 1, side, 1);
  trace.layout = {prefix, side, side, {}};
  const std::int64_t tokens = prefix + side * side;
  for (LayerTrace& layer : trace.layers) {
    layer.implied_map = Tensor({1, tokens, tokens});
    for (std::int64_t q = 0; q < tokens; ++q) {
      for (std::int64_t k = 0; k < tokens; ++k) {
        layer.implied_map.slice(0)(q, k) = static_cast<float>(1000 * (q - prefix) + k - prefix);
      }
    }
  }
  return trace;
}

class LinkedCursorTest : public WindowTest {
 protected:
  void open(const Trace& trace, const char* name) {
    session().add_trace(std::make_shared<const Trace>(trace), name);
    ASSERT_TRUE(wait_until_settled());
  }
  AtlasCanvas* atlas(SubjectId subject) {
    for (AtlasCanvas* canvas : window().findChildren<AtlasCanvas*>()) {
      if (canvas->subject() == subject) return canvas;
    }
    return nullptr;
  }
  void point_at(SubjectId subject, std::int64_t query, std::int64_t key) {
    AtlasCanvas* const canvas = atlas(subject);
    const std::int64_t tokens = session().trace(subject)->tokens();
    QTest::mouseMove(
        canvas,
        cell_square(canvas->map_rect(1, 0), {tokens, tokens}, query, key).center().toPoint());
    QTest::qWait(30);
  }
  std::string line() { return child<QLabel>("hover_line")->text().toStdString(); }
};

TEST_F(LinkedCursorTest, SelectsTheSamePatchInAModelWithoutClassToken) {
  open(telling_trace(1, 4), "with class");
  open(telling_trace(0, 4), "without");
  point_at(id(0), 1 + 6, 1 + 9);
  EXPECT_EQ(session().selection().hover, (HoveredCell{id(0), 1, 0, 7, 10}));
  EXPECT_THAT(line(), testing::HasSubstr("query (1, 2) → key (2, 1)"));
  EXPECT_THAT(line(), testing::HasSubstr("[1] 6009"));
  EXPECT_THAT(line(), testing::HasSubstr("[2] 6009")) << "the value of the same patches";
}

TEST_F(LinkedCursorTest, ReportsAMissingCounterpartOfAToken) {
  open(telling_trace(1, 4), "with class");
  open(telling_trace(0, 4), "without");
  point_at(id(0), 0, 5);
  EXPECT_THAT(line(), testing::HasSubstr("query class → key (1, 0)"));
  EXPECT_THAT(line(), testing::HasSubstr("[2] no such query"));
  point_at(id(0), 5, 0);
  EXPECT_THAT(line(), testing::HasSubstr("[2] no such key"));
}

TEST_F(LinkedCursorTest, SelectsTheSamePlaceInThePictureOnADifferentGrid) {
  open(telling_trace(0, 2), "2 × 2");
  open(telling_trace(0, 6), "6 × 6");
  // The centre of patch (1, 0) of 2 × 2 lies in patch (4, 1) of 6 × 6.
  point_at(id(0), 2, 1);
  EXPECT_THAT(line(), testing::HasSubstr("query (1, 0) → key (0, 1)"));
  EXPECT_THAT(line(), testing::HasSubstr("[1] 2001"));
  EXPECT_THAT(line(), testing::HasSubstr("[2] 25010")) << "query 25 = (4, 1), key 10 = (1, 4)";
}

TEST_F(LinkedCursorTest, SelectsTheCounterpartsQuery) {
  open(telling_trace(1, 4), "with class");
  open(telling_trace(0, 4), "without");
  Selection selection = session().selection();
  selection.subject = id(0);
  selection.query = 7;
  session().select(selection);
  EXPECT_EQ(selected_query(session(), id(1), 0), 6);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(child<QueryView>("query_view_1")->picture().weights[3], 6003);
  // In another model the query keeps its position in the picture.
  press(Qt::Key_2);
  EXPECT_EQ(session().selection().query, 6);
  press(Qt::Key_1);
  EXPECT_EQ(session().selection().query, 7);
  // The class token has no counterpart.
  selection = session().selection();
  selection.query = 0;
  session().select(selection);
  EXPECT_EQ(selected_query(session(), id(1), 0), std::nullopt);
  ASSERT_TRUE(wait_until_settled());
  for (const float weight : child<QueryView>("query_view_1")->picture().weights) {
    EXPECT_TRUE(std::isnan(weight));
  }
}

}  // namespace
}  // namespace attnscope
