// A training on its own thread: control from outside, snapshots, and agreement with `train`.
#include "analysis/training/live_training.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <thread>

#include "core/error.h"
#include "tests/support/folder_bytes.h"
#include "tests/support/small_data_set.h"
#include "tests/support/small_recipe.h"

namespace attnscope {
namespace {

/// Waits up to 3 minutes until `holds` is true; returns whether it became true. Trainings have the
/// lowest priority, so on a busy machine other tests leave them little time.
bool soon(const std::function<bool()>& holds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(3);
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

class LiveTrainingTest : public testing::Test {
 protected:
  [[nodiscard]] RunFolder begun(const char* name, std::int64_t steps = 40) const {
    const RunFolder folder{folder_ / name / "run"};
    begin_run_folder(folder, Recipe(small_recipe({{"dataset", data_},
                                                  {"steps", steps},
                                                  {"save_every", std::int64_t{7}},
                                                  {"probe_every", std::int64_t{5}}})));
    return folder;
  }

  TemporaryFolder folder_, sources_;
  std::string data_ = write_small_data_set(sources_).string();
};

TEST_F(LiveTrainingTest, HasTheBytesOfTrainWhenSteppedPausedAndResumed) {
  const RunFolder whole = begun("a"), live = begun("b");
  (void)train(whole, {});
  {
    LiveTraining training(live);
    training.wait();
    EXPECT_EQ(training.moment().state, TrainingState::paused);
    EXPECT_EQ(training.moment().step, 0);
    training.advance();
    training.wait();
    EXPECT_EQ(training.moment().step, 1);
    training.advance(12);
    training.wait();
    EXPECT_EQ(training.moment().step, 13);
    EXPECT_EQ(training.moment().state, TrainingState::paused);
    EXPECT_EQ(training.log()->tables().at("steps/loss").rows(), 13);
    training.start();
    training.pause();
  }
  LiveTraining again(live);
  again.start();
  again.wait();
  EXPECT_EQ(again.moment().state, TrainingState::finished);
  EXPECT_EQ(again.moment().step, 40);
  EXPECT_GT(again.moment().examples_per_second, 0);
  EXPECT_EQ(again.log()->tables().at("probes/step").numbers.back(), 40);
  EXPECT_EQ(folder_bytes(whole.folder), folder_bytes(live.folder));
}

TEST_F(LiveTrainingTest, KeepsItsWeightsInTheFolder) {
  LiveTraining training(begun("a"));
  training.advance(9);
  training.wait();
  training.check_point();
  training.wait();
  const auto snapshot = training.snapshot();
  ASSERT_EQ(snapshot->step, 9);
  const auto model = model_of(snapshot, training.folder());
  const auto kept = load_model(training.folder().model(9));
  EXPECT_EQ(model->name(), kept->name());
  EXPECT_EQ(model->file(), kept->file());
  EXPECT_EQ(to_string(model->spec().mechanism), to_string(kept->spec().mechanism));
  const auto data = open_training_data(training.recipe().data());
  const Input input = data->test_input(1);
  const Trace found = model->run(input, model->spec().mechanism, {}, {});
  const Trace expected = kept->run(input, kept->spec().mechanism, {}, {});
  EXPECT_TRUE(std::ranges::equal(found.logits.values(), expected.logits.values()));
  // An earlier snapshot does not change.
  training.advance(3);
  training.wait();
  EXPECT_NE(training.snapshot(), snapshot);
  const Trace later = model->run(input, model->spec().mechanism, {}, {});
  EXPECT_TRUE(std::ranges::equal(later.logits.values(), expected.logits.values()));
}

TEST_F(LiveTrainingTest, TheRateIsChangedWhileItRunsAndStaysChanged) {
  const RunFolder folder = begun("a");
  {
    LiveTraining training(folder);
    training.advance(10);
    training.wait();
    const double before = training.moment().rate;
    training.set_rate_factor(0.25);
    training.wait();
    EXPECT_EQ(training.moment().rate_factor, 0.25);
    EXPECT_NEAR(training.moment().rate, before / 4, before * 1e-9);
    training.advance();
    training.wait();
    EXPECT_NEAR(training.log()->tables().at("steps/rate").numbers.back(), before / 4,
                before * 1e-9);
    EXPECT_THROW(training.set_rate_factor(-1), Error);
    EXPECT_THROW(training.set_rate_factor(std::nan("")), Error);
  }
  LiveTraining again(folder);
  again.wait();
  EXPECT_EQ(again.moment().rate_factor, 0.25);
  EXPECT_EQ(again.log()->tables().at("changes/step").numbers, std::vector<double>{10});
}

TEST_F(LiveTrainingTest, CanBeReadByOtherThreadsDuringTraining) {
  LiveTraining training(begun("a", 100000));
  training.start();
  std::int64_t seen = 0, models = 0;
  EXPECT_TRUE(soon([&] {
    training.ask_for_news();
    const auto snapshot = training.snapshot();
    if (snapshot && snapshot->step > seen) {
      seen = snapshot->step;
      ++models;
      EXPECT_EQ(model_of(snapshot, training.folder())->spec().width, 12);
      const auto& tables = training.log()->tables();
      EXPECT_EQ(tables.at("steps/loss").rows(), tables.at("steps/step").rows());
    }
    return models == 3;
  }));
  EXPECT_EQ(training.moment().state, TrainingState::running);
  training.pause();
  training.wait();
  EXPECT_EQ(training.moment().state, TrainingState::paused);
  EXPECT_EQ(training.snapshot()->step, training.moment().step);
}

TEST_F(LiveTrainingTest, ReportsNewsOnRequest) {
  LiveTraining training(begun("a", 100000));
  training.wait();
  const auto before = training.snapshot();
  training.start();
  ASSERT_TRUE(soon([&] { return training.moment().step >= 5; }));
  EXPECT_EQ(training.snapshot(), before) << "nobody asked";
  const std::int64_t step = training.moment().step;
  training.ask_for_news();
  ASSERT_TRUE(soon([&] { return training.snapshot() != before; }));
  EXPECT_GE(training.snapshot()->step, step);
  EXPECT_EQ(training.log()->tables().at("steps/step").numbers.back(),
            static_cast<double>(training.snapshot()->step));
}

/// A pace that keeps its trainings in step.
std::shared_ptr<TrainingPace> in_step() {
  auto pace = std::make_shared<TrainingPace>();
  pace->keep_in_step(true);
  return pace;
}

TEST_F(LiveTrainingTest, KeepsInStepUntilToldNotTo) {
  const auto pace = in_step();
  LiveTraining fast(begun("fast", 100000), pace);
  const RunFolder slow_folder{folder_ / "slow" / "run"};
  begin_run_folder(slow_folder, Recipe(small_recipe({{"dataset", data_},
                                                     {"steps", std::int64_t{100000}},
                                                     {"batch", std::int64_t{60}},
                                                     {"depth", std::int64_t{6}}})));
  LiveTraining slow(slow_folder, pace);
  fast.start();
  slow.start();
  ASSERT_TRUE(soon([&] { return slow.moment().step >= fast.moment().step; })) << "begun together";
  for (int i = 0; i < 200; ++i) {
    // The slow one is read between two looks at the fast one, which only grow.
    const std::int64_t before = fast.moment().step, its = slow.moment().step;
    const std::int64_t after = fast.moment().step;
    EXPECT_LE(before, its + 1);
    EXPECT_GE(after + 1, its);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_TRUE(soon([&] { return slow.moment().step >= 3; }));
  // The news come while it waits, too.
  fast.ask_for_news();
  EXPECT_TRUE(soon([&] { return fast.snapshot()->step >= 2; }));
  pace->keep_in_step(false);
  // Either may be the faster one: `fast` also writes its state, which takes long on a slow disk.
  EXPECT_TRUE(soon([&] {
    const std::int64_t before = fast.moment().step, its = slow.moment().step;
    return before > its + 3 || its > fast.moment().step + 3;
  }));
}

TEST_F(LiveTrainingTest, CatchesUpBeforeOthersContinue) {
  const auto pace = in_step();
  LiveTraining ahead(begun("ahead"), pace), behind(begun("behind"), pace);
  ahead.advance(9);
  ahead.wait();
  EXPECT_EQ(ahead.moment().step, 9) << "nobody else learns";
  behind.advance(12);
  ahead.advance(3);
  ahead.wait();
  EXPECT_GE(behind.moment().step, 11);
  behind.wait();
  EXPECT_EQ(ahead.moment().step, 12);
  EXPECT_EQ(behind.moment().step, 12);
}

TEST_F(LiveTrainingTest, WaitsForNoTrainingThatDoesNotLearn) {
  const auto pace = in_step();
  auto other = std::make_unique<LiveTraining>(begun("other", 100000), pace);
  const RunFolder without_data{folder_ / "fails" / "run"};
  begin_run_folder(without_data, Recipe({{"dataset", (folder_ / "nothing").string()}}));
  LiveTraining training(begun("a", 100000), pace), fails(without_data, pace),
      short_one(begun("short", 4), pace);
  const auto goes_on = [&] {
    const std::int64_t step = training.moment().step;
    return soon([&] { return training.moment().step >= step + 3; });
  };
  for (LiveTraining* one : {other.get(), &training, &fails, &short_one}) one->start();
  EXPECT_TRUE(soon([&] { return training.moment().step >= 8; }))
      << "one has failed, one has finished";
  EXPECT_TRUE(soon([&] { return fails.moment().state == TrainingState::failed; }));
  EXPECT_TRUE(soon([&] { return short_one.moment().state == TrainingState::finished; }));
  fails.start();
  EXPECT_TRUE(goes_on()) << "a failed one makes no step";
  other->pause();
  other->wait();
  EXPECT_TRUE(goes_on());
  other->start();
  EXPECT_TRUE(goes_on()) << "the other catches up";
  other.reset();
  EXPECT_TRUE(goes_on());
}

TEST_F(LiveTrainingTest, ObeysWhileItWaitsForOthers) {
  const auto pace = in_step();
  LiveTraining ahead(begun("ahead", 100000), pace), behind(begun("behind", 100000), pace);
  ahead.advance(12);
  ahead.wait();
  behind.start();
  ahead.start();
  ahead.set_rate_factor(0.5);
  ahead.check_point();
  EXPECT_TRUE(soon([&] { return ahead.moment().rate_factor == 0.5; }));
  ahead.pause();
  ahead.wait();
  EXPECT_EQ(ahead.moment().state, TrainingState::paused);
  EXPECT_EQ(ahead.snapshot()->step, ahead.moment().step);
  EXPECT_TRUE(std::filesystem::exists(ahead.folder().state()));
}

TEST_F(LiveTrainingTest, ReportsDataErrorsWithoutThrowing) {
  const RunFolder folder{folder_ / "run"};
  begin_run_folder(folder, Recipe({{"dataset", (folder_ / "nothing").string()}}));
  const LiveTraining training(folder);
  training.wait();
  EXPECT_EQ(training.moment().state, TrainingState::failed);
  EXPECT_NE(training.moment().error.find("nothing"), std::string::npos);
  EXPECT_THROW(LiveTraining({folder_ / "else"}), Error);
}

}  // namespace
}  // namespace attnscope
