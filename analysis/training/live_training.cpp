#include "analysis/training/live_training.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/model/model.h"
#include "core/platform/process.h"
#include "core/text/failure.h"

namespace attnscope {

namespace {

using Clock = std::chrono::steady_clock;
// Seconds; minimum time that the speed is averaged over.
constexpr std::chrono::duration<double> kSpeed(2);
constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int64_t>::max();

}  // namespace

/// The training thread and the state that it shares with other threads.
class LiveTraining::Worker {
 public:
  Worker(RunFolder folder, std::shared_ptr<TrainingPace> pace)
      : folder_(std::move(folder)), recipe_(recipe_of(folder_)), pace_(std::move(pace)) {
    moment_.steps = recipe_.steps();
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }

  [[nodiscard]] const RunFolder& folder() const { return folder_; }
  [[nodiscard]] const Recipe& recipe() const { return recipe_; }

  template <class Change>
  void ask(Change change) {
    {
      const std::lock_guard lock(pace_->mutex_);
      change(wish_);
      tell_pace();
    }
    pace_->changed_.notify_all();
  }

  template <class Read>
  auto read(Read what) const {
    const std::lock_guard lock(pace_->mutex_);
    return what(*this);
  }

  void wait() const {
    std::unique_lock lock(pace_->mutex_);
    pace_->changed_.wait(lock, [this] {
      const TrainingState state = moment_.state;
      if (state == TrainingState::failed) return true;
      const bool rests = state == TrainingState::paused || state == TrainingState::finished;
      return rests && !wish_.anything(moment_.step < moment_.steps);
    });
  }

  /// Requests of other threads that are not done yet.
  struct Wish {
    std::int64_t steps = 0;
    std::optional<double> rate_factor = std::nullopt;
    bool check_point = false;
    bool news = false;  ///< done before the next step, by itself only while it waits for others

    [[nodiscard]] bool anything(bool steps_left) const {
      return (steps > 0 && steps_left) || rate_factor || check_point;
    }
  };

  TrainingMoment moment_;
  std::shared_ptr<const TrainingLog> log_ = std::make_shared<const TrainingLog>();
  std::shared_ptr<const TrainingSnapshot> snapshot_;

 private:
  /// Training examples per second, averaged over the last seconds.
  class Speedometer {
   public:
    /// Adds a step of `examples` examples that took `time`; without examples, time of waiting.
    void add(std::int64_t examples, std::chrono::duration<double> time) {
      examples_ += static_cast<double>(examples);
      time_ += time;
      if (speed_ == 0 || time_ >= kSpeed) speed_ = examples_ / std::max(time_.count(), 1e-9);
      if (time_ < kSpeed) return;
      examples_ = 0;
      time_ = {};
    }
    [[nodiscard]] double speed() const { return speed_; }

   private:
    double examples_ = 0, speed_ = 0;
    std::chrono::duration<double> time_{};
  };

  void work(const std::stop_token& stop) {
    try {
      learn(stop);
    } catch (const Cancelled&) {
      // The state is saved.
    } catch (const std::exception& error) {
      const std::lock_guard lock(pace_->mutex_);
      moment_.state = TrainingState::failed;
      moment_.error = as_error(error).in_window();
    }
    {
      const std::lock_guard lock(pace_->mutex_);
      pace_->learning_.erase(this);
    }
    pace_->changed_.notify_all();
  }

  void learn(const std::stop_token& stop) {
    const Progress progress({}, stop);
    FolderTraining training(folder_);
    publish(training, TrainingState::opening);
    constexpr int kLowest = 19;
    lower_thread_priority(kLowest);  // not before: the user waits for the first maps
    training.keep(progress);
    while (true) {
      const Wish wish = next_wish(training, stop);
      if (stop.stop_requested()) break;
      if (wish.rate_factor) training.run().set_rate_factor(*wish.rate_factor);
      if (wish.check_point) training.check_point(progress);
      if (wish.news) publish(training, TrainingState::running);
      if (wish.steps == 0) continue;
      const Clock::time_point began = Clock::now();
      training.run().advance();
      speed_.add(recipe_.data().batch, Clock::now() - began);
      // Published first, because the test of a checkpoint may take long.
      if (training.needs_check_point()) publish(training, TrainingState::running);
      training.keep(progress);
      show(training, TrainingState::running);
    }
    training.save();
  }

  /// The next request; waits for one if there is none. Its `steps` is 1 if a step is to be made.
  Wish next_wish(const FolderTraining& training, const std::stop_token& stop) {
    const bool steps_left = !training.run().done();
    std::unique_lock lock(pace_->mutex_);
    if (!wish_.anything(steps_left)) {
      lock.unlock();
      training.save();
      publish(training, steps_left ? TrainingState::paused : TrainingState::finished);
      lock.lock();
      pace_->changed_.wait(lock, stop, [&] { return wish_.anything(steps_left); });
    }
    if (steps_left) wait_for_others(lock, stop);
    return take_wish(steps_left);
  }

