#include "app/session/session.h"

#include <algorithm>
#include <utility>

#include "app/session/job_queue.h"
#include "core/trace/layer_layout.h"

namespace attnscope {

namespace {

constexpr double kMinTemperature = 0.1, kMaxTemperature = 10;
constexpr double kMinThreshold = 0.01, kMaxThreshold = 1;

std::int64_t clamp_index(std::int64_t index, std::int64_t count) {
  return std::clamp<std::int64_t>(index, 0, std::max<std::int64_t>(count - 1, 0));
}

std::optional<std::int64_t> within(std::optional<std::int64_t> index, std::int64_t count) {
  return index && *index >= 0 && *index < count ? index : std::nullopt;
}

}  // namespace

Session::Session(QObject* parent) : QObject(parent), jobs_(std::make_unique<JobQueue>()) {}
Session::~Session() = default;

std::shared_ptr<const Trace> Session::trace(std::int64_t subject) const {
  if (subject < 0 || subject >= std::ssize(subjects_)) return nullptr;
  return subjects_[static_cast<std::size_t>(subject)].subject.trace;
}

std::int64_t Session::index_of(std::int64_t id) const {
  const auto found = std::ranges::find(subjects_, id, &OpenSubject::id);
  return found == subjects_.end() ? -1 : found - subjects_.begin();
}

OpenSubject* Session::find(std::int64_t id) {
  const auto found = std::ranges::find(subjects_, id, &OpenSubject::id);
  return found == subjects_.end() ? nullptr : &*found;
}

std::int64_t Session::append(OpenSubject subject) {
  subject.id = next_id_++;
  subjects_.push_back(std::move(subject));
  emit subjects_changed();
  return std::ssize(subjects_) - 1;
}

std::int64_t Session::add_trace(std::shared_ptr<const Trace> trace, std::string label) {
  OpenSubject open;
  open.subject.label = std::move(label);
  open.subject.mechanism = trace->mechanism;
  open.subject.trace = std::move(trace);
  open.state = OpenSubject::State::ready;
  const std::int64_t index = append(std::move(open));
  emit trace_ready(index);
  return index;
}

void Session::close(std::int64_t subject) {
  if (subject < 0 || subject >= std::ssize(subjects_)) return;
  jobs_->cancel(subjects_[static_cast<std::size_t>(subject)].job);
  const bool was_reference = reference() == subject;
  if (was_reference) reference_id_ = 0;
  subjects_.erase(subjects_.begin() + subject);
  if (selection_.subject > subject) --selection_.subject;
  clamp_selection();
  emit subjects_changed();
  emit selection_changed();
  if (was_reference) emit reference_changed();
}

void Session::set_reference(std::int64_t subject) {
  const bool exists = subject >= 0 && subject < std::ssize(subjects_);
  const std::int64_t id = exists ? subjects_[static_cast<std::size_t>(subject)].id : 0;
  if (id == reference_id_) return;
  reference_id_ = id;
  emit reference_changed();
}

void Session::select(const Selection& selection) {
  const Selection before = selection_;
  selection_ = selection;
  if (selection.subject == before.subject && selection.layer != before.layer &&
      selection.query == before.query) {
    follow_query(before.layer);
  }
  clamp_selection();
  if (selection_ != before) emit selection_changed();
}

/// In a layer on another grid the query stays at its place in the image.
void Session::follow_query(std::int64_t from) {
  const std::shared_ptr<const Trace> trace = this->trace(selection_.subject);
  const auto exists = [&](std::int64_t layer) {
    return trace && layer >= 0 && layer < std::ssize(trace->layers) && trace->queries(layer) > 0;
  };
  if (!exists(from) || !exists(selection_.layer)) return;
  selection_.query =
      same_place(query_layout(*trace, from), selection_.query,
                 query_layout(*trace, selection_.layer), trace->queries(selection_.layer));
}

void Session::clamp_selection() {
  selection_.subject = clamp_index(selection_.subject, std::ssize(subjects_));
  const std::shared_ptr<const Trace> trace = this->trace(selection_.subject);
  if (!trace) return;
  selection_.layer = clamp_index(selection_.layer, std::ssize(trace->layers));
  const std::int64_t queries = trace->queries(selection_.layer);
  selection_.head = clamp_index(selection_.head, trace->heads(selection_.layer));
  selection_.query = clamp_index(selection_.query, queries);
  // The map under the pointer may be of another layer than the selected one.
  selection_.hover_query = within(selection_.hover_query, trace->tokens());
  selection_.hover_key = within(selection_.hover_key, trace->tokens());
}

void Session::set_view(const ViewSettings& view) {
  ViewSettings next = view;
  next.temperature = std::clamp(view.temperature, kMinTemperature, kMaxTemperature);
  next.rank_threshold = std::clamp(view.rank_threshold, kMinThreshold, kMaxThreshold);
  next.wipe_position = std::clamp(view.wipe_position, 0.0, 1.0);
  next.overlay_opacity = std::clamp(view.overlay_opacity, 0.0, 1.0);
  if (next == view_) return;
  view_ = next;
  emit view_changed();
}

void Session::reset_lens() {
  ViewSettings view;
  view.rank_threshold = view_.rank_threshold;
  view.first_layer = view_.first_layer;
  view.comparison = view_.comparison;
  view.wipe_position = view_.wipe_position;
  view.overlay_opacity = view_.overlay_opacity;
  view.layer_alignment = view_.layer_alignment;
  view.match_heads = view_.match_heads;
  set_view(view);
}

SessionState Session::state() const {
  return {subjects_, input_locator_, input_, view_, reference_id_};
}

void Session::set_state(const SessionState& state) {
  jobs_->cancel(input_job_);
  input_job_ = 0;
  for (const OpenSubject& open : subjects_) jobs_->cancel(open.job);
  subjects_ = state.subjects;
  for (OpenSubject& open : subjects_) open.job = 0;
  reference_id_ = state.reference_id;
  view_ = state.view;
  input_ = state.input;
  input_locator_ = state.input_locator;
  input_error_.clear();
  clamp_selection();
  emit subjects_changed();
  emit reference_changed();
  emit view_changed();
  emit selection_changed();
  std::vector<std::int64_t> stale;
  for (std::size_t i = 0; i < subjects_.size(); ++i) {
    const OpenSubject& open = subjects_[i];
    const bool stands =
        open.state == OpenSubject::State::ready &&
        (!open.subject.model || !open.subject.own_input.empty() || open.subject.input == input_);
    if (stands) {
      emit trace_ready(static_cast<std::int64_t>(i));
    } else if (open.state != OpenSubject::State::failed) {
      stale.push_back(open.id);
    }
  }
  if (!input_ && !input_locator_.empty()) return set_input(input_locator_);
  emit input_changed();
  for (const std::int64_t id : stale) start(id);
}

bool Session::idle() const { return jobs_->idle(); }

}  // namespace attnscope
