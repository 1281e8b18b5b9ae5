// The networks that learn while the window is open: each on its own thread and in its own folder,
// each a subject whose weights are those of the moment.
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

/// Lives on the window's thread, beside its session.
class TrainingSession : public QObject {
  Q_OBJECT
 public:
  explicit TrainingSession(Session& session, QObject* parent = nullptr);
  ~TrainingSession() override;

  struct Run {
    std::string name;
    RunFolder folder;
    std::unique_ptr<LiveTraining> training;
    TrainingMoment moment;                ///< as of the last look
    SubjectId subject = SubjectId::none;  ///< none until its first weights are there

    std::shared_ptr<const TrainingSnapshot> shown = nullptr;  ///< the weights the subject has
    std::int64_t job = 0;                                     ///< that makes a model of newer ones

    [[nodiscard]] bool learns() const { return moment.state == TrainingState::running; }
    /// Whether there are weights newer than those shown.
    [[nodiscard]] bool has_news() const { return training->snapshot() != shown; }
  };

  /// Makes a folder in `folder` for each variant, and lets all learn. What learnt before is
  /// stopped. Throws Error: for a recipe, which then says of which variant, and for folders.
  void begin(const std::vector<PresetVariant>& variants, const std::string& data_set,
             const std::filesystem::path& folder);
  /// Goes on, paused, with the runs in `folder`: its own, or those in the folders in it. Throws
  /// Error(usage) if there are none.
  void open(const std::filesystem::path& folder);

  void start();
  void pause();
  /// One step of each.
  void advance();
  /// Of the schedule's learning rates; 0 to 1000.
  void set_rate_factor(double factor);
  [[nodiscard]] double rate_factor() const { return rate_factor_; }
  /// Ends all, with models and states of the present step saved; open() goes on with them. Their
  /// subjects stay as they are.
  void stop();

  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  /// Whether there are any, and whether any learns or opens its data.
  [[nodiscard]] bool is_on() const;
  [[nodiscard]] bool is_running() const;
  /// Whether what was stopped is not all in its folders yet.
  [[nodiscard]] bool is_saving() const { return saving_ > 0; }
  /// Nothing that was asked for is on its way to a subject.
  [[nodiscard]] bool settled() const;

 signals:
  void changed();  ///< states, and steps with their news about once a second
  void failed(const QString& what);

 private:
  void add(std::string name, const RunFolder& folder);
  void look();
  /// Asks for news when it is time, and shows them when they are there: whether it did.
  bool follow();
  /// Of a run that has news.
  void show_weights(Run& run);
  void take_model(Run& run, const std::shared_ptr<const Model>& model,
                  const std::filesystem::path& file,
                  const std::shared_ptr<const TrainingSnapshot>& snapshot);
  Run* found(const std::string& name);

  Session& session_;
  std::vector<Run> runs_;
  double rate_factor_ = 1;
  QTimer clock_;
  int saving_ = 0;      ///< of those that were stopped
  bool asked_ = false;  ///< for news that are not shown yet
  std::chrono::steady_clock::time_point asked_at_;
};

}  // namespace attnscope
