// A folder of checkpoints as models that move from step to step, two of them linked.
#include "app/session/training_steps.h"

#include <QTemporaryDir>
#include <fstream>
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
  ASSERT_TRUE(rests()) << "of two that load at once, either may be shown first";
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

TEST_F(TrainingStepsTest, GrowsWithTheFolderAndFollowsItsEnd) {
  look_at_boot();
  const std::filesystem::path from = run("whole", 8);
  const std::filesystem::path folder = folder_.path().toStdString() + "/growing";
  std::filesystem::create_directory(folder);
  const auto copy = [&](const char* name) {
    std::filesystem::copy_file(from / name, folder / (std::string(name) + ".partial"));
    std::filesystem::rename(folder / (std::string(name) + ".partial"), folder / name);
  };
  training_.open(folder);
  EXPECT_TRUE(training_.steps().empty());
  EXPECT_EQ(training_.series().size(), 1U) << "it waits for the first";
  const auto shows = [&](std::size_t steps, const char* name) {
    return wait_until([&] { return training_.steps().size() == steps; }, 20) && rests() &&
           label(0) == name;
  };
  copy("step-000000.h5");
  ASSERT_TRUE(shows(1, "growing, step 0"));
  copy("step-000004.h5");
  ASSERT_TRUE(shows(2, "growing, step 4")) << "the end was shown, so the new end is";
  training_.go_to(0);
  ASSERT_TRUE(rests());
  copy("step-000008.h5");
  ASSERT_TRUE(shows(3, "growing, step 0")) << "a step that was chosen stays";
  copy("step-000002.h5");
  ASSERT_TRUE(shows(4, "growing, step 0"));
  EXPECT_EQ(training_.steps(), (std::vector<std::int64_t>{0, 2, 4, 8}));
  EXPECT_EQ(session_.subjects().size(), 1U);
}

TEST_F(TrainingStepsTest, ABrokenCheckpointLeavesTheFormerOneShownAndIsReadOnceRepaired) {
  look_at_boot();
  const std::filesystem::path folder = run("run", 8);
  const std::filesystem::path whole = folder_.path().toStdString() + "/step-000008.h5";
  std::filesystem::rename(folder / "step-000008.h5", whole);
  training_.open(folder);
  ASSERT_TRUE(rests());
  ASSERT_EQ(label(0), "run, step 4");
  std::ofstream(folder / "step-000008.h5") << "broken";
  ASSERT_TRUE(wait_until([&] { return !training_.series()[0].problem.empty(); }, 20));
  EXPECT_NE(training_.series()[0].problem.find("step-000008.h5"), std::string::npos);
  EXPECT_EQ(label(0), "run, step 4");
  EXPECT_EQ(session_.subjects()[0].state, OpenSubject::State::ready);
  std::filesystem::rename(whole, folder / "step-000008.h5");
  ASSERT_TRUE(wait_until([&] { return label(0) == "run, step 8"; }, 20));
  EXPECT_EQ(training_.series()[0].problem, "");
}

TEST_F(TrainingStepsTest, RemovedCheckpointsAreLeftOutExceptTheShownOne) {
  look_at_boot();
  const std::filesystem::path folder = run("run", 8);
  training_.open(folder);
  ASSERT_TRUE(rests());
  training_.go_to(1);
  ASSERT_TRUE(rests());
  std::filesystem::remove(folder / "step-000000.h5");
  std::filesystem::remove(folder / "step-000002.h5");
  ASSERT_TRUE(wait_until([&] { return training_.steps().size() == 3; }, 20));
  EXPECT_EQ(training_.steps(), (std::vector<std::int64_t>{2, 4, 8}));
  EXPECT_EQ(training_.place(), 0U);
  ASSERT_TRUE(rests());
  EXPECT_EQ(label(0), "run, step 2");
}

TEST_F(TrainingStepsTest, SentMapsAreOneSubjectThatFollowsItsEnd) {
  const auto maps = [](unsigned seed) {
    return std::make_shared<const Trace>(sample_trace(1, 2, 2, 1, seed));
  };
  const SubjectId subject = training_.add("live", 10, maps(1));
  const auto second = maps(2), between = maps(3), again = maps(4);
  EXPECT_EQ(training_.add("live", 20, second), subject);
  EXPECT_EQ(label(0), "live, step 20");
  EXPECT_EQ(session_.trace(subject), second);
  training_.go_to(0);
  EXPECT_EQ(label(0), "live, step 10");
  training_.add("live", 30, maps(5));
  EXPECT_EQ(label(0), "live, step 10") << "the user looks at an earlier step";
  training_.add("live", 5, maps(6));
  EXPECT_EQ(training_.steps(), (std::vector<std::int64_t>{5, 10, 20, 30}));
  EXPECT_EQ(label(0), "live, step 10");
  training_.go_to(2);
  training_.add("live", 20, again);
  EXPECT_EQ(session_.trace(subject), again) << "maps of the same step are replaced";
  training_.open(run("files", 8));
  ASSERT_TRUE(rests());
  EXPECT_EQ(session_.subjects().size(), 2U) << "series of both kinds are linked";
  session_.close(subject);
  EXPECT_EQ(training_.series().size(), 1U);
  EXPECT_NE(training_.add("live", 1, between), subject);
}

}  // namespace
}  // namespace attnscope
