#include "app/session/session.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/session/job_queue.h"
#include "core/trace/linked_tokens.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

constexpr double kMinTemperature = 0.1, kMaxTemperature = 10;
constexpr double kMinThreshold = 0.01, kMaxThreshold = 1;

std::int64_t clamp_index(std::int64_t index, std::int64_t count) {
  return std::clamp<std::int64_t>(index, 0, std::max<std::int64_t>(count - 1, 0));
}

}  // namespace

Session::Session(QObject* parent) : QObject(parent), jobs_(std::make_unique<JobQueue>()) {}
Session::~Session() = default;

const OpenSubject* Session::find(SubjectId subject) const {
  const auto found = std::ranges::find(subjects_, subject, &OpenSubject::id);
  return found == subjects_.end() ? nullptr : &*found;
}

OpenSubject* Session::found(SubjectId subject) {
  const auto found = std::ranges::find(subjects_, subject, &OpenSubject::id);
  return found == subjects_.end() ? nullptr : &*found;
}

std::int64_t Session::place_of(SubjectId subject) const {
  const OpenSubject* const open = find(subject);
  return open == nullptr ? -1 : open - subjects_.data();
}

std::shared_ptr<const Trace> Session::trace(SubjectId subject) const {
  const OpenSubject* const open = find(subject);
  return open == nullptr ? nullptr : open->subject.trace;
}

SubjectId Session::append(OpenSubject subject) {
  const auto id = static_cast<SubjectId>(++last_id_);
  subject.id = id;
  subjects_.push_back(std::move(subject));
  const bool is_selected = selection_.subject == SubjectId::none;
  if (is_selected) selection_.subject = id;
  emit subjects_changed();
  if (is_selected) emit selection_changed();
  return id;
}

SubjectId Session::append_and_start(OpenSubject subject) {
  const SubjectId id = append(std::move(subject));
  start(id);
  return id;
}

SubjectId Session::add_trace(std::shared_ptr<const Trace> trace, std::string label) {
  OpenSubject open;
  open.subject.label = std::move(label);
  open.subject.mechanism = trace->mechanism;
  open.subject.trace = std::move(trace);
  open.state = OpenSubject::State::ready;
  const SubjectId id = append(std::move(open));
  emit trace_ready(id);
  return id;
}

void Session::close(SubjectId subject) {
  const std::int64_t place = place_of(subject);
  if (place < 0) return;
  jobs_->cancel(subjects_[static_cast<std::size_t>(place)].job);
  const bool was_reference = reference_ == subject;
  if (was_reference) reference_ = SubjectId::none;
  const Selection before = selection_;
  if (selection_.subject == subject) {
    // The next subject is selected, or the previous one.
    const bool is_last = place + 1 == std::ssize(subjects_);
    const std::int64_t next = is_last ? place - 1 : place + 1;
    selection_.subject = next < 0 ? SubjectId::none : subjects_[static_cast<std::size_t>(next)].id;
    follow_query(before);
  }
  if (selection_.hover && selection_.hover->subject == subject) selection_.hover.reset();
  subjects_.erase(subjects_.begin() + place);
  clamp_selection();
  emit subjects_changed();
  emit selection_changed();
  if (was_reference) emit reference_changed();
}

void Session::rename(SubjectId subject, const std::string& name) {
  OpenSubject* const open = found(subject);
  if (!open || open->own_name == name) return;
  open->own_name = name;
  take_name(*open);
  emit subjects_changed();
}

void Session::set_reference(SubjectId subject) {
  const SubjectId wanted = find(subject) ? subject : SubjectId::none;
  if (wanted == reference_) return;
  reference_ = wanted;
  emit reference_changed();
}

void Session::select(const Selection& selection) {
  const Selection before = selection_;
  selection_ = selection;
  clamp_selection();
  if (selection_ != before) emit selection_changed();
}

void Session::select_map(SubjectId subject, std::int64_t layer, std::int64_t head) {
  const Selection before = selection_;
  selection_.subject = subject;
  selection_.layer = layer;
  selection_.head = head;
  selection_.to.reset();
  clamp_selection();
  follow_query(before);
  clamp_selection();
  if (selection_ != before) emit selection_changed();
}

void Session::select_class_token() {
  const std::shared_ptr<const Trace> trace = this->trace(selection_.subject);
  if (!trace || query_layout(*trace, selection_.layer).prefix == 0) return;
  Selection selection = selection_;
  selection.query = 0;
  select(selection);
}

