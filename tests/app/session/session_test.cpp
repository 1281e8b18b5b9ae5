#include "app/session/session.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>

#include "app/session/job_queue.h"
#include "app/session/spectrum_store.h"
#include "core/error.h"
#include "core/trace/trace_file.h"
#include "tests/app/support/session_fixture.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using State = OpenSubject::State;

class SessionTest : public testing::Test {
 protected:
  std::filesystem::path folder() const { return folder_.path().toStdString(); }
  std::filesystem::path write_sample(const std::string& name) {
    const std::filesystem::path file = folder() / name;
    write_trace(file, sample_trace(2, 3, 3, 1));
    return file;
  }
  SubjectId id(std::size_t place) const { return subject_at(session_, place); }
  bool wait() {
    return wait_until([this] { return session_.idle(); });
  }
  QTemporaryDir folder_;
  Session session_;
};

TEST_F(SessionTest, OpensATraceInTheBackground) {
  QSignalSpy ready(&session_, &Session::trace_ready);
  const SubjectId opened = session_.open(write_sample("maps.h5"));
  EXPECT_EQ(opened, id(0));
  EXPECT_EQ(session_.place_of(opened), 0);
  EXPECT_EQ(session_.subjects()[0].state, State::loading);
  ASSERT_TRUE(wait());
  EXPECT_EQ(session_.subjects()[0].state, State::ready) << session_.subjects()[0].error;
  EXPECT_EQ(session_.subjects()[0].subject.label, "maps");
  EXPECT_EQ(session_.trace(id(0))->heads(), 3);
  EXPECT_EQ(ready.count(), 1);
}

TEST_F(SessionTest, AFileThatCannotBeOpenedIsAFailedSubject) {
  session_.open(write_sample("maps.h5"));
  session_.open(folder() / "nothing.safetensors");
  ASSERT_TRUE(wait());
  EXPECT_EQ(session_.subjects()[0].state, State::ready);
  EXPECT_EQ(session_.subjects()[1].state, State::failed);
  EXPECT_NE(session_.subjects()[1].error.find("nothing.safetensors"), std::string::npos);
}

TEST_F(SessionTest, ReloadingOpensAFileThatIsThereNow) {
  session_.open(folder() / "late.h5");
  ASSERT_TRUE(wait());
  ASSERT_EQ(session_.subjects()[0].state, State::failed);
  write_sample("late.h5");
  session_.reload(id(0));
  ASSERT_TRUE(wait());
  EXPECT_EQ(session_.subjects()[0].state, State::ready) << session_.subjects()[0].error;
}

TEST_F(SessionTest, ReloadingReadsTheCurrentFile) {
  const std::filesystem::path file = folder() / "model.npz";
  const std::string data = source_folder() + "/tests/data/sweep/";
  std::filesystem::copy_file(data + "model.npz", file);
  const ModelOptions options{{{"heads", "2"}, {"crop_fraction", "1"}}, {}};
  session_.open(file, options);
  session_.set_input(data + "images.npz#0");
  ASSERT_TRUE(wait());
  ASSERT_EQ(session_.subjects()[0].state, State::ready) << session_.subjects()[0].error;
  const auto before = session_.subjects()[0].subject.model;
  session_.reload(id(0));
  EXPECT_EQ(session_.subjects()[0].state, State::loading);
  ASSERT_TRUE(wait());
  EXPECT_EQ(session_.subjects()[0].state, State::ready) << session_.subjects()[0].error;
  EXPECT_NE(session_.subjects()[0].subject.model, before) << "what was read before is not used";
}

TEST_F(SessionTest, ASubjectClosedWhileItOpensStaysClosed) {
  session_.open(write_sample("a.h5"));
  session_.open(write_sample("b.h5"));
  session_.close(id(0));
  ASSERT_TRUE(wait());
  ASSERT_EQ(session_.subjects().size(), 1U);
  EXPECT_EQ(session_.subjects()[0].subject.label, "b");
}

TEST_F(SessionTest, SelectionKeepsWithinTheSubject) {
  session_.add_trace(std::make_shared<const Trace>(sample_trace(2, 3, 3, 1)), "sample");
  Selection selection;
  selection.layer = 9;
  selection.head = -1;
  selection.query = 1000;
  selection.hover = {id(0), 1, 2, 2, 10};
  session_.select(selection);
  EXPECT_EQ(session_.selection().layer, 1);
  EXPECT_EQ(session_.selection().head, 0);
  EXPECT_EQ(session_.selection().query, 9);
  EXPECT_FALSE(session_.selection().hover.has_value()) << "there is no key 10";
  selection.hover->key = 9;
  session_.select(selection);
  EXPECT_EQ(session_.selection().hover, selection.hover);
}