  /// Waits until the pace allows the next step, or something else is requested.
  void wait_for_others(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
    const auto waits = [this] {
      const bool other = wish_.rate_factor || wish_.check_point || wish_.news;
      return wish_.steps > 0 && !other && !pace_->allows_step_after(moment_.step);
    };
    if (!waits()) return;
    moment_.state = TrainingState::running;
    const Clock::time_point began = Clock::now();
    pace_->changed_.wait(lock, stop, [&] { return !waits(); });
    speed_.add(0, Clock::now() - began);
  }

  Wish take_wish(bool steps_left) {
    Wish taken = std::exchange(wish_, {.steps = wish_.steps});
    const bool can_step = steps_left && pace_->allows_step_after(moment_.step);
    taken.steps = can_step && wish_.steps > 0 ? 1 : 0;
    if (!steps_left) wish_.steps = 0;
    if (taken.steps > 0 && wish_.steps != kToTheEnd) --wish_.steps;
    if (taken.anything(steps_left)) moment_.state = TrainingState::running;
    return taken;
  }

  /// Adds this training to those that learn, or removes it; requires the lock.
  void tell_pace() {
    const bool failed = moment_.state == TrainingState::failed;
    if (failed || wish_.steps == 0 || moment_.step >= moment_.steps) {
      pace_->learning_.erase(this);
    } else {
      pace_->learning_[this] = moment_.step;
    }
  }

  void show(const FolderTraining& training, TrainingState state) {
    {
      const std::lock_guard lock(pace_->mutex_);
      moment_.state = state;
      moment_.step = training.run().step();
      moment_.rate = training.run().rate();
      moment_.rate_factor = training.run().rate_factor();
      moment_.examples_per_second = speed_.speed();
      tell_pace();
    }
    pace_->changed_.notify_all();
  }

  /// Copies the log and the weights for other threads.
  void publish(const FolderTraining& training, TrainingState state) {
    auto log = std::make_shared<const TrainingLog>(training.run().log());
    // Codes change the values between two steps.
    const bool newer = !snapshot_ || snapshot_->step != training.run().step() ||
                       snapshot_->values != training.run().values();
    auto snapshot = newer ? training.run().snapshot() : snapshot_;
    {
      const std::lock_guard lock(pace_->mutex_);
      if (log->tables() != log_->tables()) log_ = std::move(log);
      snapshot_ = std::move(snapshot);
    }
    show(training, state);
  }

  RunFolder folder_;
  Recipe recipe_;
  std::shared_ptr<TrainingPace> pace_;
  Wish wish_;
  Speedometer speed_;
  std::jthread thread_;  // last member: the thread ends before the members it uses
};

void TrainingPace::keep_in_step(bool on) {
  {
    const std::lock_guard lock(mutex_);
    in_step_ = on;
  }
  changed_.notify_all();
}

bool TrainingPace::keeps_in_step() const {
  const std::lock_guard lock(mutex_);
  return in_step_;
}

bool TrainingPace::allows_step_after(std::int64_t step) const {
  return !in_step_ ||
         std::ranges::all_of(learning_, [&](const auto& one) { return one.second >= step; });
}

LiveTraining::LiveTraining(RunFolder folder, std::shared_ptr<TrainingPace> pace)
    : worker_(std::make_unique<Worker>(std::move(folder), std::move(pace))) {}
LiveTraining::~LiveTraining() = default;

const RunFolder& LiveTraining::folder() const { return worker_->folder(); }
const Recipe& LiveTraining::recipe() const { return worker_->recipe(); }

void LiveTraining::start() {
  worker_->ask([](auto& wish) { wish.steps = kToTheEnd; });
}

void LiveTraining::pause() {
  worker_->ask([](auto& wish) { wish.steps = 0; });
}

void LiveTraining::advance(std::int64_t steps) {
  worker_->ask([&](auto& wish) { wish.steps = std::max<std::int64_t>(steps, 1); });
}

void LiveTraining::set_rate_factor(double factor) {
  check_rate_factor(factor);
  worker_->ask([&](auto& wish) { wish.rate_factor = factor; });
}

void LiveTraining::check_point() {
  worker_->ask([](auto& wish) { wish.check_point = true; });
}

void LiveTraining::ask_for_news() {
  worker_->ask([](auto& wish) { wish.news = true; });
}

TrainingMoment LiveTraining::moment() const {
  return worker_->read([](const auto& worker) { return worker.moment_; });
}

std::shared_ptr<const TrainingLog> LiveTraining::log() const {
  return worker_->read([](const auto& worker) { return worker.log_; });
}

std::shared_ptr<const TrainingSnapshot> LiveTraining::snapshot() const {
  return worker_->read([](const auto& worker) { return worker.snapshot_; });
}

void LiveTraining::wait() const { worker_->wait(); }

std::shared_ptr<const Model> model_of(const std::shared_ptr<const TrainingSnapshot>& snapshot,
                                      const RunFolder& folder) {
  const std::filesystem::path file = folder.model(snapshot->step);
  return read_model(checkpoint_of(snapshot, file, folder.model_name(snapshot->step)), file);
}

}  // namespace attnscope
