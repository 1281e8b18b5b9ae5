// What is open: models, inputs, subjects, the selection and the jobs. The only way back from views.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/hash_codes/learning.h"
#include "app/session/selection.h"
#include "core/model/subject.h"

namespace attnscope {

class JobQueue;

/// Hash codes that a subject learns before its first run.
struct CodesToLearn {
  HashLearningOptions options;
  MechanismChoice from;  ///< whose attention they imitate
  std::string input;     ///< locator of the input they are learnt from
};

/// A subject and how far it is.
struct OpenSubject {
  enum class State { waiting, loading, running, ready, failed };
  Subject subject;
  ModelOptions options;
  std::filesystem::path file;  ///< of the model or trace, also when it failed to open
  State state = State::waiting;
  std::string error;  ///< what went wrong and what to do, when failed

  std::int64_t id = 0;  ///< stays the same while other subjects come and go; never used twice
  std::optional<MechanismChoice> overlay;  ///< laid over the model instead of its own mechanism
  std::optional<std::int64_t> channel;     ///< whose maps, see TraceRequest; their mean if absent
  std::int64_t job = 0;                    ///< the JobQueue's id while loading or running
  /// With an overlay of hashed attention whose codes are learnt here: subject.parameters, once
  /// they are.
  std::optional<CodesToLearn> learning;
};

/// What the user has set up: what undo takes back. Cheap to copy: models and traces are shared.
struct SessionState {
  std::vector<OpenSubject> subjects;
  std::string input_locator;
  std::shared_ptr<const Input> input;
  ViewSettings view;
  std::int64_t reference_id = 0;
};

/// What the controls of the panels are set to: panel → control → value.
using PanelSettings = std::map<std::string, std::map<std::string, std::string>>;

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
  /// Null until it is opened, or when it could not be.
  [[nodiscard]] const std::shared_ptr<const Input>& input() const { return input_; }
  /// Why the input could not be opened; empty if nothing is wrong.
  [[nodiscard]] const std::string& input_error() const { return input_error_; }
  [[nodiscard]] JobQueue& jobs() { return *jobs_; }
  [[nodiscard]] const JobQueue& jobs() const { return *jobs_; }

  /// The trace of a subject, or null: no such subject, or not run yet.
  [[nodiscard]] std::shared_ptr<const Trace> trace(std::int64_t subject) const;
  /// The pinned subject that the others are compared with, or -1.
  [[nodiscard]] std::int64_t reference() const { return index_of(reference_id_); }
  /// The index of the subject with this id, or -1.
  [[nodiscard]] std::int64_t index_of(std::int64_t id) const;

  /// Opens a weight or trace file in the background and runs it on the current input. Returns the
  /// subject's index; failure is a state of the subject, never an exception.
  std::int64_t open(const std::filesystem::path& file, const ModelOptions& options = {});
  /// The same model under another mechanism, as a further subject. Returns its index, or -1 if
  /// `subject` has no model.
  std::int64_t overlay(std::int64_t subject, const MechanismChoice& mechanism);
  /// The same model hashed, with codes learnt in the background from what `subject` attends to on
  /// the current input, as a further subject. Returns its index, or -1 if `subject` has no model or
  /// there is no input. Throws Error(usage) for options out of range.
  std::int64_t learn_codes(std::int64_t subject, const HashLearningOptions& options);
  /// The same subject once more, kept on the current input whatever is chosen later, to be seen
  /// beside the others. Returns its index, or -1 if `subject` has no model or there is no input.
  std::int64_t keep_on_input(std::int64_t subject);
  /// A trace already in memory, as a ready subject.
  std::int64_t add_trace(std::shared_ptr<const Trace> trace, std::string label);
  void close(std::int64_t subject);
  /// Opens an input in the background and runs every model on it that keeps none of its own.
  void set_input(const std::string& locator);
  /// Loads the model again under other options.
  void set_options(std::int64_t subject, const ModelOptions& options);
  /// Another mechanism for a subject (none: the model's own), and runs it again.
  void set_overlay(std::int64_t subject, const std::optional<MechanismChoice>& mechanism);
  /// Other maps of a subject whose channels each have their own (none: their mean), and runs it
  /// again.
  void set_channel(std::int64_t subject, std::optional<std::int64_t> channel);
  /// Opens a failed subject's file again.
  void retry(std::int64_t subject);

  /// Clamps to what the selected subject has.
  void select(const Selection& selection);
  /// Pins a subject as reference; -1: none.
  void set_reference(std::int64_t subject);
  /// Clamps every number to its range.
  void set_view(const ViewSettings& view);
  /// The lens as at the start; the threshold and how subjects are compared stay.
  void reset_lens();

  [[nodiscard]] SessionState state() const;
  /// Goes back to an earlier state. What was open keeps its model and trace; what has no trace on
  /// the state's input is run again.
  void set_state(const SessionState& state);

  /// Who is asked, when the session is saved, for what its panels keep in the file.
  void set_panel_settings_source(std::function<PanelSettings()> source);
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
  void reference_changed();  ///< another one is pinned, or none
  void input_changed();      ///< another input, or it is opened now, or it failed
  /// From a session file, to be taken up by the panels.
  void panel_settings_restored(const PanelSettings& settings);
  void failed(const QString& what);  ///< an error that belongs to no subject

 private:
  OpenSubject* find(std::int64_t id);
  std::int64_t append(OpenSubject subject);
  void start(std::int64_t id);  // loads if there is no model, else runs
  void load(OpenSubject& subject);
  void run(OpenSubject& subject);
  void learn(OpenSubject& subject);
  void take_trace(std::int64_t id, std::shared_ptr<const Trace> trace);
  void submit(OpenSubject& subject, const QString& title,
              std::function<std::function<void()>(const Progress&)> work);
  void clamp_selection();
  void follow_query(std::int64_t from);

  std::vector<OpenSubject> subjects_;
  std::int64_t next_id_ = 1;
  std::int64_t reference_id_ = 0;  // 0: none
  Selection selection_;
  ViewSettings view_;
  std::string input_locator_;
  std::shared_ptr<const Input> input_;
  std::string input_error_;
  std::int64_t input_job_ = 0;
  std::function<PanelSettings()> panel_settings_source_;
  std::unique_ptr<JobQueue> jobs_;  // last: its destruction waits for jobs that know the session
};

/// "fashion-softmax as adder (identity=true)", "fashion-softmax as hash (learned here, 16 bits)":
/// how a subject is called.
[[nodiscard]] std::string subject_label(const Model& model,
                                        const std::optional<MechanismChoice>& overlay,
                                        bool learned_here = false);

}  // namespace attnscope
