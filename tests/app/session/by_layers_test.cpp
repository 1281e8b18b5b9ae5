// Maps and ranks that appear while the rest is still computed and stay if that is cancelled.
#include <QSignalSpy>
#include <QTemporaryDir>
#include <gtest/gtest.h>
#include <thread>

#include "app/session/job_queue.h"
#include "app/session/prediction.h"
#include "app/session/sample_data.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"
#include "app/session/spectrum_store.h"
#include "app/session/subject_run.h"
#include "core/error.h"
#include "tests/app/support/session_fixture.h"
#include "tests/support/model_shapes.h"

namespace attnscope {
namespace {

using State = OpenSubject::State;

class ByLayers : public testing::Test {
 protected:
  /// Opens a model of twenty-four layers with 785 tokens, which takes half a second or more.
  SubjectId open_slow_model() {
    const std::filesystem::path file = folder_.path().toStdString() + "/slow.safetensors";
    write_hashed_safetensors(
        file,
        timm_shapes({.width = 192, .layers = 24, .image = 224, .patch = 8, .mlp_width = 768}));
    session_.set_input((sample_data_folder() / "inputs/09_ankle_boot.png").string());
    return session_.open(file);
  }
  [[nodiscard]] const OpenSubject& subject() const { return session_.subjects().front(); }
  bool wait() {
    return wait_until([this] { return session_.idle(); }, 400);
  }

