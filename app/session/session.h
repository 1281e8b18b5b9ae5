// Everything that is open: models, inputs, subjects, selection and jobs. Views change it only
// through this class.
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
#include "app/session/what_if.h"
#include "core/model/subject.h"

namespace attnscope {

class JobQueue;
struct JobFailure;
struct RunEnd;
struct SubjectRun;

/// Hash codes that a subject learns before its first run.
struct CodesToLearn {
  HashLearningOptions options;
  MechanismChoice from;  ///< mechanism that the codes imitate
  std::string input;     ///< locator of the input that they are learned from
};

/// A subject and the state of its work.
struct OpenSubject {
  enum class State {
    waiting,  ///< for an input, or for the subject that it interpolates toward
    loading,  ///< its file is read
    running,  ///< its model runs, or its hash codes are learned
    ready,    ///< it has a trace: of all layers, or after cancellation of the first ones
    failed    ///< it has no trace: because of an error, or after cancellation
  };
  Subject subject;
  ModelOptions options;
  std::filesystem::path file;  ///< the model or trace file, also if it could not be opened
  State state = State::waiting;
  std::string error;     ///< problem and remedy, when failed
  bool stopped = false;  ///< cancelled by the user before it was complete; retry() runs it again
  /// Number of first layers in the trace of a run that is in progress or was cancelled.
  std::optional<std::int64_t> layers_so_far;
  std::int64_t run = 0;  ///< the job that delivered its trace; 0: none

  SubjectId id = SubjectId::none;
  std::string own_name;                    ///< name given by the user; empty: the default name
  std::optional<MechanismChoice> overlay;  ///< mechanism laid over the model instead of its own
  std::optional<std::int64_t> channel;     ///< recorded maps (TraceRequest); default: their mean
  std::int64_t job = 0;                    ///< the JobQueue's id while loading or running
  /// Set for an overlay of hashed attention whose codes are learned here. The codes are stored in
  /// subject.parameters once learned.
  std::optional<CodesToLearn> learning;
  /// Result in words of the comparison of the model with a reference next to the file
  /// (core/model/evaluation/self_test.h), and whether they agree. Empty without a reference, and
  /// before the comparison.
  std::string reference_says;
  bool agrees_with_reference = false;

  bool is_of_file = false;      ///< it was read from `file` and is read again when that changes
  std::string file_change;      ///< change of its file since it was opened; empty: no change
  bool is_behind_file = false;  ///< the file is gone or cannot be read: it shows former contents

  WhatIf what_if;                ///< requested changes of its maps
  WhatIf ran_with;               ///< changes with which the present trace was made
  bool has_new_weights = false;  ///< weights arrived during the run, so it runs again
  /// The trace without changes while subject.trace is one with changed maps; otherwise null.
  std::shared_ptr<const Trace> unchanged;

  /// True while a job runs the model or learns its codes.
  [[nodiscard]] bool in_progress() const { return state == State::running && job != 0; }
  /// True if its trace is that of a whole run.
  [[nodiscard]] bool is_complete() const {
    return state == State::ready && subject.trace && !layers_so_far;
  }
};

/// The contents of a file: a model, or a trace.
struct FileContents {
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Trace> trace;
};

/// The user's setup, which undo restores. Cheap to copy, because models and traces are shared.
struct SessionState {
  std::vector<OpenSubject> subjects;
  std::string input_locator;
  std::shared_ptr<const Input> input;
  ViewSettings view;
  SubjectId reference = SubjectId::none;
};

/// Values of the panels' controls: panel → control → value.
using PanelSettings = std::map<std::string, std::map<std::string, std::string>>;

/// Lives on the window's thread. Long work runs in its JobQueue; results arrive as signals.
class Session : public QObject {
  Q_OBJECT
 public:
  explicit Session(QObject* parent = nullptr);
  ~Session() override;

  [[nodiscard]] const std::vector<OpenSubject>& subjects() const { return subjects_; }
  /// True if an open model reads pictures with a text.
  [[nodiscard]] bool reads_pictures() const;
  /// True if the input is several pictures without a text about them.
  [[nodiscard]] bool has_pictures_alone() const;
  /// True if the model reads pictures with a text, and the input is pictures without one.
  [[nodiscard]] bool waits_for_question(const OpenSubject& open) const;
  [[nodiscard]] const Selection& selection() const { return selection_; }
  [[nodiscard]] const ViewSettings& view() const { return view_; }
  [[nodiscard]] const std::string& input_locator() const { return input_locator_; }
  /// Null until the input is opened, or if it could not be opened.
  [[nodiscard]] const std::shared_ptr<const Input>& input() const { return input_; }
  /// True if the user cancelled the opening of the input.
  [[nodiscard]] bool input_stopped() const { return input_stopped_; }
  /// The error of the input; empty if there is none.
  [[nodiscard]] const std::string& input_error() const { return input_error_; }
  [[nodiscard]] JobQueue& jobs() { return *jobs_; }
  [[nodiscard]] const JobQueue& jobs() const { return *jobs_; }

