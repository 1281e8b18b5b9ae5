#include <QTest>
#include <gtest/gtest.h>

#include "app/panels/playground/plane_view.h"
#include "app/panels/playground/playground_view.h"
#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

TEST(Playground, DraggingAQueryMovesEveryMapThatDependsOnIt) {
  PlaygroundView view;
  view.resize(420, 900);
  view.show();
  PlaneView& plane = view.plane();
  const Matrix softmax = view.map_of("softmax"), adder = view.map_of("adder");
  const QPointF from = plane.pixel_of(plane.tokens().queries[0]);
  QTest::mousePress(&plane, Qt::LeftButton, Qt::NoModifier, from.toPoint());
  QTest::mouseMove(&plane, (from + QPointF(20, -20)).toPoint());
  QTest::mouseRelease(&plane, Qt::LeftButton);
  EXPECT_NE(view.map_of("softmax").row(0), softmax.row(0));
  EXPECT_NE(view.map_of("adder").row(0), adder.row(0));
  EXPECT_EQ(view.map_of("softmax").row(1), softmax.row(1)) << "the other queries stay";
}

TEST(Playground, ArrowKeysMoveTheChosenPoint) {
  PlaygroundView view({"softmax"}, 4);
  PlaneView& plane = view.plane();
  const QPointF before = plane.tokens().queries[0];
  QTest::keyClick(&plane, Qt::Key_N);
  QTest::keyClick(&plane, Qt::Key_Right);
  EXPECT_NEAR(plane.tokens().queries[0].x(), before.x() + 0.1, 1e-9);
  EXPECT_EQ(plane.tokens().queries[0].y(), before.y());
}

TEST(Playground, EveryMechanismHasAMapOfAFewTokens) {
  for (const int tokens : {2, 5, 12}) {
    PlaygroundView view({}, tokens);
    for (const MechanismEntry& entry : mechanisms()) {
      const Matrix& map = view.map_of(std::string(entry.name));
      EXPECT_EQ(map.rows(), tokens) << entry.name << " has no map of " << tokens << " tokens";
      EXPECT_TRUE(map.allFinite()) << entry.name;
    }
  }
}

TEST(Playground, TiedKeysLieOnTheirQueries) {
  PlaygroundView view({"adder"}, 5, true);
  EXPECT_EQ(view.plane().tokens().keys, view.plane().tokens().queries);
  const Matrix& map = view.map_of("adder");
  for (Eigen::Index i = 0; i < map.rows(); ++i) {
    EXPECT_EQ(map.row(i).maxCoeff(), map(i, i)) << "each is nearest to itself";
  }
}

}  // namespace
}  // namespace attnscope
