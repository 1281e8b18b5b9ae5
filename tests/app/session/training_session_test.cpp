// Networks trained in the session: their models follow, and saved trainings can be resumed.
#include "app/session/training_session.h"

#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/session/history.h"
#include "app/session/sample_data.h"
#include "app/session/session.h"
#include "core/error.h"
#include "tests/app/support/session_fixture.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

class TrainingSessionTest : public testing::Test {
 protected:
  [[nodiscard]] static PresetVariant variant(const std::string& mechanism, std::int64_t steps) {
    PresetVariant one;
    one.recipe = {{"mechanism", mechanism},        {"steps", steps},
                  {"depth", std::int64_t{2}},      {"width", std::int64_t{12}},
                  {"batch", std::int64_t{4}},      {"warm_up", std::int64_t{1}},
                  {"test_items", std::int64_t{4}}, {"probes", std::int64_t{1}},
                  {"checkpoints", std::int64_t{2}}};
    one.name = variant_name(one.recipe);
    return one;
  }
  [[nodiscard]] std::filesystem::path folder() const {
    return std::filesystem::path(folder_.path().toStdString()) / "runs";
  }
  [[nodiscard]] static std::string twelve() {
    return (sample_data_folder() / "inputs/twelve.npz").string();
  }
  void begin(std::int64_t steps) {
    session_.set_input((sample_data_folder() / "inputs/09_ankle_boot.png").string());
    training_.begin({variant("softmax", steps), variant("adder,identity=true", steps)}, twelve(),
                    folder());
  }
  [[nodiscard]] bool rests() {
    return wait_until(
        [this] { return !training_.is_running() && training_.settled() && session_.idle(); });
  }

  QTemporaryDir folder_;
  Session session_;
  TrainingSession training_{session_};
};

TEST_F(TrainingSessionTest, EachRunIsAModelWithItsCurrentWeights) {
  begin(1000000);
  ASSERT_TRUE(wait_until([this] {
    return session_.trace(subject_at(session_, 0)) && session_.trace(subject_at(session_, 1));
  }));
  EXPECT_EQ(session_.subjects()[0].subject.label, "softmax");
  EXPECT_EQ(session_.subjects()[1].subject.label, "adder + I");
  const std::shared_ptr<const Trace> before = session_.trace(subject_at(session_, 0));
  ASSERT_TRUE(wait_until([&] { return session_.trace(subject_at(session_, 0)) != before; }));
  EXPECT_EQ(session_.subjects().size(), 2U) << "the same subject, with other weights";
  EXPECT_FALSE(
      std::ranges::equal(session_.trace(subject_at(session_, 0))->layers[0].implied_map.entries(),
                         before->layers[0].implied_map.entries()));
  training_.pause();
  ASSERT_TRUE(rests());
  for (const TrainingSession::Run& run : training_.runs()) {
    EXPECT_EQ(run.moment.state, TrainingState::paused);
    EXPECT_EQ(run.shown->step, run.moment.step) << "paused, what is shown is the last";
  }
}

TEST_F(TrainingSessionTest, AnnouncesBurstsOnlyDuringTraining) {
  begin(1000000);
  int announced = 0;
  QObject::connect(&session_, &Session::weights_coming, &session_, [&] { ++announced; });
  ASSERT_TRUE(wait_until([&] { return announced >= 2; }));
  training_.pause();
  ASSERT_TRUE(rests());
  const int before = announced;
  QTest::qWait(1200);
  EXPECT_EQ(announced, before) << "nobody learns";
}

TEST_F(TrainingSessionTest, StepsAreMadeOneByOne) {
  begin(1000000);
  training_.pause();
  ASSERT_TRUE(rests());
  const std::int64_t before = training_.runs()[1].moment.step;
  training_.advance();
  ASSERT_TRUE(wait_until([&] { return training_.runs()[1].moment.step == before + 1; }));
  ASSERT_TRUE(rests());
  EXPECT_EQ(training_.runs()[1].moment.step, before + 1);
}

TEST_F(TrainingSessionTest, KeepsNetworksInStepOnRequest) {
  training_.keep_in_step(true);
  begin(1000000);
  ASSERT_TRUE(wait_until([this] { return training_.runs()[0].moment.step >= 5; }));
  const auto step = [this](std::size_t run) {
    return training_.runs()[run].training->moment().step;
  };
  const std::int64_t before = step(0), other = step(1), after = step(0);
  EXPECT_LE(before, other + 1);
  EXPECT_GE(after + 1, other);
  training_.stop();
  ASSERT_TRUE(wait_until([this] { return !training_.is_saving(); })) << "none waits for another";
  EXPECT_TRUE(training_.keeps_in_step()) << "and the next ones keep in step too";
}

