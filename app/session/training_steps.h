// Completed trainings as series of models: subjects that switch between steps.
#pragma once

#include <QObject>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/training/checkpoint_series.h"
#include "app/session/subject_id.h"

namespace attnscope {

class Model;
class Session;

/// Lives on the window's thread, next to its session. Several trainings are linked: all show the
/// same step, or their last one before it.
class TrainingSteps : public QObject {
  Q_OBJECT
 public:
  explicit TrainingSteps(Session& session, QObject* parent = nullptr);

  struct Series {
    std::string name;                 ///< name of the folder
    std::vector<SeriesModel> models;  ///< sorted by step
    std::size_t at = 0, wanted = 0;   ///< indices of the model shown and of the requested one
    SubjectId subject = SubjectId::none;
    std::int64_t job = 0;  ///< job that reads a model
  };

  /// Opens another training at the step of the others; the first one opens at its last step. Throws
  /// like checkpoint_series.
  void open(const std::filesystem::path& folder);
  /// Steps of all trainings in order; empty without a training.
  [[nodiscard]] const std::vector<std::int64_t>& steps() const { return steps_; }
  /// Index in steps() of the step that is shown or about to be shown.
  [[nodiscard]] std::size_t place() const { return place_; }
  /// Goes to a step, clamped. While a model is being read, only the last requested one is read
  /// next.
  void go_to(std::size_t place);
  [[nodiscard]] const std::vector<Series>& series() const { return series_; }
  /// True if every subject shows the requested step.
  [[nodiscard]] bool settled() const;

 signals:
  void changed();
  void failed(const QString& what);

 private:
  void forget_closed();
  void collect_steps();
  void follow(std::size_t index);
  void read(std::size_t index);
  void take(std::size_t index, std::size_t at, const std::shared_ptr<const Model>& model);

  Session& session_;
  std::vector<Series> series_;
  std::vector<std::int64_t> steps_;
  std::size_t place_ = 0;
};

}  // namespace attnscope
