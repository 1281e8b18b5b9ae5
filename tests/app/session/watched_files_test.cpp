// Files that other programs replace, rewrite, break and remove while they are open.
#include "app/session/watched_files.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>
#include <fstream>
#include <gtest/gtest.h>

#include "app/session/history.h"
#include "app/session/sample_data.h"
#include "app/session/session.h"
#include "core/model/model.h"
#include "core/trace/trace_file.h"
#include "tests/app/support/session_fixture.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using State = OpenSubject::State;

constexpr double kReports = 20;    // seconds within which a change is reported, on a busy machine
constexpr int kNoReportMs = 1500;  // longer than a complete file waits

void write(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

/// Writes another file and renames it over `file`, as careful programs do.
void replace(const fs::path& file, const std::string& bytes) {
  const fs::path other = file.string() + ".partial";
  write(other, bytes);
  fs::rename(other, file);
}

class FileWatchTest : public testing::Test {
 protected:
  FileWatchTest() {
    QObject::connect(&watch_, &FileWatch::changed, &watch_, [this](const fs::path&, bool exists) {
      ++reports_;
      exists_ = exists;
    });
    write(file_, "first");
    watch_.watch(file_);
  }
  [[nodiscard]] bool is_reported(int times) {
    return wait_until([&] { return reports_ >= times; }, kReports);
  }

  QTemporaryDir folder_;
  fs::path file_ = fs::path(folder_.path().toStdString()) / "model.h5";
  FileWatch watch_;
  int reports_ = 0;
  bool exists_ = false;
};

TEST_F(FileWatchTest, ReportsEveryReplacementByRenaming) {
  replace(file_, "second");
  ASSERT_TRUE(is_reported(1));
  replace(file_, "a third one");
  ASSERT_TRUE(is_reported(2)) << "the new file is watched, too";
  write(file_, "rewritten in place");
  ASSERT_TRUE(is_reported(3));
  QTest::qWait(kNoReportMs);
  EXPECT_EQ(reports_, 3) << "once each";
  EXPECT_TRUE(exists_);
}

TEST_F(FileWatchTest, WaitsUntilAFileIsNoLongerWritten) {
  std::ofstream slow(file_, std::ios::binary);
  for (int part = 0; part < 10; ++part) {
    slow << "a part" << std::flush;
    QTest::qWait(150);
    EXPECT_EQ(reports_, 0) << part;
  }
  ASSERT_TRUE(is_reported(1));
  EXPECT_EQ(fs::file_size(file_), 60U);
}

TEST_F(FileWatchTest, ReportsARemovedFileUnlessItSoonReturns) {
  fs::remove(file_);
  QTest::qWait(700);
  write(file_, "written after a pause");
  ASSERT_TRUE(is_reported(1));
  EXPECT_TRUE(exists_);
  fs::remove(file_);
  ASSERT_TRUE(is_reported(2));
  EXPECT_FALSE(exists_);
}

TEST_F(FileWatchTest, ReportsChangesOfFilesInAFolder) {
  const fs::path folder = fs::path(folder_.path().toStdString()) / "checkpoint-5";
  fs::create_directory(folder);
  write(folder / "model.safetensors", "first");
  watch_.watch(folder);
  write(folder / "model.safetensors", "second");
  ASSERT_TRUE(is_reported(1));
  EXPECT_TRUE(exists_);
}

class WatchedFilesTest : public testing::Test {
 protected:
  void open_copy_of(const char* model) {
    fs::copy_file(sample(model), file_);
    session_.set_input((sample_data_folder() / "inputs/09_ankle_boot.png").string());
    session_.open(file_);
    ASSERT_TRUE(rests());
    ASSERT_EQ(open().state, State::ready) << open().error;
  }
  [[nodiscard]] static fs::path sample(const char* model) {
    return sample_data_folder() / "models" / model;
  }
  [[nodiscard]] bool rests() {
    return wait_until([this] { return session_.idle(); });
  }
  [[nodiscard]] bool says(const char* words) {
    return wait_until([&] { return open().file_change.find(words) != std::string::npos; },
                      kReports) &&
           rests();
  }
  [[nodiscard]] const OpenSubject& open(std::size_t place = 0) const {
    return session_.subjects().at(place);
  }
  /// Layer 1, head 2 of a model's maps.
  [[nodiscard]] std::vector<float> map(std::size_t place = 0) const {
    const Trace& trace = *open(place).subject.trace;
    std::vector<float> row(static_cast<std::size_t>(trace.keys(1)));
    trace.layers.at(1).implied_map.row(2, 0, 0, row);
    return row;
  }

  QTemporaryDir folder_;
  fs::path file_ = fs::path(folder_.path().toStdString()) / "model.h5";
  Session session_;
  WatchedFiles files_{session_};
};

TEST_F(WatchedFilesTest, ShowsAReplacedModelWithTheSameSelectionOverlaysAndView) {
  open_copy_of("fashion-softmax.h5");
  session_.overlay(open().id, {"adder", {}});
  session_.open(sample("fashion-adder.h5"));
  ASSERT_TRUE(rests());
  const std::vector<float> before = map(), overlaid = map(1), wanted = map(2);
  Selection selection = session_.selection();
  selection.layer = 1;
  selection.head = 2;
  selection.query = 5;
  session_.select(selection);
  ViewSettings view = session_.view();
  view.temperature = 2;
  session_.set_view(view);
  // A slow machine may read the file twice; former maps stay until a whole run is there.
  int arrived = 0;
  QObject::connect(&session_, &Session::trace_ready, &files_, [&](SubjectId subject) {
    ++arrived;
    for (const LayerTrace& layer : session_.trace(subject)->layers) {
      EXPECT_FALSE(layer.implied_map.empty());
    }
  });

  replace(file_, read_bytes(sample("fashion-adder.h5")));
  ASSERT_TRUE(says("read again"));
  EXPECT_FALSE(open().is_behind_file);
  EXPECT_NE(map(), before);
  EXPECT_EQ(map(), wanted);
  EXPECT_NE(map(1), overlaid) << "the overlay follows its model";
  EXPECT_EQ(map(1), wanted) << "adder attention on weights of adder attention";
  EXPECT_EQ(open(1).file_change, open().file_change);
  EXPECT_TRUE(open(2).file_change.empty()) << "another file";
  EXPECT_EQ(session_.selection(), selection);
  EXPECT_EQ(session_.view(), view);
  EXPECT_EQ(session_.subjects().size(), 3U);
  EXPECT_GE(arrived, 2);
}

TEST_F(WatchedFilesTest, KeepsTheFormerModelWhenTheNewFileCannotBeRead) {
  open_copy_of("fashion-softmax.h5");
  const std::shared_ptr<const Trace> before = session_.trace(open().id);
  replace(file_, "no model at all");
  ASSERT_TRUE(says("cannot be read"));
  EXPECT_NE(open().file_change.find("model.h5"), std::string::npos) << open().file_change;
  EXPECT_TRUE(open().is_behind_file);
  EXPECT_EQ(open().state, State::ready);
  EXPECT_EQ(session_.trace(open().id), before);
  replace(file_, read_bytes(sample("fashion-adder.h5")));
  ASSERT_TRUE(says("read again"));
  EXPECT_FALSE(open().is_behind_file);
  EXPECT_NE(session_.trace(open().id), before);
}

TEST_F(WatchedFilesTest, ReadsAHalfWrittenFileOnlyOnceItIsComplete) {
  open_copy_of("fashion-softmax.h5");
  const std::string bytes = read_bytes(sample("fashion-adder.h5"));
  fs::remove(file_);
  std::ofstream slow(file_, std::ios::binary);
  constexpr std::size_t kParts = 8;
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::size_t from = bytes.size() * part / kParts, to = bytes.size() * (part + 1) / kParts;
    slow.write(bytes.data() + from, static_cast<std::streamsize>(to - from));
    slow.flush();
    QTest::qWait(200);
    EXPECT_EQ(open().file_change, "") << part;
  }
  slow.close();
  ASSERT_TRUE(says("read again")) << open().file_change;
}

