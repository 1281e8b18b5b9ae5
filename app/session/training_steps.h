// A training that has ended, as a row of models: subjects that are taken from step to step.
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

/// Lives on the window's thread, beside its session. Several trainings are linked: all show the
/// same step, or the last that they have before it.
class TrainingSteps : public QObject {
  Q_OBJECT
 public:
  explicit TrainingSteps(Session& session, QObject* parent = nullptr);

  struct Series {
    std::string name;                 ///< the folder's
    std::vector<SeriesModel> models;  ///< by step
    std::size_t at = 0, wanted = 0;   ///< the model shown, and the one asked for
    SubjectId subject = SubjectId::none;
    std::int64_t job = 0;  ///< that reads a model
  };

  /// One more training, at the step of the others, or its last. Throws as checkpoint_series.
  void open(const std::filesystem::path& folder);
  /// Every step that any of them has, in order; empty without a training.
  [[nodiscard]] const std::vector<std::int64_t>& steps() const { return steps_; }
  /// The place among steps() that is shown, or about to be.
  [[nodiscard]] std::size_t place() const { return place_; }
  /// Clamped. While a model is read, only the last that was asked for follows it.
  void go_to(std::size_t place);
  [[nodiscard]] const std::vector<Series>& series() const { return series_; }
  /// Every subject shows what was asked for.
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
