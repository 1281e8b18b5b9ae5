#include "app/window/frame_pace.h"

#include <QTest>
#include <future>
#include <gtest/gtest.h>

#include "app/session/job_queue.h"

namespace attnscope {
namespace {

class Counted : public QWidget {
 public:
  using QWidget::QWidget;
  int pictures = 0;

 protected:
  void paintEvent(QPaintEvent*) override { ++pictures; }
};

class FramePaceTest : public testing::Test {
 protected:
  FramePaceTest() : pace_(window_, jobs_) {
    window_.resize(80, 60);
    window_.show();
    (void)QTest::qWaitForWindowExposed(&window_);
    QTest::qWait(200);
    window_.pictures = 0;
  }
  ~FramePaceTest() override { end_.set_value(); }

  /// Starts a job that lasts until end_job() or the end of the test.
  void begin_job() {
    jobs_.submit("works",
                 [ended = end_.get_future().share()](const Progress&) -> JobQueue::Delivery {
                   ended.wait();
                   return [] {};
                 },
                 {});
  }
  void end_job() {
    end_.set_value();
    end_ = {};
  }
  void ask_for_picture() {
    window_.update();
    QCoreApplication::sendPostedEvents();
  }

  JobQueue jobs_;
  Counted window_;
  std::promise<void> end_;
  FramePace pace_;
};

TEST_F(FramePaceTest, DrawsAtOnceWhileNothingRuns) {
  ask_for_picture();
  EXPECT_EQ(window_.pictures, 1);
}

TEST_F(FramePaceTest, RecordsTheTimesOfFramesAndOfTheActionsBeforeThem) {
  pace_.record();
  ask_for_picture();
  QTest::mouseClick(&window_, Qt::LeftButton);
  ask_for_picture();
  QTest::mouseClick(&window_, Qt::LeftButton);
  QTest::qWait(50);  // all events are processed: the click had no effect
  ask_for_picture();
  ASSERT_EQ(pace_.frames().size(), 3U);
  EXPECT_FALSE(pace_.frames()[0].after_action_ms);
  ASSERT_TRUE(pace_.frames()[1].after_action_ms);
  EXPECT_GE(*pace_.frames()[1].after_action_ms, pace_.frames()[1].drawing_ms);
  EXPECT_FALSE(pace_.frames()[2].after_action_ms);
  EXPECT_GT(pace_.frames()[1].end_s, pace_.frames()[0].end_s);
  EXPECT_EQ(frame_times_as_csv({{1.5, 2, {}}, {2, 3, 4.25}}),
            "end_s,drawing_ms,after_action_ms\n1.500000,2.000,\n2.000000,3.000,4.250\n");
}

TEST_F(FramePaceTest, DrawsOnceForRequestsDuringAJob) {
  begin_job();
  for (int i = 0; i < 5; ++i) ask_for_picture();
  EXPECT_EQ(window_.pictures, 0);
  EXPECT_TRUE(QTest::qWaitFor([this] { return window_.pictures > 0; })) << "the job has not ended";
  EXPECT_EQ(window_.pictures, 1);
}

TEST_F(FramePaceTest, DrawsWhenTheLastJobHasEnded) {
  begin_job();
  ask_for_picture();
  EXPECT_EQ(window_.pictures, 0);
  end_job();
  EXPECT_TRUE(QTest::qWaitFor([this] { return jobs_.idle(); }));
  QCoreApplication::sendPostedEvents();
  EXPECT_EQ(window_.pictures, 1);
}

TEST_F(FramePaceTest, DrawsOnceForAnAnnouncedBurst) {
  pace_.collect();
  ask_for_picture();
  begin_job();
  end_job();
  EXPECT_TRUE(QTest::qWaitFor([this] { return jobs_.idle(); }));
  ask_for_picture();
  EXPECT_EQ(window_.pictures, 0) << "no job is left, but the burst goes on";
  EXPECT_TRUE(QTest::qWaitFor([this] { return window_.pictures > 0; }));
  EXPECT_EQ(window_.pictures, 1);
  pace_.collect();
  ask_for_picture();
  QTest::keyClick(&window_, Qt::Key_I);
  QCoreApplication::sendPostedEvents();
  EXPECT_EQ(window_.pictures, 2) << "what the user does is drawn at once";
}

TEST_F(FramePaceTest, DrawsAtOnceForTheUser) {
  begin_job();
  ask_for_picture();
  EXPECT_EQ(window_.pictures, 0);
  QTest::keyClick(&window_, Qt::Key_I);
  QCoreApplication::sendPostedEvents();
  EXPECT_EQ(window_.pictures, 1) << "what was held back";
  QTest::keyClick(&window_, Qt::Key_I);
  ask_for_picture();
  EXPECT_EQ(window_.pictures, 2) << "what follows";
  ask_for_picture();
  EXPECT_EQ(window_.pictures, 2) << "what comes by itself again";
}

}  // namespace
}  // namespace attnscope