TEST_F(SessionTest, ClosingKeepsTheSelectedSubject) {
  for (const char* name : {"a", "b", "c"}) {
    session_.add_trace(std::make_shared<const Trace>(sample_trace(1, 1, 2, 1)), name);
  }
  Selection selection;
  selection.subject = id(2);
  session_.select(selection);
  session_.close(id(0));
  EXPECT_EQ(session_.selection().subject, id(1));
  EXPECT_EQ(session_.subjects()[1].subject.label, "c");
}

TEST_F(SessionTest, AnInputThatCannotBeOpenedIsKeptWithItsError) {
  session_.set_input((folder() / "missing.png").string());
  ASSERT_TRUE(wait());
  EXPECT_FALSE(session_.input());
  EXPECT_NE(session_.input_error().find("missing.png"), std::string::npos);
  EXPECT_EQ(session_.input_locator(), (folder() / "missing.png").string());
}

TEST_F(SessionTest, SavesAndRestoresEverything) {
  session_.open(write_sample("a.h5"));
  session_.open(write_sample("b.h5"));
  ASSERT_TRUE(wait());
  Selection selection;
  selection.subject = id(1);
  selection.layer = 1;
  selection.head = 2;
  selection.query = 4;
  session_.select(selection);
  ViewSettings view;
  view.identity = IdentityView::with;
  view.rank_threshold = {0.8, RankShare::energy};
  view.norm = ScaleNorm::logarithmic;
  view.head_fusion = HeadFusion::maximum;
  view.range_maximum = 0.25;
  view.comparison = ComparisonView::wipe;
  view.wipe_position = 0.25;
  view.layer_alignment = LayerAlignment::by_depth;
  view.match_heads = true;
  view.matrix = {.of = MatrixKind::output, .centred = true, .added = Added::residual};
  session_.set_view(view);
  session_.set_reference(id(1));
  session_.save(folder() / "session.json");
  // Files have the names of flags and settings.
  EXPECT_NE(read_bytes(folder() / "session.json").find("\"norm\": \"log\""), std::string::npos);

  Session other;
  other.restore(folder() / "session.json");
  ASSERT_TRUE(wait_until([&] { return other.idle(); }));
  ASSERT_EQ(other.subjects().size(), 2U);
  EXPECT_EQ(other.subjects()[1].state, State::ready);
  EXPECT_EQ(other.subjects()[1].subject.label, "b");
  selection.subject = subject_at(other, 1);
  EXPECT_EQ(other.selection(), selection);
  EXPECT_EQ(other.view(), view);
  EXPECT_EQ(other.reference(), subject_at(other, 1));
}

TEST_F(SessionTest, SavesAReferenceThatIsTheFirst) {
  session_.open(write_sample("a.h5"));
  session_.open(write_sample("b.h5"));
  ASSERT_TRUE(wait());
  session_.set_reference(id(0));
  session_.save(folder() / "session.json");
  Session other;
  other.restore(folder() / "session.json");
  ASSERT_TRUE(wait_until([&] { return other.idle(); }));
  EXPECT_EQ(other.reference(), subject_at(other, 0));
}

TEST_F(SessionTest, RefusesEveryOtherVersion) {
  const std::filesystem::path file = folder() / "session.json";
  const auto restore_version = [&](const std::string& version) {
    std::ofstream(file) << R"({"attnscope_session": )" + version + R"(, "subjects": []})";
    session_.restore(file);
    return 0;
  };
  EXPECT_EQ(error_of([&] { return restore_version("2"); }), "");
  for (const char* version : {"0", "1", "3", "2.5", "true", "\"2\""}) {
    const std::string found = std::string("version ") + version;
    expect_refusal([&] { return restore_version(version); }, ErrorKind::unsupported, found, file);
    EXPECT_NE(error_of([&] { return restore_version(version); }).find("expected version 2,"),
              std::string::npos);
  }
}

TEST_F(SessionTest, TheReferenceStaysPinnedUntilItIsClosed) {
  for (const char* name : {"a", "b", "c"}) {
    session_.add_trace(std::make_shared<const Trace>(sample_trace(1, 1, 2, 1)), name);
  }
  EXPECT_EQ(session_.reference(), SubjectId::none);
  QSignalSpy changed(&session_, &Session::reference_changed);
  session_.set_reference(id(1));
  session_.set_reference(id(1));
  EXPECT_EQ(changed.count(), 1);
  session_.close(id(0));
  EXPECT_EQ(session_.reference(), id(0));
  EXPECT_EQ(changed.count(), 1);
  session_.close(id(0));
  EXPECT_EQ(session_.reference(), SubjectId::none);
  EXPECT_EQ(changed.count(), 2);
  session_.set_reference(static_cast<SubjectId>(77));
  EXPECT_EQ(session_.reference(), SubjectId::none);
}