  /// The open subject with that id, or null if it is closed. Valid until the subjects change.
  [[nodiscard]] const OpenSubject* find(SubjectId subject) const;
  /// The index in subjects(), which determines number and colour; -1 if it is closed.
  [[nodiscard]] std::int64_t place_of(SubjectId subject) const;
  /// The trace of a subject; null if there is no such subject or it has not run yet.
  [[nodiscard]] std::shared_ptr<const Trace> trace(SubjectId subject) const;
  /// The pinned subject that the others are compared with, or none.
  [[nodiscard]] SubjectId reference() const { return reference_; }

  /// Opens a weight or trace file in the background and runs it on the current input. A failure is
  /// a state of the subject, never an exception.
  SubjectId open(const std::filesystem::path& file, const ModelOptions& options = {});
  /// Opens the same model with another mechanism as a new subject; none if `subject` has no model.
  SubjectId overlay(SubjectId subject, const MechanismChoice& mechanism);
  /// Opens the same model with hashed attention as a new subject. Its codes are learned in the
  /// background from the attention of `subject` on the current input. None if `subject` has no
  /// model or there is no input. Throws Error(usage) for options out of range.
  SubjectId learn_codes(SubjectId subject, const HashLearningOptions& options);
  /// Opens the same subject a second time, fixed to the current input whatever is chosen later;
  /// none if `subject` has no model or there is no input.
  SubjectId keep_on_input(SubjectId subject);
  /// Opens a model from memory as a new subject. `file`: its file, if it has one.
  SubjectId add_model(std::shared_ptr<const Model> model, const std::filesystem::path& file);
  /// Replaces the weights of a subject and of those that use the same model, and runs them again,
  /// as for a network in training. The present traces stay visible until then. During a run, only
  /// the last of several new weights is run next. Subjects with codes learned from the former
  /// weights keep these weights.
  void set_model(SubjectId subject, std::shared_ptr<const Model> model,
                 const std::filesystem::path& file);
  /// Opens a trace from memory as a ready subject.
  SubjectId add_trace(std::shared_ptr<const Trace> trace, std::string label);
  void close(SubjectId subject);
  /// Opens an input in the background and runs every model on it that has no input of its own.
  void set_input(const std::string& locator);
  /// Loads the model again with other options.
  void set_options(SubjectId subject, const ModelOptions& options);
  /// Sets another mechanism for a subject (nullopt: the model's own) and runs it again.
  void set_overlay(SubjectId subject, const std::optional<MechanismChoice>& mechanism);
  /// Chooses the recorded channel of a subject with one map per channel (nullopt: the mean) and
  /// runs it again.
  void set_channel(SubjectId subject, std::optional<std::int64_t> channel);
  /// Runs a subject with changed maps, or without changes; ignored for traces without a model.
  /// During a run, only the last of several changes is run next, so a slider can be dragged. An
  /// impossible change is reported by failed(), and the subject runs without changes.
  void set_what_if(SubjectId subject, const WhatIf& what_if);
  /// Reads a subject's file again and runs it: after a failure, or because the file has changed.
  void reload(SubjectId subject);
  /// Replaces what was read from a subject's file by what the file holds now, with all settings of
  /// the subject and of the overlays on its model. `change`: OpenSubject::file_change.
  void take_contents(SubjectId subject, const FileContents& contents, const std::string& change);
  /// Sets OpenSubject::file_change of a subject and of the overlays on its model.
  void set_file_change(SubjectId subject, const std::string& change, bool is_behind_file);

  /// Reads the file again after a failure. Runs a cancelled subject again, with its recorded layers
  /// still visible.
  void retry(SubjectId subject);
  /// Retries every cancelled subject and the opening of the input. The present traces stay visible
  /// until newer ones arrive.
  void resume();

  /// Sets the selection, clamped to the selected subject's layers, heads and tokens.
  void select(const Selection& selection);
  /// Selects another map, and with it the query at the same position in the input.
  void select_map(SubjectId subject, std::int64_t layer, std::int64_t head);
  /// Selects the class token's row; ignored if the selected subject has no such token.
  void select_class_token();
  /// Sets the name of a subject everywhere, also in figures; an empty name restores the default.
  void rename(SubjectId subject, const std::string& name);
  /// Pins a subject as reference, or none.
  void set_reference(SubjectId subject);
  /// Sets the view with every number clamped to its range.
  void set_view(const ViewSettings& view);
  /// Resets the lens to its defaults, except threshold, layer numbering, analysed matrix, printed
  /// number and sorting, and the settings of comparisons.
  void reset_lens();