/// Keeps the selected query at its position in the input when the layer or subject changes.
void Session::follow_query(const Selection& before) {
  const std::shared_ptr<const Trace> from = trace(before.subject), to = trace(selection_.subject);
  const auto exists = [](const std::shared_ptr<const Trace>& trace, std::int64_t layer) {
    return trace && layer >= 0 && layer < std::ssize(trace->layers) && trace->queries(layer) > 0;
  };
  const bool moved = before.subject != selection_.subject || before.layer != selection_.layer;
  if (!moved || !exists(from, before.layer) || !exists(to, selection_.layer)) return;
  if (from == to) {
    selection_.query =
        same_place(query_layout(*from, before.layer), before.query,
                   query_layout(*to, selection_.layer), to->queries(selection_.layer));
    return;
  }
  // The first token is selected if the other subject has no such token.
  selection_.query =
      linked_query(*from, before.layer, before.query, *to, selection_.layer).value_or(0);
}

void Session::clamp_selection() {
  if (!find(selection_.subject)) {
    selection_.subject = subjects_.empty() ? SubjectId::none : subjects_.front().id;
  }
  if (selection_.hover) {
    const std::shared_ptr<const Trace> hovered = trace(selection_.hover->subject);
    const HoveredCell& cell = *selection_.hover;
    const bool exists = hovered && cell.layer >= 0 && cell.layer < std::ssize(hovered->layers) &&
                        cell.query >= 0 && cell.query < hovered->queries(cell.layer) &&
                        cell.key >= 0 && cell.key < hovered->keys(cell.layer);
    if (!exists) selection_.hover.reset();
  }
  const std::shared_ptr<const Trace> trace = this->trace(selection_.subject);
  if (!trace) return;
  selection_.layer = clamp_index(selection_.layer, std::ssize(trace->layers));
  // The selection of a run in progress becomes valid when the run ends.
  if (find(selection_.subject)->layers_so_far && trace->heads(selection_.layer) == 0) return;
  const std::int64_t queries = trace->queries(selection_.layer);
  selection_.head = clamp_index(selection_.head, trace->heads(selection_.layer));
  selection_.query = clamp_index(selection_.query, queries);
  if (!selection_.to) return;
  selection_.to->layer = clamp_index(selection_.to->layer, std::ssize(trace->layers));
  selection_.to->head = clamp_index(selection_.to->head, trace->heads(selection_.to->layer));
}

void Session::set_view(const ViewSettings& view) {
  ViewSettings next = view;
  next.temperature = std::clamp(view.temperature, kMinTemperature, kMaxTemperature);
  next.rank_threshold.level = std::clamp(view.rank_threshold.level, kMinThreshold, kMaxThreshold);
  // The nearest supported share.
  next.range_share = *std::ranges::min_element(
      range_shares, {}, [&](double share) { return std::abs(share - view.range_share); });
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
  view.matrix = view_.matrix;
  view.map_number = view_.map_number;
  view.sorted_by_number = view_.sorted_by_number;
  view.comparison = view_.comparison;
  view.wipe_position = view_.wipe_position;
  view.overlay_opacity = view_.overlay_opacity;
  view.layer_alignment = view_.layer_alignment;
  view.match_heads = view_.match_heads;
  set_view(view);
}

SessionState Session::state() const {
  return {subjects_, input_locator_, input_, view_, reference_};
}

void Session::set_state(const SessionState& state) {
  jobs_->cancel(input_job_);
  input_job_ = 0;
  for (const OpenSubject& open : subjects_) jobs_->cancel(open.job);
  subjects_ = state.subjects;
  for (OpenSubject& open : subjects_) open.job = 0;
  reference_ = state.reference;
  view_ = state.view;
  input_ = state.input;
  input_locator_ = state.input_locator;
  input_stopped_ = false;
  input_error_.clear();
  clamp_selection();
  emit subjects_changed();
  emit reference_changed();
  emit view_changed();
  emit selection_changed();
  std::vector<SubjectId> standing, stale;
  for (const OpenSubject& open : subjects_) {
    const bool stands =
        open.state == OpenSubject::State::ready && open.what_if == open.ran_with &&
        (!open.subject.model || !open.subject.own_input.empty() || open.subject.input == input_);
    if (stands) {
      standing.push_back(open.id);
    } else if (open.state != OpenSubject::State::failed) {
      stale.push_back(open.id);
    }
  }
  for (const SubjectId id : standing) emit trace_ready(id);
  if (!input_ && !input_locator_.empty()) return set_input(input_locator_);
  emit input_changed();
  for (const SubjectId id : stale) start(id);
}

bool Session::idle() const { return jobs_->idle(); }

bool Session::reads_pictures() const {
  return std::ranges::any_of(subjects_, [](const OpenSubject& open) {
    return open.subject.model && open.subject.model->reads_pictures();
  });
}

bool Session::has_pictures_alone() const {
  return !is_written_out(input_locator_) && !parts_of_question(input_locator_) &&
         picture_locators(input_locator_).size() > 1;
}

bool Session::waits_for_question(const OpenSubject& open) const {
  if (!open.subject.model || !open.subject.model->reads_pictures()) return false;
  if (!open.subject.own_input.empty()) return false;
  return has_pictures_alone() || (input_ && std::holds_alternative<Image>(input_->content));
}

}  // namespace attnscope
