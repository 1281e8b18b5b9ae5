// A folder of checkpoints as models that move from step to step, two of them linked.
#include "app/session/training_steps.h"

#include <QTemporaryDir>
#include <gtest/gtest.h>

#include "app/session/history.h"
#include "app/session/sample_data.h"
#include "app/session/session.h"
#include "core/error.h"
#include "tests/app/support/session_fixture.h"
#include "tests/app/support/small_run.h"

namespace attnscope {
namespace {

class TrainingStepsTest : public testing::Test {
 protected:
  /// A folder with the models of step 0, step `steps` and two steps between.
  std::filesystem::path run(const char* name, std::int64_t steps) {
    const std::filesystem::path folder = std::filesystem::path(folder_.path().toStdString()) / name;
    train_small_run(folder, steps);
    return folder;
  }
  void look_at_boot() {
    session_.set_input((sample_data_folder() / "inputs/09_ankle_boot.png").string());
  }
  [[nodiscard]] bool rests() {
    return wait_until([this] { return training_.settled() && session_.idle(); });
  }
  [[nodiscard]] std::string label(std::size_t place) const {
    return session_.subjects().at(place).subject.label;
  }

  QTemporaryDir folder_;
  Session session_;
  TrainingSteps training_{session_};
};

TEST_F(TrainingStepsTest, OneSubjectIsTakenFromStepToStep) {
  look_at_boot();
  training_.open(run("first", 8));
  ASSERT_TRUE(rests());
  EXPECT_EQ(training_.steps(), (std::vector<std::int64_t>{0, 2, 4, 8}));
  EXPECT_EQ(training_.place(), 3U) << "its end";
  EXPECT_EQ(label(0), "first, step 8");
  const std::shared_ptr<const Trace> end = session_.trace(subject_at(session_, 0));
  ASSERT_TRUE(end);
  training_.go_to(0);
  training_.go_to(1);
  ASSERT_TRUE(rests());
  EXPECT_EQ(session_.subjects().size(), 1U);
  EXPECT_EQ(label(0), "first, step 2");
  EXPECT_TRUE(session_.subjects()[0].file.string().ends_with("step-000002.h5"));
  EXPECT_NE(session_.trace(subject_at(session_, 0)), end);
}

TEST_F(TrainingStepsTest, TwoSeriesAreLinkedByTheirSteps) {
  look_at_boot();
  training_.open(run("first", 8));
  training_.open(run("second", 27));
  ASSERT_TRUE(rests());
  ASSERT_EQ(session_.subjects().size(), 2U);
  EXPECT_EQ(training_.steps().at(training_.place()), 8);
  training_.go_to(training_.steps().size());
  ASSERT_TRUE(rests());
  EXPECT_EQ(label(0), "first, step 8") << "the last it has";
  EXPECT_EQ(label(1), "second, step 27");
  session_.close(subject_at(session_, 1));
  EXPECT_EQ(training_.series().size(), 1U);
  EXPECT_EQ(training_.steps().back(), 8);
}

TEST_F(TrainingStepsTest, StepsAreNotUndoneAndFoldersWithoutCheckpointsAreRefused) {
  look_at_boot();
  training_.open(run("first", 8));
  ASSERT_TRUE(rests());
  History history(session_);
  training_.go_to(0);
  ASSERT_TRUE(rests());
  EXPECT_FALSE(history.can_undo());
  EXPECT_THROW(training_.open(folder_.path().toStdString() + "/nowhere"), Error);
  EXPECT_EQ(training_.series().size(), 1U);
}

}  // namespace
}  // namespace attnscope
