// Trainings as series of models on disk, or of maps that other programs send: subjects that switch
// between steps.
#pragma once

#include <QObject>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/training/checkpoint_series.h"
#include "app/session/file_watch.h"
#include "app/session/subject_id.h"

namespace attnscope {

class Model;
class Session;
struct Trace;

/// Lives on the window's thread, next to its session. Several trainings are linked: all show the
/// same step, or their last one before it. A training that goes on grows: new checkpoints are added
/// once they are complete, and while the last step is shown, the new last one is shown next.
class TrainingSteps : public QObject {
  Q_OBJECT
 public:
  explicit TrainingSteps(Session& session, QObject* parent = nullptr);

  struct Series {
    std::string name;                   ///< name of the folder
    std::filesystem::path folder = {};  ///< empty for maps that were sent
    /// Maps that were sent, by step; their models have no file.
    std::map<std::int64_t, std::shared_ptr<const Trace>> sent = {};
    std::vector<SeriesModel> models = {};  ///< sorted by step; empty before the first checkpoint
    std::size_t at = 0, wanted = 0;        ///< indices of the model shown and of the requested one
    SubjectId subject = SubjectId::none;
    std::int64_t job = 0;      ///< job that reads a model
    std::string problem = {};  ///< why the wanted model cannot be read; empty: it can
  };

  /// Opens another training at the step of the others; the first one opens at its last step. A
  /// folder without checkpoints waits for the first one, until another folder is opened. Ignored
  /// for a folder that is open. Throws Error(io) if it is no folder, and like checkpoint_series.
  void open(const std::filesystem::path& folder);
  /// Adds maps that were sent for a step to the series `name`, which is made by its first step, or
  /// replaces those of the same step. While the last step is shown, the new last one is shown next.
  /// Returns the subject of the series.
  SubjectId add(const std::string& name, std::int64_t step, std::shared_ptr<const Trace> trace);
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

 private:
  void forget_closed();
  void watch_all();
  void look_for_new();
  [[nodiscard]] std::vector<SeriesModel> listed(Series& one);
  void take_file(const std::filesystem::path& file, bool exists);
  static void set_models(Series& one, std::vector<SeriesModel> models);
  void collect_steps();
  void follow(std::size_t index);
  void read(std::size_t index);
  void show_sent(std::size_t index);
  void take(std::size_t index, const SeriesModel& read_model,
            const std::shared_ptr<const Model>& model);

  Session& session_;
  std::vector<Series> series_;
  std::vector<std::int64_t> steps_;
  std::size_t place_ = 0;
  FileWatch watch_;
};

}  // namespace attnscope