  QTemporaryDir folder_;
  Session session_;
};

TEST_F(ByLayers, MapsAppearWhileTheModelRuns) {
  QSignalSpy ready(&session_, &Session::trace_ready);
  const SubjectId id = open_slow_model();
  ASSERT_TRUE(wait_until([&] { return session_.trace(id) != nullptr; }, 240)) << subject().error;
  EXPECT_EQ(subject().state, State::running);
  ASSERT_TRUE(subject().layers_so_far);
  const std::shared_ptr<const Trace> first = session_.trace(id);
  ASSERT_EQ(first->layers.size(), 24U);
  EXPECT_GT(first->heads(0), 0);
  EXPECT_EQ(first->heads(*subject().layers_so_far), 0) << "what is not done is not there";
  EXPECT_FALSE(prediction_of(subject().subject, 1));
  const std::string name = request_of(session_).subjects.front().label;
  EXPECT_TRUE(name.ends_with(" of 24 layers)")) << name;
  ASSERT_TRUE(wait());
  EXPECT_EQ(subject().state, State::ready);
  EXPECT_FALSE(subject().layers_so_far);
  EXPECT_GT(session_.trace(id)->heads(23), 0);
  EXPECT_GE(ready.count(), 2);
  EXPECT_TRUE(std::ranges::equal(session_.trace(id)->layers[0].implied_map.entries(),
                                 first->layers[0].implied_map.entries()));
}

TEST_F(ByLayers, KeepsLayersWhenCancelledAndResumed) {
  const SubjectId id = open_slow_model();
  ASSERT_TRUE(wait_until([&] { return session_.trace(id) != nullptr; }, 240));
  session_.jobs().cancel_all();
  ASSERT_TRUE(wait());
  EXPECT_TRUE(subject().stopped);
  EXPECT_EQ(subject().state, State::ready);
  ASSERT_TRUE(subject().layers_so_far);
  const std::int64_t done = *subject().layers_so_far;
  ASSERT_TRUE(session_.trace(id));
  EXPECT_GT(session_.trace(id)->heads(done - 1), 0);
  session_.resume();
  EXPECT_EQ(subject().state, State::running);
  EXPECT_FALSE(subject().stopped);
  EXPECT_TRUE(session_.trace(id)) << "stays until there is more";
  ASSERT_TRUE(wait());
  EXPECT_GT(session_.trace(id)->heads(23), 0);
  EXPECT_FALSE(subject().layers_so_far);
}

TEST_F(ByLayers, KeepsTheSelectionDuringARun) {
  const SubjectId id = open_slow_model();
  ASSERT_TRUE(wait());
  session_.select_map(id, 23, 2);
  // The state with only some layers may last only a moment. The signal is counted instead.
  QSignalSpy shown(&session_, &Session::trace_ready);
  session_.set_input((sample_data_folder() / "inputs/00_t_shirt.png").string());
  ASSERT_TRUE(wait_until([&] { return shown.count() > 0; }, 240));
  ASSERT_TRUE(wait());
  EXPECT_EQ(session_.selection().layer, 23);
  EXPECT_EQ(session_.selection().head, 2);
}

TEST(TraceSoFar, RefusesMapsThatAreTooLargeToKeep) {
  const Trace trace = sample_trace(3, 2, 4, 1);
  const std::int64_t a_layer = trace.layers[0].implied_map.bytes();
  TraceSoFar so_far(2 * a_layer, [](auto, auto) {});
  so_far.take(trace, 0);
  so_far.take(trace, 1);
  EXPECT_THROW(so_far.take(trace, 2), Error);
}

TEST(TraceSoFar, HandsOverGrowingCopiesAndNeverTheLastLayer) {
  const Trace trace = sample_trace(4, 2, 4, 1);
  std::vector<std::int64_t> handed_over;
  TraceSoFar so_far(std::int64_t{1} << 30, [&](const auto& copy, std::int64_t layers) {
    EXPECT_EQ(copy->layers.size(), 4U);
    handed_over.push_back(layers);
  });
  so_far.take(trace, 0);
  so_far.take(trace, 1);
  EXPECT_TRUE(handed_over.empty());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  so_far.take(trace, 2);
  so_far.take(trace, 3);
  EXPECT_EQ(handed_over, std::vector<std::int64_t>{3});
}

TEST_F(ByLayers, RanksMayBeUnwantedWhileTheyAreFound) {
  auto store = std::make_unique<SpectrumStore>(session_);
  const SubjectId id =
      session_.add_trace(std::make_shared<const Trace>(sample_trace(12, 12, 14, 1)), "large");
  ASSERT_TRUE(wait_until([&] { return store->of(id) != nullptr; }, 240));
  store.reset();  // a window that is closed does the same; the job goes on
  EXPECT_TRUE(wait());
}

class SpectraByLayers : public ByLayers {
 protected:
  SpectrumStore store_{session_};
};

TEST_F(SpectraByLayers, RanksAppearLayerByLayer) {
  const auto trace = std::make_shared<const Trace>(sample_trace(12, 12, 14, 1));
  std::vector<std::int64_t> known;
  const auto note = [&](SubjectId id) {
    if (store_.known(id)) known.push_back(store_.known(id)->layers);
  };
  QObject::connect(&store_, &SpectrumStore::spectra_ready, &session_, note);
  const SubjectId id = session_.add_trace(trace, "large");
  ASSERT_TRUE(wait());
  ASSERT_GE(known.size(), 3U);
  EXPECT_LT(known.front(), 12);
  EXPECT_TRUE(std::ranges::is_sorted(known));
  EXPECT_EQ(known.back(), 12);
  const std::vector<MapSpectrum> at_once = spectra_without_and_with_identity(*trace)[1];
  const std::vector<MapSpectrum>& with = store_.of(id)->with;
  ASSERT_EQ(with.size(), at_once.size());
  for (std::size_t i = 0; i < with.size(); ++i) {
    EXPECT_EQ(with[i].layer, at_once[i].layer);
    EXPECT_EQ(with[i].head, at_once[i].head);
    EXPECT_EQ(with[i].singular_values, at_once[i].singular_values);
  }
}

TEST_F(SpectraByLayers, RanksThatWereFoundStayWhenTheRestIsStopped) {
  const SubjectId id =
      session_.add_trace(std::make_shared<const Trace>(sample_trace(12, 12, 14, 1)), "large");
  ASSERT_TRUE(wait_until([&] { return store_.of(id) != nullptr; }, 240));
  session_.jobs().cancel_all();
  ASSERT_TRUE(wait());
  EXPECT_TRUE(store_.is_stopped(id));
  ASSERT_TRUE(store_.known(id));
  const std::int64_t before = store_.known(id)->layers;
  EXPECT_LT(before, 12);
  EXPECT_EQ(store_.known(id)->of, 12);
  const FigureRequest request = with_spectra(session_, store_);
  EXPECT_EQ(request.subjects.front().label, "large (" + std::to_string(before) + " of 12 layers)");
  store_.resume();
  EXPECT_EQ(store_.known(id)->layers, before) << "found once";
  ASSERT_TRUE(wait());
  EXPECT_EQ(store_.known(id)->layers, 12);
  EXPECT_FALSE(store_.is_stopped(id));
}

TEST_F(SpectraByLayers, DoesNotRecomputeUnchangedLayers) {
  Trace trace = sample_trace(3, 2, 4, 1);
  const auto first = std::make_shared<const Trace>(trace);
  trace.layers[2].implied_map.entries()[0] += 0.5F;
  const SubjectId id = session_.add_trace(first, "one");
  ASSERT_TRUE(wait());
  const std::vector<double> top = store_.of(id)->without.front().singular_values;
  const std::vector<double> last = store_.of(id)->without[4].singular_values;  // layer 2, head 0
  // The new trace replaces that of the same model.
  SessionState state = session_.state();
  state.subjects.front().subject.trace = std::make_shared<const Trace>(trace);
  session_.set_state(state);
  ASSERT_TRUE(store_.known(id));
  EXPECT_EQ(store_.known(id)->layers, 2);
  ASSERT_TRUE(wait());
  EXPECT_EQ(store_.known(id)->layers, 3);
  EXPECT_EQ(store_.of(id)->without.front().singular_values, top);
  EXPECT_NE(store_.of(id)->without[4].singular_values, last);
}

}  // namespace
}  // namespace attnscope
