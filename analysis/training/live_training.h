// A training that goes on beside whoever looks at it: on a thread of its own, told from any other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "analysis/training/run_folder.h"
#include "core/model/model.h"
#include "core/training/run/training_log.h"
#include "core/training/run/training_snapshot.h"

namespace attnscope {

enum class TrainingState {
  opening,   ///< its data are read, or its first model is tested
  paused,    ///< waits for start() or advance()
  running,   ///< learns
  finished,  ///< all steps are done
  failed     ///< see TrainingMoment::error; the folder keeps the last state that was saved
};

/// How far a training is.
struct TrainingMoment {
  TrainingState state = TrainingState::opening;
  std::int64_t step = 0;           ///< done
  std::int64_t steps = 0;          ///< of the whole run
  double rate = 0;                 ///< of the next step, the factor included
  double rate_factor = 1;          ///< what the schedule's rates are multiplied by
  double examples_per_second = 0;  ///< of the last seconds of learning; 0 until it is known
  std::string error = {};          ///< what went wrong and what to do, where it failed

  friend bool operator==(const TrainingMoment&, const TrainingMoment&) = default;
};

/// Every member may be called from any thread at any time, and returns at once; what it asks for is
/// done after the step, or the test of a checkpoint, that is under way. Several may run at once:
/// they share the processor's cores, and give way to everybody else. The folder holds what `train`
/// would have made of it, whatever was asked, but for changes of the rate and checkpoints asked
/// for, which its log tells.
class LiveTraining {
 public:
  /// Goes on with the run in the folder (begin_run_folder makes one), paused at the step at which
  /// it was left. Throws Error(usage) for a folder without a recipe; what is wrong with its data or
  /// its state is told by moment().
  explicit LiveTraining(RunFolder folder);
  /// Ends after the present step, with the state saved: another LiveTraining goes on from it.
  ~LiveTraining();
  LiveTraining(const LiveTraining&) = delete;
  LiveTraining& operator=(const LiveTraining&) = delete;

  [[nodiscard]] const RunFolder& folder() const;
  [[nodiscard]] const Recipe& recipe() const;

  /// Learns to the last step.
  void start();
  void pause();
  /// Learns `steps` more steps, at least 1, and pauses.
  void advance(std::int64_t steps = 1);
  /// What the schedule's rates are multiplied by, from the next step on; 0 to 1000, else
  /// Error(usage).
  void set_rate_factor(double factor);
  /// Writes, tests and probes the model of the present step, also between the recipe's checkpoints.
  void check_point();

  /// After the step that is under way log() and snapshot() are of that step, once. Before a test
  /// they are, unasked.
  void ask_for_news();

  [[nodiscard]] TrainingMoment moment() const;
  /// Losses, accuracies, rates, ranks as of the last news, or of the step at which it rests; empty
  /// at first. The same pointer until there is more.
  [[nodiscard]] std::shared_ptr<const TrainingLog> log() const;
  /// The weights of then. Null while it opens. The same pointer until there are newer ones.
  [[nodiscard]] std::shared_ptr<const TrainingSnapshot> snapshot() const;

  /// Waits until it is paused, finished or failed and nothing that was asked for is left to do.
  void wait() const;

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
};

/// The weights as a model that runs on inputs, made on the caller's thread; its file() is the one
/// the folder has or would have of that step. Throws Error.
[[nodiscard]] std::shared_ptr<const Model> model_of(
    const std::shared_ptr<const TrainingSnapshot>& snapshot, const RunFolder& folder);

}  // namespace attnscope
