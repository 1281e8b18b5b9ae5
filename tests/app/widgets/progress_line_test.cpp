#include "app/widgets/progress_line.h"

#include <QEvent>
#include <QTest>
#include <gtest/gtest.h>

namespace attnscope {
namespace {

class PaintCounter : public QObject {
 public:
  int painted = 0;

 protected:
  bool eventFilter(QObject*, QEvent* event) override {
    painted += event->type() == QEvent::Paint;
    return false;
  }
};

/// If each step of a job painted at once, the whole window would be painted before other events.
TEST(ProgressLine, IsDrawnWithTheNextPictureOfItsWindow) {
  ProgressLine line("Progress");
  line.resize(300, 8);
  line.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&line));
  QTest::qWait(50);
  PaintCounter counter;
  line.installEventFilter(&counter);
  for (const double done : {0.1, 0.25, 0.5}) line.set_fraction(done);
  EXPECT_EQ(counter.painted, 0);
  EXPECT_EQ(line.value(), line.maximum() / 2);
  EXPECT_TRUE(QTest::qWaitFor([&] { return counter.painted > 0; }, 5000));
}

}  // namespace
}  // namespace attnscope