  [[nodiscard]] SessionState state() const;
  /// Restores an earlier state. Subjects keep their models and traces; those without a trace on the
  /// state's input run again.
  void set_state(const SessionState& state);

  /// Sets the function that provides the panels' settings when the session is saved.
  void set_panel_settings_source(std::function<PanelSettings()> source);
  /// The content of a session file in `folder`.
  [[nodiscard]] std::string text(const std::filesystem::path& folder) const;
  /// Writes to a temporary file that is then renamed. Throws Error.
  void save(const std::filesystem::path& file) const;
  /// Replaces the open session. A missing model becomes a failed subject. Throws Error if the
  /// session file itself cannot be read; the open session then stays.
  void restore(const std::filesystem::path& file);

  /// True when no job runs or waits.
  [[nodiscard]] bool idle() const;

 signals:
  void subjects_changed();  ///< a subject was added, removed or changed its state
  /// A new trace: of a complete run, or with more layers of a run in progress.
  void trace_ready(SubjectId subject);
  /// New weights are about to be set; their traces and results arrive in a burst.
  void weights_coming();
  void selection_changed();
  void view_changed();
  void reference_changed();  ///< another reference is pinned, or none
  void input_changed();      ///< another input is chosen, was opened, or failed
  /// A session file has replaced the open session; its panel settings are to be applied.
  void restored(const PanelSettings& settings);
  void failed(const QString& what);  ///< an error that belongs to no subject

 private:
  OpenSubject* found(SubjectId subject);
  SubjectId append(OpenSubject subject);
  SubjectId append_and_start(OpenSubject subject);
  void start(SubjectId subject);       // loads if there is no model, else runs
  void proceed(OpenSubject& subject);  // like start(), but keeps the trace without changes
  [[nodiscard]] bool waits_for_other(OpenSubject& subject) const;

  /// Submits the next job of a subject. `work` runs on the job's thread and returns the function
  /// that takes its result on this one. `job` is set to the job's id, known only after submission.
  void submit(OpenSubject& subject, const QString& title,
              std::function<std::function<void()>(const Progress&)> work,
              const std::shared_ptr<std::int64_t>& job = std::make_shared<std::int64_t>(0));
  /// True if the job is the subject's latest one; results of others are dropped.
  [[nodiscard]] bool is_current(SubjectId subject, std::int64_t job) const;
  void take_failure(SubjectId subject, const JobFailure& failure);

  void load(OpenSubject& subject);
  void take_model(SubjectId subject, const std::shared_ptr<const Model>& model);
  /// Compares the model with a reference next to its file, if there is one.
  void compare_with_reference(OpenSubject& subject);
  void learn(OpenSubject& subject);

  void run(OpenSubject& subject);
  [[nodiscard]] SubjectRun next_run(const OpenSubject& subject) const;
  /// Called on the run's thread; take_layers follows on this one.
  void hand_over_layers(SubjectId subject, const std::shared_ptr<std::int64_t>& job,
                        const std::shared_ptr<const Input>& input,
                        std::shared_ptr<const Trace> trace, std::int64_t layers);
  void take_layers(OpenSubject& subject, const std::shared_ptr<const Input>& input,
                   std::shared_ptr<const Trace> trace, std::int64_t layers);
  void take_end(SubjectId subject, const RunEnd& end);
  /// Sets the trace, and runs again if weights or changes came during the run.
  void take_run(SubjectId subject, const WhatIf& ran_with, std::shared_ptr<const Trace> unchanged,
                std::shared_ptr<const Trace> trace);
  void set_trace(SubjectId subject, std::shared_ptr<const Trace> trace);
  void show_trace(OpenSubject& subject, std::shared_ptr<const Trace> trace);
  /// Updates the label: the user's name or the default name.
  static void take_name(OpenSubject& subject);
  void clamp_selection();
  void follow_query(const Selection& before);

  std::vector<OpenSubject> subjects_;
  std::int64_t last_id_ = 0;
  SubjectId reference_ = SubjectId::none;
  Selection selection_;
  ViewSettings view_;
  std::string input_locator_;
  std::shared_ptr<const Input> input_;
  std::string input_error_;
  bool input_stopped_ = false;
  std::int64_t input_job_ = 0;
  std::function<PanelSettings()> panel_settings_source_;
  std::unique_ptr<JobQueue> jobs_;  // last: its destruction waits for jobs that use this
};

/// Default name of a subject: "fashion-softmax with adder attention + identity", "fashion-softmax
/// with hash attention, codes learned here, 16 bits".
[[nodiscard]] std::string subject_label(const Model& model,
                                        const std::optional<MechanismChoice>& overlay,
                                        bool learned_here = false);

}  // namespace attnscope
