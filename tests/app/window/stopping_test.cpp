// Work that the user stops: nothing begins in its place, and it can be gone on with.
#include <QLabel>
#include <QToolButton>
#include <gtest/gtest.h>

#include "app/panels/models/subject_card.h"
#include "app/session/job_queue.h"
#include "app/session/sample_data.h"
#include "tests/app/support/window_fixture.h"

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

TEST_F(Stopping, RanksStayStoppedUntilOneGoesOn) {
  // 12 × 12 maps of 197 tokens: long enough to be stopped.
  session().add_trace(std::make_shared<const Trace>(sample_trace(12, 12, 14, 1)), "large");
  auto* cancel = child<QToolButton>("cancel_jobs");
  ASSERT_TRUE(wait_until([&] { return cancel->isVisible(); }));
  QTest::mouseClick(cancel, Qt::LeftButton);
  ASSERT_TRUE(wait_until([this] { return session().jobs().idle(); }));
  QTest::qWait(300);
  EXPECT_TRUE(session().jobs().idle()) << "another job began in its place";
  EXPECT_FALSE(says("cancelled"));
  auto* go_on = child<QToolButton>("go_on");
  ASSERT_TRUE(go_on->isVisible());
  QTest::mouseClick(go_on, Qt::LeftButton);
  ASSERT_TRUE(wait_until_settled());
  QTest::qWait(50);
  EXPECT_FALSE(go_on->isVisible());
  EXPECT_FALSE(says("Go on"));
}

TEST_F(Stopping, AModelThatWasStoppedGoesOn) {
  const std::vector<std::filesystem::path> models = sample_models();
  ASSERT_FALSE(models.empty());
  session().open(models.front());
  session().jobs().cancel_all();
  ASSERT_TRUE(wait_until([this] { return session().jobs().idle(); }));
  ASSERT_TRUE(session().subjects()[0].stopped);
  EXPECT_FALSE(says("⚠"));
  auto* go_on = child<QToolButton>("go_on");
  ASSERT_TRUE(go_on->isVisible());
  QTest::mouseClick(go_on, Qt::LeftButton);
  ASSERT_TRUE(wait_until([this] { return session().subjects()[0].subject.model != nullptr; }));
  EXPECT_FALSE(session().subjects()[0].stopped);
}

}  // namespace
}  // namespace attnscope
