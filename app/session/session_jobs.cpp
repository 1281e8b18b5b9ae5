// The Session's long work: opening files and running models. Every result is matched by subject id
// and job; results for subjects that were closed or restarted are dropped.
#include <algorithm>
#include <utility>

#include "analysis/hash_codes/learned_codes.h"
#include "app/session/hand_over.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/session/subject_run.h"
#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/model/evaluation/self_test.h"
#include "core/trace/trace_file.h"

namespace attnscope {

using State = OpenSubject::State;

std::string subject_label(const Model& model, const std::optional<MechanismChoice>& overlay,
                          bool learned_here) {
  if (overlay && learned_here) {
    return model.name() + " with hash attention, codes learned here, " +
           to_string(overlay->parameters.at("bits")) + " bits";
  }
  return overlay ? model.name() + " with " + in_words(*overlay) : model.name();
}

namespace {

/// The subject's own input if it is open already, otherwise null.
std::shared_ptr<const Input> kept_input(const Subject& subject) {
  return subject.input && subject.input->locator == subject.own_input ? subject.input : nullptr;
}

/// Names the subject by its model, overlay, changes and own input.
void name_subject(OpenSubject& open) {
  Subject& subject = open.subject;
  if (!open.own_name.empty()) {
    subject.label = open.own_name;
    return;
  }
  subject.label = subject_label(*subject.model, open.overlay, open.learning.has_value());
  if (open.what_if.any()) subject.label += ", " + in_words(open.what_if);
  if (subject.own_input.empty()) return;
  const std::shared_ptr<const Input> kept = kept_input(subject);
  subject.label +=
      " on " + (kept ? kept->label : std::filesystem::path(subject.own_input).filename().string());
}

/// True if the subject's trace is of the same input and mechanism, and of all layers, as after new
/// weights. It stays visible until the next one is complete.
bool has_former_trace(const OpenSubject& open, const std::shared_ptr<const Input>& input) {
  const std::shared_ptr<const Trace>& former = open.subject.trace;
  return former && !former->layers.empty() && former->heads(std::ssize(former->layers) - 1) > 0 &&
         open.subject.input == input && former->mechanism == open.subject.mechanism;
}

/// A new subject with the same model and the same input.
OpenSubject beside(const OpenSubject& other) {
  OpenSubject open;
  open.file = other.file;
  open.is_of_file = other.is_of_file;
  open.options = other.options;
  open.subject.model = other.subject.model;
  open.subject.own_input = other.subject.own_input;
  return open;
}

}  // namespace

void Session::take_name(OpenSubject& subject) {
  if (subject.subject.model || !subject.own_name.empty()) return name_subject(subject);
  subject.subject.label = !subject.file.empty()   ? subject.file.stem().string()
                          : subject.subject.trace ? subject.subject.trace->model_name
                                                  : subject.subject.label;
}

SubjectId Session::open(const std::filesystem::path& file, const ModelOptions& options) {
  OpenSubject open;
  open.file = file;
  open.is_of_file = true;
  open.options = options;
  open.subject.label = file.stem().string();
  return append_and_start(std::move(open));
}

SubjectId Session::overlay(SubjectId subject, const MechanismChoice& mechanism) {
  const OpenSubject* const below = find(subject);
  if (!below || !below->subject.model) return SubjectId::none;
  OpenSubject open = beside(*below);
  open.overlay = mechanism;
  open.subject.mechanism = mechanism;
  name_subject(open);
  return append_and_start(std::move(open));
}

SubjectId Session::learn_codes(SubjectId subject, const HashLearningOptions& options) {
  check(options);
  const OpenSubject* const below = find(subject);
  if (!below || !below->subject.model || input_locator_.empty()) return SubjectId::none;
  OpenSubject open = beside(*below);
  open.overlay = make_mechanism({"hash",
                                 {{"codes", std::string("learned")},
                                  {"bits", options.bits},
                                  {"supports", options.supports}}})
                     ->choice();
  open.learning = {options, below->learning ? below->learning->from : below->subject.mechanism,
                   below->subject.own_input.empty() ? input_locator_ : below->subject.own_input};
  open.subject.mechanism = *open.overlay;
  name_subject(open);
  return append_and_start(std::move(open));
}

SubjectId Session::keep_on_input(SubjectId subject) {
  const OpenSubject* const other = find(subject);
  if (!other || !other->subject.model || input_locator_.empty()) return SubjectId::none;
  OpenSubject open = beside(*other);
  open.overlay = other->overlay;
  open.channel = other->channel;
  open.what_if = other->what_if;
  open.what_if.toward = SubjectId::none;  // the target of the interpolation has the current input
  open.what_if.share = 0;
  open.learning = other->learning;
  open.subject.parameters = other->subject.parameters;
  open.subject.mechanism = other->subject.mechanism;
  open.subject.own_input = input_locator_;
  open.subject.input = input_;
  name_subject(open);
  return append_and_start(std::move(open));
}

void Session::set_options(SubjectId subject, const ModelOptions& options) {
  OpenSubject* const open = found(subject);
  if (!open) return;
  open->options = options;
  open->what_if = {};
  open->channel.reset();
  open->subject.model = nullptr;
  open->subject.parameters = nullptr;  // learned again from the newly loaded model
  start(subject);
}

void Session::set_overlay(SubjectId subject, const std::optional<MechanismChoice>& mechanism) {
  OpenSubject* const open = found(subject);
  if (!open) return;
  open->overlay = mechanism;
  open->learning.reset();
  open->subject.parameters = nullptr;
  open->channel.reset();
  if (open->subject.model) {
    open->subject.mechanism = mechanism.value_or(open->subject.model->spec().mechanism);
    name_subject(*open);
  }
  start(subject);
}

void Session::set_channel(SubjectId subject, std::optional<std::int64_t> channel) {
  OpenSubject* const open = found(subject);
  if (!open || !open->subject.model || open->channel == channel) return;
  open->channel = channel;
  start(subject);
}

SubjectId Session::add_model(std::shared_ptr<const Model> model,
                             const std::filesystem::path& file) {
  OpenSubject open;
  open.file = file;
  open.subject.mechanism = model->spec().mechanism;
  open.subject.model = std::move(model);
  name_subject(open);
  return append_and_start(std::move(open));
}

void Session::set_model(SubjectId subject, std::shared_ptr<const Model> model,
                        const std::filesystem::path& file) {
  const OpenSubject* const open = find(subject);
  if (!open || open->subject.model == model) return;
  const std::shared_ptr<const Model> former = open->subject.model;
  std::vector<SubjectId> followers;
  for (OpenSubject& one : subjects_) {
    const bool lies_over_it = former && one.subject.model == former && !one.learning;
    if (one.id != subject && !lies_over_it) continue;
    one.file = file;
    one.subject.model = model;
    if (!one.overlay) one.subject.mechanism = model->spec().mechanism;
    name_subject(one);
    followers.push_back(one.id);
  }
  for (const SubjectId id : followers) {
    OpenSubject* const one = found(id);
    one->has_new_weights = one->in_progress();
    if (!one->has_new_weights) start(id);
  }
}

void Session::reload(SubjectId subject) {
  OpenSubject* const open = found(subject);
  if (!open) return;
  // The file may have changed since it was opened, so everything read from it is discarded.
  open->subject.model = nullptr;
  open->subject.parameters = nullptr;
  open->what_if = {};
  start(subject);
}

void Session::take_contents(SubjectId subject, const FileContents& contents,
                            const std::string& change) {
  OpenSubject* const open = found(subject);
  if (!open) return;
  open->file_change = change;
  open->is_behind_file = false;
  const bool was_model = open->subject.model != nullptr;
  if (was_model != (contents.model != nullptr)) return reload(subject);
  if (contents.trace) {
    jobs_->cancel(std::exchange(open->job, 0));
    return set_trace(subject, contents.trace);
  }
  set_model(subject, contents.model, open->file);
  for (OpenSubject& one : subjects_) {
    if (one.subject.model != contents.model) continue;
    one.file_change = change;
    one.is_behind_file = false;
  }
  OpenSubject& now = *found(subject);
  now.reference_says.clear();
  compare_with_reference(now);
  emit subjects_changed();
}

void Session::set_file_change(SubjectId subject, const std::string& change, bool is_behind_file) {
  const OpenSubject* const open = find(subject);
  if (!open) return;
  const std::shared_ptr<const Model> model = open->subject.model;
  for (OpenSubject& one : subjects_) {
    if (one.id != subject && (!model || one.subject.model != model)) continue;
    one.file_change = change;
    one.is_behind_file = is_behind_file;
  }
  emit subjects_changed();
}

void Session::retry(SubjectId subject) {
  OpenSubject* const open = found(subject);
  if (!open || !open->stopped) return reload(subject);
  const std::optional<std::int64_t> shown = open->layers_so_far;
  start(subject);
  if (OpenSubject* const again = found(subject)) again->layers_so_far = shown;
}

void Session::resume() {
  if (input_stopped_) set_input(input_locator_);
  std::vector<SubjectId> stopped;
  for (const OpenSubject& open : subjects_) {
    if (open.stopped) stopped.push_back(open.id);
  }
  for (const SubjectId subject : stopped) retry(subject);
}

void Session::set_what_if(SubjectId subject, const WhatIf& what_if) {
  OpenSubject* const open = found(subject);
  if (!open || !open->subject.model || open->what_if == what_if) return;
  const OpenSubject* const other = find(what_if.toward);
  if (other && (other->id == subject || other->what_if.toward != SubjectId::none)) return;
  open->what_if = what_if;
  name_subject(*open);
  if (open->in_progress() && open->unchanged) {
    emit subjects_changed();
    return;  // take_run starts the next run
  }
  if (open->is_complete()) {
    if (!open->unchanged) open->unchanged = open->subject.trace;
    if (!what_if.any()) {
      return take_run(subject, what_if, nullptr, std::exchange(open->unchanged, nullptr));
    }
  }
  proceed(*open);
}

void Session::set_input(const std::string& locator) {
  jobs_->cancel(input_job_);
  input_locator_ = locator;
  input_ = nullptr;
  input_stopped_ = false;
  input_error_.clear();
  auto job = std::make_shared<JobId>(0);
  const auto is_current = [this, job] { return input_job_ == *job; };
  *job = jobs_->submit(
      tr("Opening %1").arg(QString::fromStdString(locator)),
      [this, locator, is_current](const Progress&) -> JobQueue::Delivery {
        auto input = std::make_shared<const Input>(open_input(locator));
        return [this, input, is_current] {
          if (!is_current()) return;
          input_job_ = 0;
          input_ = input;
          emit input_changed();
          std::vector<SubjectId> ids;
          for (const OpenSubject& open : subjects_) {
            if (open.subject.model && open.subject.own_input.empty()) ids.push_back(open.id);
          }
          for (const SubjectId id : ids) start(id);
        };
      },
      [this, is_current](const JobFailure& failure) {
        if (!is_current()) return;
        input_job_ = 0;
        input_stopped_ = failure.cancelled;
        input_error_ = failure.cancelled ? "stopped before it was opened" : failure.what;
        emit input_changed();
      });
  input_job_ = *job;
  emit input_changed();
}

void Session::start(SubjectId subject) {
  OpenSubject* open = found(subject);
  if (!open) return;
  open->unchanged = nullptr;
  proceed(*open);
}

void Session::proceed(OpenSubject& subject) {
  jobs_->cancel(subject.job);
  subject.job = 0;
  subject.has_new_weights = false;
  subject.error.clear();
  subject.stopped = false;
  subject.layers_so_far.reset();
  if (!subject.subject.model) {
    load(subject);
  } else if (subject.learning && !subject.subject.parameters) {
    learn(subject);
  } else if ((input_ || !subject.subject.own_input.empty()) && !waits_for_other(subject) &&
             !waits_for_question(subject)) {
    run(subject);
  } else {
    subject.state = State::waiting;
  }
  emit subjects_changed();
}

/// True if the subject's interpolation target has to run first.
bool Session::waits_for_other(OpenSubject& subject) const {
  WhatIf& what_if = subject.what_if;
  if (what_if.toward == SubjectId::none) return false;
  const OpenSubject* const other = find(what_if.toward);
  if (!other || other->subject.model != subject.subject.model) {
    what_if.toward = SubjectId::none;
    what_if.share = 0;
    return false;
  }
  return other->state != State::ready || other->subject.own_input != subject.subject.own_input ||
         (subject.subject.own_input.empty() && other->subject.input != input_);
}

bool Session::is_current(SubjectId subject, JobId job) const {
  const OpenSubject* const open = find(subject);
  return open && job != 0 && open->job == job;
}

void Session::submit(OpenSubject& subject, const QString& title,
                     std::function<std::function<void()>(const Progress&)> work,
                     const std::shared_ptr<JobId>& job) {
  *job = jobs_->submit(
      title,
      [this, id = subject.id, job, work = std::move(work)](const Progress& progress) {
        return [this, id, job, deliver = work(progress)] {
          if (is_current(id, *job)) deliver();
        };
      },
      [this, id = subject.id, job](const JobFailure& failure) {
        if (is_current(id, *job)) take_failure(id, failure);
      });
  subject.job = *job;
}

void Session::take_failure(SubjectId subject, const JobFailure& failure) {
  OpenSubject* const open = found(subject);
  open->job = 0;
  open->stopped = failure.cancelled;
  if (failure.cancelled && open->layers_so_far) {
    open->state = State::ready;  // keeps the recorded layers
  } else {
    open->state = State::failed;
    open->layers_so_far.reset();
    // The trace of an earlier input or mechanism could be mistaken for this run's result.
    open->subject.trace = nullptr;
    open->error = failure.cancelled ? "stopped" : failure.what;
  }
  emit subjects_changed();
}

void Session::load(OpenSubject& subject) {
  subject.state = State::loading;
  subject.file_change.clear();
  subject.is_behind_file = false;
  subject.reference_says.clear();
  const SubjectId id = subject.id;
  submit(subject, tr("Opening %1").arg(QString::fromStdString(subject.file.filename().string())),
         [this, id, file = subject.file,
          options = subject.options](const Progress& progress) -> std::function<void()> {
           if (file.empty()) {
             throw Error(ErrorKind::io,
                         "the trace was captured in memory and never written to a file")
                 .remedy("write it with attnscope trace --out, and open that file");
           }
           if (is_trace_file(file)) {
             auto trace = std::make_shared<const Trace>(read_trace(file));
             return [this, id, trace] { set_trace(id, trace); };
           }
           auto model = load_model(file, options, progress);
           return [this, id, model] { take_model(id, model); };
         });
}

void Session::take_model(SubjectId subject, const std::shared_ptr<const Model>& model) {
  OpenSubject* const open = found(subject);
  open->subject.model = model;
  open->subject.mechanism = open->overlay.value_or(model->spec().mechanism);
  name_subject(*open);
  compare_with_reference(*open);
  start(subject);
}

void Session::compare_with_reference(OpenSubject& subject) {
  const std::optional<std::filesystem::path> reference = reference_beside(subject.file);
  if (!reference) return;
  // Models that would be unconfirmed are compared while they are loaded.
  if (ModelStatus status = subject.subject.model->status(); !status.reference.empty()) {
    subject.agrees_with_reference = status.state == ModelState::confirmed;
    subject.reference_says = std::move(status.reference);
    return;
  }
  const auto tell = [this, id = subject.id, model = subject.subject.model](const std::string& words,
                                                                           bool agrees) {
    OpenSubject* const open = found(id);
    if (!open || open->subject.model != model) return;
    open->reference_says = words;
    open->agrees_with_reference = agrees;
    emit subjects_changed();
  };
  jobs_->submit(
      tr("Comparing %1 with its reference").arg(QString::fromStdString(subject.subject.label)),
      [model = subject.subject.model, file = *reference,
       tell](const Progress& progress) -> JobQueue::Delivery {
        const SelfTest test = self_test(*model, file, progress);
        return [tell, test] { tell(in_words(test), test.agrees()); };
      },
      [tell](const JobFailure& failure) {
        if (!failure.cancelled) tell("was not compared with its reference: " + failure.what, false);
      },
      this);
}

SubjectRun Session::next_run(const OpenSubject& subject) const {
  SubjectRun run;
  run.subject = subject.subject;
  run.input = subject.subject.own_input.empty() ? input_ : kept_input(subject.subject);
  run.channel = subject.channel;
  run.what_if = subject.what_if;
  run.unchanged = subject.unchanged;
  if (const OpenSubject* const other = find(subject.what_if.toward)) {
    run.toward = other->unchanged ? other->unchanged : other->subject.trace;
  }
  // Changed maps are shown next to the unchanged ones, which must therefore be complete.
  run.by_layers = !run.what_if.any() && !has_former_trace(subject, run.input);
  return run;
}

void Session::run(OpenSubject& subject) {
  subject.state = State::running;
  const SubjectId id = subject.id;
  const auto job = std::make_shared<JobId>(0);
  const auto layers_recorded = [this, id, job](const std::shared_ptr<const Input>& input,
                                               std::shared_ptr<const Trace> trace,
                                               std::int64_t layers) {
    hand_over_layers(id, job, input, std::move(trace), layers);
  };
  submit(
      subject, tr("Running %1").arg(QString::fromStdString(subject.subject.label)),
      [this, id, run = next_run(subject),
       layers_recorded](const Progress& progress) -> std::function<void()> {
        return [this, id, end = carry_out(run, layers_recorded, progress)] { take_end(id, end); };
      },
      job);
}

void Session::hand_over_layers(SubjectId subject, const std::shared_ptr<JobId>& job,
                               const std::shared_ptr<const Input>& input,
                               std::shared_ptr<const Trace> trace, std::int64_t layers) {
  queue_call(this, [this, subject, job, input, trace = std::move(trace), layers] {
    if (is_current(subject, *job)) take_layers(*found(subject), input, trace, layers);
  });
}

void Session::take_layers(OpenSubject& subject, const std::shared_ptr<const Input>& input,
                          std::shared_ptr<const Trace> trace, std::int64_t layers) {
  if (subject.layers_so_far && *subject.layers_so_far >= layers) return;  // shown already
  subject.layers_so_far = layers;
  subject.run = subject.job;
  subject.subject.input = input;
  name_subject(subject);
  show_trace(subject, std::move(trace));
}

void Session::take_end(SubjectId subject, const RunEnd& end) {
  OpenSubject* const open = found(subject);
  const bool refused = end.state == RunEnd::State::refused;
  if (refused) open->what_if = {};
  open->subject.input = end.input;
  name_subject(*open);
  take_run(subject, end.ran_with, end.unchanged, end.trace);
  if (refused) emit failed(QString::fromStdString(end.error));
}

void Session::take_run(SubjectId subject, const WhatIf& ran_with,
                       std::shared_ptr<const Trace> unchanged, std::shared_ptr<const Trace> trace) {
  OpenSubject* const open = found(subject);
  open->ran_with = ran_with;
  open->unchanged = std::move(unchanged);
  if (open->has_new_weights) {
    open->unchanged = nullptr;
    set_trace(subject, std::move(trace));
    return start(subject);
  }
  const bool has_other_changes = open->what_if != ran_with;
  set_trace(subject, std::move(trace));
  if (has_other_changes) {
    OpenSubject* const changed = found(subject);
    if (!changed->unchanged) changed->unchanged = changed->subject.trace;
    proceed(*changed);
  }
  // Subjects that interpolate toward this one run again.
  std::vector<SubjectId> others;
  for (const OpenSubject& one : subjects_) {
    if (one.what_if.toward == subject && one.what_if.share > 0) others.push_back(one.id);
  }
  for (const SubjectId other : others) start(other);
}

void Session::learn(OpenSubject& subject) {
  subject.state = State::running;
  const SubjectId id = subject.id;
  submit(subject, tr("Learning %1").arg(QString::fromStdString(subject.subject.label)),
         [this, id, model = subject.subject.model,
          learning = *subject.learning](const Progress& progress) -> std::function<void()> {
           const auto input = std::make_shared<const Input>(open_input(learning.input));
           const auto parameters =
               learn_hash_codes(*model, learning.from, {input}, learning.options, progress)
                   .tensors.layers;
           return [this, id, parameters] {
             found(id)->subject.parameters = parameters;
             start(id);
           };
         });
}

void Session::set_trace(SubjectId subject, std::shared_ptr<const Trace> trace) {
  OpenSubject* open = found(subject);
  open->run = std::exchange(open->job, 0);
  open->state = State::ready;
  open->layers_so_far.reset();
  show_trace(*open, std::move(trace));
}

void Session::show_trace(OpenSubject& subject, std::shared_ptr<const Trace> trace) {
  const SubjectId id = subject.id;
  subject.subject.mechanism = trace->mechanism;
  subject.subject.trace = std::move(trace);
  const Selection before = selection_;
  clamp_selection();
  emit subjects_changed();
  emit trace_ready(id);
  if (selection_ != before) emit selection_changed();
}

}  // namespace attnscope