TEST_F(WatchedFilesTest, SaysThatAFileWasRemovedAndReadsTheNextOne) {
  open_copy_of("fashion-softmax.h5");
  fs::remove(file_);
  ASSERT_TRUE(says("removed"));
  EXPECT_TRUE(open().is_behind_file);
  EXPECT_EQ(open().state, State::ready);
  write(file_, read_bytes(sample("fashion-adder.h5")));
  ASSERT_TRUE(says("read again"));
}

TEST_F(WatchedFilesTest, ShowsAReplacedTrace) {
  write_trace(file_, sample_trace(2, 3, 3, 1));
  session_.open(file_);
  ASSERT_TRUE(rests());
  const std::vector<float> before = map();
  const fs::path other = fs::path(folder_.path().toStdString()) / "other.h5";
  write_trace(other, sample_trace(2, 3, 3, 1, 7));
  replace(file_, read_bytes(other));
  ASSERT_TRUE(says("read again"));
  EXPECT_NE(map(), before);
}

TEST_F(WatchedFilesTest, OpensAFailedFileOnceItIsThere) {
  session_.open(file_);
  ASSERT_TRUE(rests());
  ASSERT_EQ(open().state, State::failed);
  write_trace(file_, sample_trace(2, 3, 3, 1));
  EXPECT_TRUE(wait_until([this] { return open().state == State::ready; }, kReports));
}

TEST_F(WatchedFilesTest, UndoKeepsTheWeightsThatWereReadAgain) {
  open_copy_of("fashion-softmax.h5");
  History history(session_);
  ViewSettings view = session_.view();
  view.rank_threshold = 0.5;
  session_.set_view(view);
  replace(file_, read_bytes(sample("fashion-adder.h5")));
  ASSERT_TRUE(says("read again"));
  const std::shared_ptr<const Model> model = open().subject.model;
  const std::vector<float> now = map();
  history.undo();
  ASSERT_TRUE(rests());
  EXPECT_NE(session_.view().rank_threshold, 0.5);
  EXPECT_EQ(open().subject.model, model);
  EXPECT_EQ(map(), now);
}

}  // namespace
}  // namespace attnscope
