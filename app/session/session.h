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
#include "app/session/what_if.h"
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
  std::string error;     ///< what went wrong and what to do, when failed
  bool stopped = false;  ///< by the user, before it was done: retry() goes on
  /// Of a run that is under way, or was stopped: its trace holds so many first layers alone.
  std::optional<std::int64_t> layers_so_far;
  std::int64_t run = 0;  ///< the job that brought its trace; 0: none did

  SubjectId id = SubjectId::none;
  std::string own_name;  ///< that the user gave it, in place of its own; else empty
  std::optional<MechanismChoice> overlay;  ///< laid over the model instead of its own mechanism
  std::optional<std::int64_t> channel;     ///< whose maps, see TraceRequest; their mean if absent
  std::int64_t job = 0;                    ///< the JobQueue's id while loading or running
  /// With an overlay of hashed attention whose codes are learnt here: subject.parameters, once
  /// they are.
  std::optional<CodesToLearn> learning;
  /// What a reference beside the file says of the model (core/model/evaluation/self_test.h), in
  /// words, and whether it is that they agree; empty without one, and until it was compared.
  std::string reference_says;
  bool agrees_with_reference = false;

  WhatIf what_if;                ///< what its maps are to be changed to while it runs
  WhatIf ran_with;               ///< and what they were changed to in the trace it has
  bool has_new_weights = false;  ///< that came while it ran: it runs again
  /// How it runs by itself, while subject.trace is of changed maps; else null.
  std::shared_ptr<const Trace> unchanged;
};

/// What the user has set up: what undo takes back. Cheap to copy: models and traces are shared.
struct SessionState {
  std::vector<OpenSubject> subjects;
  std::string input_locator;
  std::shared_ptr<const Input> input;
  ViewSettings view;
  SubjectId reference = SubjectId::none;
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
  /// Whether the user stopped it before it was opened.
  [[nodiscard]] bool input_stopped() const { return input_stopped_; }
  /// Why the input could not be opened; empty if nothing is wrong.
  [[nodiscard]] const std::string& input_error() const { return input_error_; }
  [[nodiscard]] JobQueue& jobs() { return *jobs_; }
  [[nodiscard]] const JobQueue& jobs() const { return *jobs_; }

  /// The open subject of that name, or null: it is closed. Until the subjects change.
  [[nodiscard]] const OpenSubject* find(SubjectId subject) const;
  /// Its place among subjects(), which decides its number and colour; -1: it is closed.
  [[nodiscard]] std::int64_t place_of(SubjectId subject) const;
  /// The trace of a subject, or null: no such subject, or not run yet.
  [[nodiscard]] std::shared_ptr<const Trace> trace(SubjectId subject) const;
  /// The pinned subject that the others are compared with, or none.
  [[nodiscard]] SubjectId reference() const { return reference_; }

  /// Opens a weight or trace file in the background and runs it on the current input. Failure is
  /// a state of the subject, never an exception.
  SubjectId open(const std::filesystem::path& file, const ModelOptions& options = {});
  /// The same model under another mechanism, as a further subject; none if `subject` has no model.
  SubjectId overlay(SubjectId subject, const MechanismChoice& mechanism);
  /// The same model hashed, with codes learnt in the background from what `subject` attends to on
  /// the current input, as a further subject; none if `subject` has no model or there is no input.
  /// Throws Error(usage) for options out of range.
  SubjectId learn_codes(SubjectId subject, const HashLearningOptions& options);
  /// The same subject once more, kept on the current input whatever is chosen later, to be seen
  /// beside the others; none if `subject` has no model or there is no input.
  SubjectId keep_on_input(SubjectId subject);
  /// A model already in memory, as a further subject. `file`: where it is kept, if it is.
  SubjectId add_model(std::shared_ptr<const Model> model, const std::filesystem::path& file);
  /// Other weights for a subject and for those that lie over the same model, which are run again:
  /// a network as it learns. What is shown stays until then; while one runs, further ones wait for
  /// it, and only the last is run. Codes that were learnt of the former weights keep these.
  void set_model(SubjectId subject, std::shared_ptr<const Model> model,
                 const std::filesystem::path& file);
  /// A trace already in memory, as a ready subject.
  SubjectId add_trace(std::shared_ptr<const Trace> trace, std::string label);
  void close(SubjectId subject);
  /// Opens an input in the background and runs every model on it that keeps none of its own.
  void set_input(const std::string& locator);
  /// Loads the model again under other options.
  void set_options(SubjectId subject, const ModelOptions& options);
  /// Another mechanism for a subject (none: the model's own), and runs it again.
  void set_overlay(SubjectId subject, const std::optional<MechanismChoice>& mechanism);
  /// Other maps of a subject whose channels each have their own (none: their mean), and runs it
  /// again.
  void set_channel(SubjectId subject, std::optional<std::int64_t> channel);
  /// Runs a subject with its maps changed, or as it is again; none of this for traces without a
  /// model. While one change runs, further ones wait for it, and only the last is run: a slider can
  /// be dragged. What cannot be done is told by failed(), and the subject runs as it is.
  void set_what_if(SubjectId subject, const WhatIf& what_if);
  /// Reads a subject's file again, whatever it holds now, and runs it: after a failure, or because
  /// the file was written anew.
  void reload(SubjectId subject);

