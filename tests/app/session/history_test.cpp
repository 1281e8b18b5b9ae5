#include "app/session/history.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "app/session/autosave.h"
#include "tests/app/support/session_fixture.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

std::shared_ptr<const Trace> some_trace() {
  return std::make_shared<const Trace>(sample_trace(2, 2, 2, 1));
}

TEST(History, ClosingIsTakenBackWithItsTrace) {
  Session session;
  History history(session);
  const auto trace = some_trace();
  session.add_trace(trace, "a");
  session.add_trace(some_trace(), "b");
  session.close(subject_at(session, 0));
  ASSERT_EQ(session.subjects().size(), 1U);
  EXPECT_EQ(history.undo_text(), "close a");
  history.undo();
  ASSERT_EQ(session.subjects().size(), 2U);
  EXPECT_EQ(session.trace(subject_at(session, 0)), trace);
  history.redo();
  ASSERT_EQ(session.subjects().size(), 1U);
  EXPECT_EQ(session.subjects()[0].subject.label, "b");
  EXPECT_FALSE(history.can_redo());
}

TEST(History, ADraggedSliderIsOneChange) {
  Session session;
  History history(session);
  for (const double threshold : {0.8, 0.7, 0.6}) {
    ViewSettings view = session.view();
    view.rank_threshold = threshold;
    session.set_view(view);
  }
  history.undo();
  EXPECT_EQ(session.view().rank_threshold, ViewSettings{}.rank_threshold);
  EXPECT_FALSE(history.can_undo());
  history.redo();
  EXPECT_DOUBLE_EQ(session.view().rank_threshold.level, 0.6);
}

TEST(History, ANewChangeForgetsUndoneOnes) {
  Session session;
  History history(session);
  session.add_trace(some_trace(), "a");
  history.undo();
  EXPECT_TRUE(session.subjects().empty());
  EXPECT_TRUE(history.can_redo());
  session.add_trace(some_trace(), "b");
  EXPECT_FALSE(history.can_redo());
}

TEST(History, DoesNotRecordSelections) {
  Session session;
  session.add_trace(some_trace(), "a");
  History history(session);
  Selection selection = session.selection();
  selection.layer = 1;
  session.select(selection);
  EXPECT_FALSE(history.can_undo());
}

TEST(Autosave, LeavesNothingBehindInOrder) {
  const TemporaryFolder folder;
  {
    Session session;
    session.add_trace(some_trace(), "a");
    Autosave autosave(session, folder.path());
    autosave.save();
    EXPECT_TRUE(std::filesystem::exists(autosave.file()));
    EXPECT_TRUE(Autosave::left_behind(folder.path()).empty()) << "its program still runs";
  }
  EXPECT_TRUE(Autosave::left_behind(folder.path()).empty());
}

TEST(Autosave, ACrashLeavesTheSession) {
  const TemporaryFolder folder;
  Session session;
  session.add_trace(some_trace(), "a");
  const std::filesystem::path file = folder.path() / "autosave-999999.json";
  session.save(file);  // no such process exists, so that nobody holds its lock
  ASSERT_EQ(Autosave::left_behind(folder.path()), std::vector{file});
  Autosave::discard(file);
  EXPECT_TRUE(Autosave::left_behind(folder.path()).empty());
}

}  // namespace
}  // namespace attnscope
