// Cancelled work: nothing starts in its place, and it can be resumed.
#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

#include "app/panels/models/subject_card.h"
#include "app/session/job_queue.h"
#include "app/session/sample_data.h"
#include "tests/app/support/window_fixture.h"
#include "tests/support/model_shapes.h"

namespace attnscope {
namespace {

class Stopping : public WindowTest {
 protected:
  [[nodiscard]] bool says(const QString& words) {
    for (const QLabel* label : window().findChildren<QLabel*>()) {
      if (label->isVisible() && label->text().contains(words)) return true;
    }
    return false;
  }
};

TEST_F(Stopping, RanksStayCancelledUntilResumed) {
  // 12 × 12 maps of 401 tokens take long enough to be cancelled.
  session().add_trace(std::make_shared<const Trace>(sample_trace(12, 12, 20, 1)), "large");
  auto* cancel = child<QToolButton>("cancel_jobs");
  ASSERT_TRUE(wait_until([&] { return says(" of 12 layers)"); })) << "some ranks, before all";
  ASSERT_TRUE(wait_until([&] { return cancel->isVisible(); }));
  QTest::mouseClick(cancel, Qt::LeftButton);
  ASSERT_TRUE(wait_until([this] { return session().jobs().idle(); }));
  QTest::qWait(300);
  EXPECT_TRUE(session().jobs().idle()) << "another job began in its place";
  EXPECT_FALSE(says("cancelled"));
  EXPECT_TRUE(says(" of 12 layers)")) << "what was found stays";
  auto* resume = child<QToolButton>("resume");
  ASSERT_TRUE(resume->isVisible());
  QTest::mouseClick(resume, Qt::LeftButton);
  ASSERT_TRUE(wait_until_settled());
  QTest::qWait(50);
  EXPECT_FALSE(resume->isVisible());
  EXPECT_FALSE(says("Resume"));
  EXPECT_FALSE(says(" of 12 layers)"));
}

TEST_F(Stopping, ALongTitleOfAJobDoesNotWidenTheWindow) {
  window().resize(1024, 768);
  const auto work = [](const Progress& progress) -> JobQueue::Delivery {
    for (;;) {
      progress.step(0);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  const JobId job = session().jobs().submit("Running " + QString(200, 'n'), work, {});
  ASSERT_TRUE(wait_until([&] { return child<QToolButton>("cancel_jobs")->isVisible(); }));
  QTest::qWait(50);
  EXPECT_EQ(window().size(), QSize(1024, 768));
  session().jobs().cancel(job);
  EXPECT_TRUE(wait_until_settled());
}

TEST_F(Stopping, MapsThatWereDoneStayAndTheRestIsOffered) {
  // Thirty-six layers with 785 tokens take long enough to be cancelled on any processor.
  const std::filesystem::path file = folder() / "slow.safetensors";
  write_hashed_safetensors(
      file, timm_shapes({.width = 192, .layers = 36, .image = 224, .patch = 8, .mlp_width = 768}));
  session().set_input((sample_data_folder() / "inputs/09_ankle_boot.png").string());
  session().open(file);
  ASSERT_TRUE(wait_until([this] { return session().trace(id(0)) != nullptr; }, 240));
  EXPECT_TRUE(wait_until([this] { return says("of 36 layers so far"); }));
  QTest::mouseClick(child<QToolButton>("cancel_jobs"), Qt::LeftButton);
  ASSERT_TRUE(wait_until([this] { return session().jobs().idle(); }));
  EXPECT_TRUE(session().trace(id(0)));
  EXPECT_TRUE(says("stopped after "));
  EXPECT_FALSE(says("⚠"));
  auto* retry = child<QPushButton>("retry");
  ASSERT_TRUE(retry->isVisible());
  EXPECT_EQ(retry->text(), "Resume");
  QTest::mouseClick(retry, Qt::LeftButton);
  ASSERT_TRUE(wait_until([this] { return session().jobs().idle(); }, 400));
  EXPECT_FALSE(retry->isVisible());
  EXPECT_GT(session().trace(id(0))->heads(35), 0);
}

TEST_F(Stopping, ACancelledInputCanBeResumed) {
  session().set_input((sample_data_folder() / "inputs/09_ankle_boot.png").string());
  session().jobs().cancel_all();
  ASSERT_TRUE(wait_until([this] { return session().jobs().idle(); }));
  ASSERT_TRUE(session().input_stopped());
  EXPECT_FALSE(says("⚠"));
  auto* resume = child<QToolButton>("resume");
  ASSERT_TRUE(resume->isVisible());
  QTest::mouseClick(resume, Qt::LeftButton);
  EXPECT_TRUE(wait_until([this] { return session().input() != nullptr; }));
}

TEST_F(Stopping, ACancelledModelCanBeResumed) {
  const std::vector<std::filesystem::path> models = sample_models();
  ASSERT_FALSE(models.empty());
  session().open(models.front());
  session().jobs().cancel_all();
  ASSERT_TRUE(wait_until([this] { return session().jobs().idle(); }));
  ASSERT_TRUE(session().subjects()[0].stopped);
  EXPECT_FALSE(says("⚠"));
  auto* resume = child<QToolButton>("resume");
  ASSERT_TRUE(resume->isVisible());
  QTest::mouseClick(resume, Qt::LeftButton);
  ASSERT_TRUE(wait_until([this] { return session().subjects()[0].subject.model != nullptr; }));
  EXPECT_FALSE(session().subjects()[0].stopped);
}

}  // namespace
}  // namespace attnscope