TEST_F(TrainingSessionTest, ResumesCancelledTrainingFromItsFolder) {
  begin(1000000);
  ASSERT_TRUE(wait_until([this] {
    return training_.runs()[0].moment.step >= 3 && training_.runs()[1].moment.step >= 3 &&
           session_.subjects().size() == 2;
  }));
  training_.stop();
  EXPECT_FALSE(training_.is_on());
  ASSERT_TRUE(wait_until([this] { return session_.idle(); }));
  for (const OpenSubject& open : session_.subjects()) {
    EXPECT_TRUE(std::filesystem::exists(open.file)) << open.file << ": opens as any model";
  }
  training_.open(folder());
  ASSERT_TRUE(wait_until([this] {
    return training_.runs().size() == 2 &&
           training_.runs()[0].moment.state == TrainingState::paused &&
           training_.runs()[1].moment.state == TrainingState::paused;
  }));
  EXPECT_GE(training_.runs()[0].moment.step, 3);
}

TEST_F(TrainingSessionTest, TheRateCanBeChangedWhileTheyLearn) {
  begin(1000000);
  training_.set_rate_factor(0.5);
  ASSERT_TRUE(wait_until([this] { return training_.runs()[0].moment.rate_factor == 0.5; }));
  EXPECT_THROW(training_.set_rate_factor(-1), Error);
}

TEST_F(TrainingSessionTest, UndoLeavesTheWeightsUnchanged) {
  begin(8);
  ASSERT_TRUE(wait_until([this] { return session_.subjects().size() == 2; }));
  History history(session_);
  ViewSettings view = session_.view();
  view.colour_map = "magma";
  session_.set_view(view);
  ASSERT_TRUE(rests());
  const std::shared_ptr<const Model> model = session_.subjects()[0].subject.model;
  EXPECT_EQ(history.undo_text(), "change of the view") << "what is learned is no step of it";
  history.undo();
  ASSERT_TRUE(wait_until([this] { return session_.idle(); }));
  EXPECT_EQ(session_.view().colour_map, "viridis");
  EXPECT_EQ(session_.subjects()[0].subject.model, model);
}

TEST_F(TrainingSessionTest, ABadRecipeMakesNoFolder) {
  PresetVariant bad = variant("softmax", 10);
  bad.recipe["model_heads"] = std::int64_t{5};
  EXPECT_THAT(error_of([&] {
                training_.begin({variant("adder", 10), bad}, twelve(), folder());
              }),
              testing::StartsWith("softmax, model_heads: "));
  EXPECT_FALSE(std::filesystem::exists(folder()));
  EXPECT_THROW(training_.open(folder()), Error);
}

TEST(TrainingPresets, AreEnabledIfTheirMechanismsHaveGradients) {
  const std::vector<TrainingPreset> presets = training_presets();
  ASSERT_FALSE(presets.empty());
  EXPECT_EQ(presets.front().name, "The Adder paper");
  EXPECT_EQ(presets.front().variants.size(), 3U);
  EXPECT_EQ(presets.front().why_not, "");
  const std::vector<std::string> trainable = trainable_mechanisms();
  for (const TrainingPreset& preset : presets) {
    const bool all = std::ranges::all_of(preset.variants, [&](const PresetVariant& one) {
      const std::string mechanism = to_string(one.recipe.at("mechanism"));
      return std::ranges::find(trainable, mechanism) != trainable.end();
    });
    EXPECT_EQ(all, preset.why_not.empty()) << preset.name << ": " << preset.why_not;
    EXPECT_TRUE(all) << preset.name;
  }
  const auto widths = std::ranges::find(presets, "Head width", &TrainingPreset::name);
  ASSERT_NE(widths, presets.end());
  std::vector<std::string> names;
  for (const PresetVariant& one : widths->variants) names.push_back(one.name);
  EXPECT_THAT(names, testing::ElementsAre("softmax, d = 16", "adder, d = 16", "softmax, d = 48",
                                          "adder, d = 48"));
  EXPECT_EQ(variant_name({{"mechanism", std::string("hash,codes=sign")}}), "hash by signs");
  EXPECT_EQ(variant_name({{"mechanism", std::string("daft-conv,full_keys=true")}}), "daft-conv");
}

}  // namespace
}  // namespace attnscope