TEST_F(SessionTest, ModelOptionsOverlaysAndInputSurviveEvenForMissingFiles) {
  ModelOptions options;
  options.overrides = {{"heads", "6"}};
  options.description = folder() / "mine.json";
  session_.open(folder() / "gone.pth", options);
  ASSERT_TRUE(wait());
  MechanismChoice adder;
  adder.name = "adder";
  adder.parameters = {{"identity", true}, {"scale", 2.5}, {"bits", std::int64_t{16}}};
  session_.set_overlay(id(0), adder);
  session_.set_input((folder() / "set.npz").string() + "#17");
  ASSERT_TRUE(wait());
  session_.save(folder() / "session.json");

  Session other;
  other.restore(folder() / "session.json");
  ASSERT_TRUE(wait_until([&] { return other.idle(); }));
  ASSERT_EQ(other.subjects().size(), 1U);
  EXPECT_EQ(other.subjects()[0].state, State::failed);
  EXPECT_EQ(other.subjects()[0].options, options);
  EXPECT_EQ(other.subjects()[0].overlay, adder);
  EXPECT_EQ(other.input_locator(), (folder() / "set.npz").string() + "#17");
}

TEST_F(SessionTest, ASessionMovesTogetherWithItsFiles) {
  std::filesystem::create_directory(folder() / "here");
  session_.open(write_sample("here/a.h5"));
  ASSERT_TRUE(wait());
  session_.save(folder() / "here" / "session.json");
  std::filesystem::rename(folder() / "here", folder() / "there");
  Session other;
  other.restore(folder() / "there" / "session.json");
  ASSERT_TRUE(wait_until([&] { return other.idle(); }));
  EXPECT_EQ(other.subjects()[0].state, State::ready) << other.subjects()[0].error;
}

TEST_F(SessionTest, ABrokenSessionFileLeavesTheOpenSessionUnchanged) {
  session_.open(write_sample("a.h5"));
  ASSERT_TRUE(wait());
  const char* texts[] = {"{",
                         "{}",
                         "[1]",
                         R"({"attnscope_session": 99, "subjects": []})",
                         R"({"attnscope_session": 2, "subjects": [{"file": 3}]})",
                         R"({"attnscope_session": 2, "subjects": [], "view": {"norm": "cubic"}})"};
  for (const char* text : texts) {
    std::ofstream(folder() / "broken.json") << text;
    const std::string line = error_of([&] {
      session_.restore(folder() / "broken.json");
      return 0;
    });
    EXPECT_NE(line.find("broken.json: "), std::string::npos) << text << "\n" << line;
    EXPECT_EQ(line.find("json.exception"), std::string::npos) << line;
  }
  EXPECT_THROW(session_.restore(folder() / "no-such.json"), Error);
  ASSERT_EQ(session_.subjects().size(), 1U);
  EXPECT_EQ(session_.subjects()[0].state, State::ready);
}

TEST_F(SessionTest, KeepsSpectraWithoutAndWithIdentity) {
  SpectrumStore store(session_);
  session_.open(write_sample("a.h5"));
  EXPECT_FALSE(store.of(id(0)));
  ASSERT_TRUE(wait());
  const auto spectra = store.of(id(0));
  ASSERT_TRUE(spectra) << store.error_of(id(0));
  ASSERT_EQ(spectra->without.size(), 6U);
  EXPECT_FALSE(find_spectrum(spectra->without, 1, 2)->identity);
  EXPECT_TRUE(find_spectrum(spectra->with, 1, 2)->identity);
  EXPECT_GE(mean_equivalent_rank(spectra->with, 0.9), mean_equivalent_rank(spectra->without, 0.9));
  session_.close(id(0));
  EXPECT_FALSE(store.of(id(0)));
}

TEST_F(SessionTest, MapsWithoutASpectrumHaveNoMeanRank) {
  Trace trace = sample_trace(1, 1, 2, 1);
  trace.layers[0].implied_map.values()[3] = std::numeric_limits<float>::quiet_NaN();
  SpectrumStore store(session_);
  session_.add_trace(std::make_shared<const Trace>(trace), "broken");
  ASSERT_TRUE(wait());
  ASSERT_TRUE(store.of(id(0)));
  EXPECT_EQ(store.of(id(0))->without[0].state, SpectrumState::not_finite);
  EXPECT_TRUE(std::isnan(mean_equivalent_rank(store.of(id(0))->without, 0.9)));
}

}  // namespace
}  // namespace attnscope
