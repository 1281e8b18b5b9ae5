// Runs a training on its own thread; any other thread may control and observe it. Several that run
// side by side keep at the same number of steps on request.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "analysis/training/run_folder.h"
#include "core/model/model.h"
#include "core/training/run/training_log.h"
#include "core/training/run/training_snapshot.h"

namespace attnscope {

enum class TrainingState {
  opening,   ///< its data are being read, or its first model is being tested
  paused,    ///< waits for start() or advance()
  running,   ///< is learning
  finished,  ///< all steps are done
  failed     ///< see TrainingMoment::error; the folder keeps the last state that was saved
};

/// Progress of a training.
struct TrainingMoment {
  TrainingState state = TrainingState::opening;
  std::int64_t step = 0;   ///< number of steps done
  std::int64_t steps = 0;  ///< number of steps of the whole run
  double rate = 0;         ///< learning rate of the next step, with the factor
  double rate_factor = 1;  ///< factor of the schedule's rates
  /// Speed over the last seconds of learning, with the time it waited for others; 0 until known.
  double examples_per_second = 0;
  std::string error = {};  ///< error and remedy, if it failed

  friend bool operator==(const TrainingMoment&, const TrainingMoment&) = default;
};

/// Shared by several LiveTrainings; may be changed from any thread at any time. While they keep in
/// step, a training begins a step only when all others that learn have made as many, so that their
/// numbers of steps differ by at most one once those behind have caught up. A training learns from
/// the request of steps, including the time in which it reads its data, until it has made them, is
/// paused, finishes, fails or ends; then no other waits for it.
class TrainingPace {
 public:
  void keep_in_step(bool on);
  [[nodiscard]] bool keeps_in_step() const;

 private:
  friend class LiveTraining;

  /// True if a training with this number of steps may make another; requires the lock.
  [[nodiscard]] bool allows_step_after(std::int64_t step) const;

  mutable std::mutex mutex_;             ///< guards this and the shared state of the trainings
  std::condition_variable_any changed_;  ///< notified of every change of what it guards
  bool in_step_ = false;
  std::map<const void*, std::int64_t> learning_;  ///< trainings that learn → their steps
};

/// Every member may be called from any thread at any time and returns at once, except wait() and
/// the destructor; a request is carried out after the step or the test of a checkpoint that is
/// under way. Several trainings may run at once: they share the cores, with the lowest priority.
/// The folder holds the same bytes that `train` would have written, except for changes of the rate
/// and requested checkpoints, which its log records.
class LiveTraining {
 public:
  /// Resumes the run in the folder (begin_run_folder makes one), paused at the step at which it was
  /// left. Throws Error(usage) for a folder without a recipe; errors in its data or state are
  /// reported by moment(). Trainings that share a `pace` can be kept in step.
  explicit LiveTraining(RunFolder folder,
                        std::shared_ptr<TrainingPace> pace = std::make_shared<TrainingPace>());
  /// Ends after the current step, with the state saved: another LiveTraining can resume it.
  ~LiveTraining();
  LiveTraining(const LiveTraining&) = delete;
  LiveTraining& operator=(const LiveTraining&) = delete;

  [[nodiscard]] const RunFolder& folder() const;
  [[nodiscard]] const Recipe& recipe() const;

  /// Trains to the last step.
  void start();
  void pause();
  /// Trains `steps` more steps, at least 1, and pauses.
  void advance(std::int64_t steps = 1);
  /// Sets the factor of the schedule's rates, from the next step on. Throws Error(usage) unless it
  /// is in 0 to 1000.
  void set_rate_factor(double factor);
  /// Writes, tests and probes the model of the current step, also between the recipe's checkpoints.
  void check_point();

  /// Requests that log() and snapshot() are updated once, after the current step. They are also
  /// updated before a test without a request.
  void ask_for_news();

  [[nodiscard]] TrainingMoment moment() const;
  /// Losses, accuracies, rates and ranks at the last update, or at the step at which it is paused;
  /// empty at first. The same pointer until the next update.
  [[nodiscard]] std::shared_ptr<const TrainingLog> log() const;
  /// The weights at the last update. Null while opening. The same pointer until there are newer
  /// ones.
  [[nodiscard]] std::shared_ptr<const TrainingSnapshot> snapshot() const;

  /// Waits until it is paused, finished or failed and all requests are done.
  void wait() const;

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
};

/// The weights as a model that runs on inputs, made on the caller's thread; its file() is the path
/// of that step in the folder, whether or not it exists. Throws Error.
[[nodiscard]] std::shared_ptr<const Model> model_of(
    const std::shared_ptr<const TrainingSnapshot>& snapshot, const RunFolder& folder);

}  // namespace attnscope