  /// After a failure: reads the file again; what was stopped goes on from what was done.
  void retry(SubjectId subject);
  /// With every subject, and the input, that was stopped. What it showed stays until there is more.
  void go_on();

  /// Clamps to what the selected subject has.
  void select(const Selection& selection);
  /// Selects another map, and with it the query at the same place in the input.
  void select_map(SubjectId subject, std::int64_t layer, std::int64_t head);
  /// The class token's row; nothing where the selected subject has no such token.
  void select_class_token();
  /// Calls a subject so wherever it is named, in figures too; by an empty name as it is called by
  /// itself.
  void rename(SubjectId subject, const std::string& name);
  /// Pins a subject as reference, or none.
  void set_reference(SubjectId subject);
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
  /// What a session file in `folder` says: a text.
  [[nodiscard]] std::string text(const std::filesystem::path& folder) const;
  /// Written beside, then renamed. Throws Error.
  void save(const std::filesystem::path& file) const;
  /// Replaces what is open. A missing model becomes a failed subject; Error if the session file
  /// itself cannot be read, with the open session untouched.
  void restore(const std::filesystem::path& file);

  /// True when no job runs or waits.
  [[nodiscard]] bool idle() const;

 signals:
  void subjects_changed();  ///< one was added, removed or changed its state
  /// Its trace is new: that of a whole run, or with more layers of one that is under way.
  void trace_ready(SubjectId subject);
  /// Subjects get newer weights: their traces and what follows from these come in a burst.
  void weights_coming();
  void selection_changed();
  void view_changed();
  void reference_changed();  ///< another one is pinned, or none
  void input_changed();      ///< another input, or it is opened now, or it failed
  /// A session file was opened in place of what was open; its panels are to be set so.
  void restored(const PanelSettings& settings);
  void failed(const QString& what);  ///< an error that belongs to no subject

 private:
  OpenSubject* found(SubjectId subject);
  SubjectId append(OpenSubject subject);
  SubjectId append_and_start(OpenSubject subject);
  void start(SubjectId subject);       // loads if there is no model, else runs
  void proceed(OpenSubject& subject);  // the same, with what is known of it kept
  void load(OpenSubject& subject);
  /// Compares the model with a reference beside its file, if there is one.
  void compare_with_reference(OpenSubject& subject);
  void run(OpenSubject& subject);
  void take_run(SubjectId subject, const WhatIf& ran_with, std::shared_ptr<const Trace> unchanged,
                std::shared_ptr<const Trace> trace);
  [[nodiscard]] bool waits_for_other(OpenSubject& subject) const;
  void learn(OpenSubject& subject);
  void take_trace(SubjectId subject, std::shared_ptr<const Trace> trace);
  void take_layers(OpenSubject& subject, const std::shared_ptr<const Input>& input,
                   std::shared_ptr<const Trace> trace, std::int64_t layers);
  void show_trace(OpenSubject& subject, std::shared_ptr<const Trace> trace);
  void submit(OpenSubject& subject, const QString& title,
              std::function<std::function<void()>(const Progress&)> work);
  /// Its label: the user's, else what it is.
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
  std::unique_ptr<JobQueue> jobs_;  // last: its destruction waits for jobs that know the session
};

/// "fashion-softmax as adder (identity=true)", "fashion-softmax as hash (learned here, 16 bits)":
/// how a subject is called.
[[nodiscard]] std::string subject_label(const Model& model,
                                        const std::optional<MechanismChoice>& overlay,
                                        bool learned_here = false);

}  // namespace attnscope
