// Networks in training while the window is open: each with its own thread, folder, and subject with
// the current weights.
#pragma once

#include <QObject>
#include <QTimer>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/training/live_training.h"
#include "app/session/subject_id.h"
#include "app/session/training_presets.h"

namespace attnscope {

class Session;

/// Lives on the window's thread, next to its session.
class TrainingSession : public QObject {
  Q_OBJECT
 public:
  explicit TrainingSession(Session& session, QObject* parent = nullptr);
  ~TrainingSession() override;

  struct Run {
    std::string name;
    RunFolder folder;
    std::unique_ptr<LiveTraining> training;
    TrainingMoment moment;                ///< state at the last poll
    SubjectId subject = SubjectId::none;  ///< SubjectId::none before its first weights

    std::shared_ptr<const TrainingSnapshot> shown = nullptr;  ///< weights of the subject
    std::int64_t job = 0;  ///< job that makes a model of newer weights

    [[nodiscard]] bool learns() const { return moment.state == TrainingState::running; }
    /// True if there are weights newer than those shown.
    [[nodiscard]] bool has_news() const { return training->snapshot() != shown; }
  };

  /// Makes a subfolder of `folder` for each variant and starts the training of all. Earlier runs
  /// are stopped. Throws Error, which names the variant, for an invalid recipe, and for folders
  /// that cannot be made.
  void begin(const std::vector<PresetVariant>& variants, const std::string& data_set,
             const std::filesystem::path& folder);
  /// Opens the runs in `folder`, or in its subfolders, to resume them; they start paused. Throws
  /// Error(usage) if there are none or more than kMostVariants.
  void open(const std::filesystem::path& folder);

  void start();
  void pause();
  /// Trains each network for one step.
  void advance();
  /// Sets the factor of the schedule's learning rates; 0 to 1000.
  void set_rate_factor(double factor);
  [[nodiscard]] double rate_factor() const { return rate_factor_; }
  /// While on, each network waits until the others that learn have made as many steps; see
  /// TrainingPace. Applies to running and later trainings.
  void keep_in_step(bool on) { pace_->keep_in_step(on); }
  [[nodiscard]] bool keeps_in_step() const { return pace_->keeps_in_step(); }
  /// Stops all runs after saving the models and states of the current step; open() resumes them.
  /// Their subjects stay open.
  void stop();

  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  /// is_on: true if there are runs. is_running: true if any is training or opening its data.
  [[nodiscard]] bool is_on() const;
  [[nodiscard]] bool is_running() const;
  /// True while stopped runs are still being saved.
  [[nodiscard]] bool is_saving() const { return saving_ > 0; }
  /// True if no run trains and all requested weights are shown.
  [[nodiscard]] bool settled() const;

 signals:
  void changed();  ///< states changed, or new weights about once a second
  void failed(const QString& what);

 private:
  void add(std::string name, const RunFolder& folder);
  void look();
  /// Requests new weights at intervals and shows them when they arrive; true if it showed any.
  bool follow();
  /// Shows the new weights of a run; requires has_news().
  void show_weights(Run& run);
  void take_model(Run& run, const std::shared_ptr<const Model>& model,
                  const std::filesystem::path& file,
                  const std::shared_ptr<const TrainingSnapshot>& snapshot);
  Run* found(const std::string& name);

  Session& session_;
  std::vector<Run> runs_;
  double rate_factor_ = 1;
  std::shared_ptr<TrainingPace> pace_ = std::make_shared<TrainingPace>();
  QTimer clock_;
  int saving_ = 0;      ///< number of stopped runs being saved
  bool asked_ = false;  ///< weights were requested and are not shown yet
  std::chrono::steady_clock::time_point asked_at_;
};

}  // namespace attnscope
