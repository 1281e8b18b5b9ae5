// The Session's long work: opening files and running models. Every result finds its subject by id
// and by job, so that a late one, of a subject closed or started anew meanwhile, is dropped.
#include <algorithm>
#include <utility>

#include "analysis/hash_codes/learned_codes.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "core/error.h"
#include "core/model/evaluation/self_test.h"
#include "core/trace/trace_file.h"

namespace attnscope {

using State = OpenSubject::State;

std::string subject_label(const Model& model, const std::optional<MechanismChoice>& overlay,
                          bool learned_here) {
  if (overlay && learned_here) {
    return model.name() + " as hash (learned here, " + to_string(overlay->parameters.at("bits")) +
           " bits)";
  }
  return overlay ? model.name() + " as " + to_string(*overlay) : model.name();
}

namespace {

/// The input that it keeps, where it is open already; else null.
std::shared_ptr<const Input> kept_input(const Subject& subject) {
  return subject.input && subject.input->locator == subject.own_input ? subject.input : nullptr;
}

/// Named by its model, what lies over it, and the input that it keeps.
void name_subject(OpenSubject& open) {
  Subject& subject = open.subject;
  subject.label = subject_label(*subject.model, open.overlay, open.learning.has_value());
  if (subject.own_input.empty()) return;
  const std::shared_ptr<const Input> kept = kept_input(subject);
  subject.label +=
      " on " + (kept ? kept->label : std::filesystem::path(subject.own_input).filename().string());
}

/// Another subject of the same model and the same input.
OpenSubject beside(const OpenSubject& other) {
  OpenSubject open;
  open.file = other.file;
  open.options = other.options;
  open.subject.model = other.subject.model;
  open.subject.own_input = other.subject.own_input;
  return open;
}

}  // namespace

SubjectId Session::open(const std::filesystem::path& file, const ModelOptions& options) {
  OpenSubject open;
  open.file = file;
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
  open->channel.reset();
  open->subject.model = nullptr;
  open->subject.parameters = nullptr;  // learnt again, of the model as it is then
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

void Session::reload(SubjectId subject) {
  OpenSubject* const open = found(subject);
  if (!open) return;
  // The file may have changed since it was opened: what was read of it is of no use any more.
  open->subject.model = nullptr;
  open->subject.parameters = nullptr;
  start(subject);
}

void Session::set_input(const std::string& locator) {
  jobs_->cancel(input_job_);
  input_locator_ = locator;
  input_ = nullptr;
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
        input_error_ = failure.cancelled ? "cancelled; choose it again to go on" : failure.what;
        emit input_changed();
      });
  input_job_ = *job;
  emit input_changed();
}

void Session::start(SubjectId subject) {
  OpenSubject* open = found(subject);
  if (!open) return;
  jobs_->cancel(open->job);
  open->job = 0;
  open->error.clear();
  if (!open->subject.model) {
    load(*open);
  } else if (open->learning && !open->subject.parameters) {
    learn(*open);
  } else if (input_ || !open->subject.own_input.empty()) {
    run(*open);
  } else {
    open->state = State::waiting;
  }
  emit subjects_changed();
}

void Session::submit(OpenSubject& subject, const QString& title,
                     std::function<std::function<void()>(const Progress&)> work) {
  // The job's id is known only once it is submitted; results come later, on this thread.
  auto job = std::make_shared<JobId>(0);
  const auto is_current = [this, id = subject.id, job] {
    const OpenSubject* open = find(id);
    return open && open->job == *job;
  };
  *job = jobs_->submit(
      title,
      [work = std::move(work), is_current](const Progress& progress) -> JobQueue::Delivery {
        return [deliver = work(progress), is_current] {
          if (is_current()) deliver();
        };
      },
      [this, id = subject.id, is_current](const JobFailure& failure) {
        if (!is_current()) return;
        OpenSubject* open = found(id);
        open->job = 0;
        open->state = State::failed;
        // What an earlier input or mechanism gave would be taken for this one's result.
        open->subject.trace = nullptr;
        open->error = failure.cancelled ? "cancelled; open it again to go on" : failure.what;
        emit subjects_changed();
      });
  subject.job = *job;
}

void Session::load(OpenSubject& subject) {
  subject.state = State::loading;
  subject.reference_says.clear();
  const SubjectId id = subject.id;
  submit(subject, tr("Opening %1").arg(QString::fromStdString(subject.file.filename().string())),
         [this, id, file = subject.file,
          options = subject.options](const Progress& progress) -> std::function<void()> {
           if (file.empty()) {
             throw Error(ErrorKind::io, "it was captured in memory and never written to a file")
                 .remedy("write it with attnscope trace --out, and open that file");
           }
           if (is_trace_file(file)) {
             auto trace = std::make_shared<const Trace>(read_trace(file));
             return [this, id, trace] { take_trace(id, trace); };
           }
           auto model = load_model(file, options, progress);
           return [this, id, model] {
             OpenSubject* open = found(id);
             open->subject.model = model;
             open->subject.mechanism = open->overlay.value_or(model->spec().mechanism);
             name_subject(*open);
             compare_with_reference(*open);
             start(id);
           };
         });
}

void Session::compare_with_reference(const OpenSubject& subject) {
  const std::optional<std::filesystem::path> reference = reference_beside(subject.file);
  if (!reference) return;
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

void Session::run(OpenSubject& subject) {
  subject.state = State::running;
  const SubjectId id = subject.id;
  TraceRequest request;
  request.tokens = true;   // what representations are compared by, and rank over depth
  request.factors = true;  // what spectra come from where a mechanism has them
  request.quantities = true;
  request.channel = subject.channel;
  request.parameters = subject.subject.parameters;
  const std::string own = subject.subject.own_input;
  const std::shared_ptr<const Input> chosen = own.empty() ? input_ : kept_input(subject.subject);
  submit(subject, tr("Running %1").arg(QString::fromStdString(subject.subject.label)),
         [this, id, request, model = subject.subject.model, mechanism = subject.subject.mechanism,
          chosen, own](const Progress& progress) -> std::function<void()> {
           const auto input = chosen ? chosen : std::make_shared<const Input>(open_input(own));
           auto trace =
               std::make_shared<const Trace>(model->run(*input, mechanism, request, progress));
           return [this, id, input, trace] {
             OpenSubject* open = found(id);
             open->subject.input = input;
             name_subject(*open);
             take_trace(id, trace);
           };
         });
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

void Session::take_trace(SubjectId subject, std::shared_ptr<const Trace> trace) {
  OpenSubject* open = found(subject);
  open->job = 0;
  open->state = State::ready;
  open->subject.mechanism = trace->mechanism;
  open->subject.trace = std::move(trace);
  const Selection before = selection_;
  clamp_selection();
  emit subjects_changed();
  emit trace_ready(subject);
  if (selection_ != before) emit selection_changed();
}

}  // namespace attnscope
