// Sessions of crashed windows: offered one after the other and never deleted without asking.
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QTemporaryDir>
#include <QToolButton>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/canvas/atlas_canvas.h"
#include "app/session/autosave.h"
#include "app/window/notice_bar.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

class RecoveryTest : public WindowTest {
 protected:
  /// Writes the autosave file of a crashed window with a sample trace. `process` must not be a
  /// running process.
  fs::path crashed(const std::string& name, int process) {
    const fs::path file = kept() / ("autosave-" + std::to_string(process) + ".json");
    Session session;
    session.open(write_sample(name + ".h5", sample_trace(2, 2, 2, 1)));
    session.save(file);
    // The file with the higher number is the later one.
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1) +
                                  std::chrono::seconds(process - 900'000));
    return file;
  }
  fs::path kept() {
    fs::create_directories(folder() / "kept");
    return folder() / "kept";
  }
  void click(const char* button) {
    QTest::mouseClick(child<QAbstractButton>(button), Qt::LeftButton);
  }
  QString notice() { return window().findChild<NoticeBar*>()->text(); }
  std::string label() { return session().subjects().at(0).subject.label; }
};

TEST_F(RecoveryTest, KeepsBothSessionsOfTwoCrashedWindows) {
  const fs::path first = crashed("first", 900'001), second = crashed("second", 900'002);
  window().remember_between_runs(kept());
  EXPECT_TRUE(notice().contains("2 windows")) << notice().toStdString();
  EXPECT_TRUE(fs::exists(first)) << "deleted unasked";
  click("notice_action");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(label(), "second") << "the latest";
  EXPECT_FALSE(fs::exists(second)) << "it is saved as this window's own now";
  EXPECT_FALSE(notice().isEmpty()) << "the other one is offered";
  EXPECT_TRUE(fs::exists(first));

  click("notice_action");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(label(), "first");
  // The session that was open is replaced, but is offered in turn.
  EXPECT_FALSE(notice().isEmpty());
  click("notice_action");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(label(), "second");
  click("notice_dismiss");
  EXPECT_TRUE(notice().isEmpty());
  EXPECT_TRUE(Autosave::left_behind(kept()).empty());
}

TEST_F(RecoveryTest, AWithdrawnNoteLeavesTheOffer) {
  (void)crashed("maps", 900'001);
  window().remember_between_runs(kept());
  auto* const bar = window().findChild<NoticeBar*>();
  const QString offer = notice();
  bar->withdraw(offer);
  EXPECT_EQ(notice(), offer) << "an offer waits for its choice";
  bar->show_note("Connecting…");
  bar->withdraw("Running…");
  EXPECT_EQ(notice(), "Connecting…");
  bar->withdraw("Connecting…");
  EXPECT_EQ(notice(), offer);
}

TEST_F(RecoveryTest, DoesNotOfferADiscardedSessionAgain) {
  const fs::path file = crashed("maps", 900'001);
  window().remember_between_runs(kept());
  EXPECT_EQ(child<QToolButton>("notice_dismiss")->text(), "Discard");
  click("notice_dismiss");
  EXPECT_TRUE(notice().isEmpty());
  EXPECT_FALSE(fs::exists(file));
  EXPECT_TRUE(Autosave::left_behind(kept()).empty());
  EXPECT_TRUE(session().subjects().empty());
}

TEST_F(RecoveryTest, AnErrorMeanwhileDoesNotTakeTheOfferAway) {
  const fs::path file = crashed("maps", 900'001);
  window().remember_between_runs(kept());
  emit session().failed("the disk is full");
  EXPECT_TRUE(notice().contains("the disk is full"));
  click("notice_dismiss");
  EXPECT_TRUE(notice().contains("crashed"));
  EXPECT_TRUE(fs::exists(file));
}

TEST_F(RecoveryTest, KeepsUnreadableSessionsUntilTheyAreDiscarded) {
  const fs::path file = crashed("maps", 900'001);
  std::ofstream(file) << "{";
  window().remember_between_runs(kept());
  click("notice_action");
  EXPECT_TRUE(notice().contains("autosave-900001")) << notice().toStdString();
  EXPECT_TRUE(fs::exists(file));
  click("notice_dismiss");
  EXPECT_TRUE(notice().contains("crashed"));
  click("notice_dismiss");
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(RecoveryTest, SavesWhenOnlyASettingOfAPanelChanges) {
  window().remember_between_runs(kept());
  session().open(write_sample("maps.h5", sample_trace(2, 2, 2, 1)));
  ASSERT_TRUE(wait_until_settled());
  const auto text = [this] {
    std::string all;
    for (const fs::directory_entry& entry : fs::directory_iterator(kept())) {
      if (entry.path().extension() != ".json") continue;
      std::ifstream stream(entry.path());
      all.append(std::istreambuf_iterator<char>(stream), {});
    }
    return all;
  };
  ASSERT_TRUE(wait_until([&] { return text().find("maps.h5") != std::string::npos; }, 10));
  QTest::qWait(3000);  // all changes by opening the file are saved
  const std::string idle = text();
  QToolButton* rollout = nullptr;
  for (auto* button : window().findChildren<QToolButton*>()) {
    if (button->text() == "Rollout") rollout = button;
  }
  ASSERT_NE(rollout, nullptr);
  QTest::mouseClick(rollout, Qt::LeftButton);
  EXPECT_TRUE(wait_until([&] { return text() != idle; }, 10));
}

TEST_F(RecoveryTest, RestoresASessionUnchanged) {
  Trace plain = sample_trace(2, 2, 3, 1);
  session().open(write_sample("a.h5", plain));
  session().open(write_sample("b.h5", plain));
  ASSERT_TRUE(wait_until_settled());
  Selection selection = session().selection();
  selection.subject = id(1);
  selection.layer = 1;
  selection.query = 0;
  session().select(selection);
  press(Qt::Key_Tab);
  AtlasCanvas* const atlas = window().findChild<AtlasCanvas*>();
  atlas->setFocus();
  QTest::keyClick(atlas, Qt::Key_L);
  session().save(folder() / "session.json");

  session().close(id(0));
  session().close(id(0));
  QTest::qWait(50);
  press(Qt::Key_L);  // closes the lens
  window().restore_session(folder() / "session.json");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().selection().subject, id(1));
  EXPECT_EQ(session().selection().layer, 1);
  EXPECT_EQ(session().selection().query, 0);
  session().save(folder() / "again.json");
  const auto lines = [](const fs::path& file) {
    std::ifstream stream(file);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  EXPECT_EQ(lines(folder() / "session.json"), lines(folder() / "again.json"));
  EXPECT_THAT(lines(folder() / "again.json"), testing::HasSubstr(R"("Lens": "open")"));
}

}  // namespace
}  // namespace attnscope
