// What is open: models, inputs, subjects, the selection and the jobs. The only way back from views.
#pragma once

#include <QObject>
#include <QString>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/session/selection.h"
#include "core/model/subject.h"

namespace attnscope {

class JobQueue;

/// A subject and how far it is.
struct OpenSubject {
  enum class State { waiting, loading, running, ready, failed };
  Subject subject;
  ModelOptions options;
  std::filesystem::path file;  ///< of the model or trace, also when it failed to open
  State state = State::waiting;
  std::string error;  ///< what went wrong and what to do, when failed
};

/// Lives on the window's thread. Long work goes to its JobQueue; results arrive as signals.
class Session : public QObject {
  Q_OBJECT
 public:
  explicit Session(QObject* parent = nullptr);
  ~Session() override;

  [[nodiscard]] const std::vector<OpenSubject>& subjects() const { return subjects_; }
  [[nodiscard]] const Selection& selection() const { return selection_; }
  [[nodiscard]] const ViewSettings& view() const { return view_; }
  [[nodiscard]] const std::string& input_locator() const { return input_locator_; }
  [[nodiscard]] JobQueue& jobs() { return *jobs_; }

  /// Opens a weight or trace file in the background and runs it on the current input. Returns the
  /// subject's index; failure is a state of the subject, never an exception.
  std::int64_t open(const std::filesystem::path& file, const ModelOptions& options = {});
  /// The same model under another mechanism, as a further subject.
  std::int64_t overlay(std::int64_t subject, const MechanismChoice& mechanism);
  /// A trace already in memory, as a ready subject.
  std::int64_t add_trace(std::shared_ptr<const Trace> trace, std::string label);
  void close(std::int64_t subject);
  void set_input(const std::string& locator);
  void set_options(std::int64_t subject, const ModelOptions& options);

  /// Clamps to what the subjects have.
  void select(const Selection& selection);
  void set_view(const ViewSettings& view);

  /// Written beside, then renamed. Throws Error.
  void save(const std::filesystem::path& file) const;
  /// Replaces what is open. A missing model becomes a failed subject; Error if the session file
  /// itself cannot be read, with the open session untouched.
  void restore(const std::filesystem::path& file);

  /// True when no job runs or waits.
  [[nodiscard]] bool idle() const;

 signals:
  void subjects_changed();                 ///< one was added, removed or changed its state
  void trace_ready(std::int64_t subject);  ///< its trace is new
  void selection_changed();
  void view_changed();
  void input_changed();
  void failed(const QString& what);  ///< an error that belongs to no subject

 private:
  std::vector<OpenSubject> subjects_;
  Selection selection_;
  ViewSettings view_;
  std::string input_locator_;
  std::unique_ptr<JobQueue> jobs_;
};

}  // namespace attnscope
