#include "app/session/comparison_store.h"

#include <algorithm>
#include <utility>

#include "analysis/matrix/matrix_kind.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"

namespace attnscope {

namespace {

constexpr int kDelayMs = 120;

}  // namespace

ComparisonStore::ComparisonStore(Session& session, QObject* parent)
    : QObject(parent), session_(session) {
  delay_.setSingleShot(true);
  delay_.setInterval(kDelayMs);
  connect(&delay_, &QTimer::timeout, this, [this] {
    for (const OpenSubject& open : session_.subjects()) compare(open.id);
    emit changed();
  });
  connect(&session_, &Session::reference_changed, this, &ComparisonStore::refresh);
  connect(&session_, &Session::trace_ready, this, &ComparisonStore::refresh);
  connect(&session_, &Session::subjects_changed, this, &ComparisonStore::refresh);
  connect(&session_, &Session::view_changed, this, &ComparisonStore::refresh);
  refresh();
}

ComparisonOptions ComparisonStore::options() const {
  const ViewSettings& view = session_.view();
  // I is added only to maps, and heads are matched only if the matrix is defined per head.
  const bool identity = takes_identity(analysed_.of), heads = !is_of_layer(analysed_.of);
  return {.layers = view.layer_alignment,
          .match_heads = view.match_heads && heads,
          .threshold = view.rank_threshold,
          .analysed = analysed_.seen(identity ? view.identity : IdentityView::as_is)};
}

void ComparisonStore::set_analysed(const MatrixChoice& analysed) {
  analysed_ = analysed;
  refresh();
}

void ComparisonStore::compare_unpinned() {
  unpinned_ = true;
  refresh();
}

SubjectId ComparisonStore::reference() const {
  const bool pinned = session_.reference() != SubjectId::none;
  if (pinned || !unpinned_ || session_.subjects().size() < 2) return session_.reference();
  return session_.subjects().front().id;
}

void ComparisonStore::stop() {
  delay_.stop();
  for (auto& [subject, entry] : entries_) session_.jobs().cancel(entry.job);
  entries_.clear();
}

void ComparisonStore::forget(Entry& entry) {
  session_.jobs().cancel(entry.job);
  entry = {};
}

void ComparisonStore::refresh() {
  const std::shared_ptr<const Trace> reference = session_.trace(this->reference());
  const ComparisonOptions options = this->options();
  const bool all_anew = reference != compared_ || !(options == options_);
  const bool other_alignment = reference != compared_ || options.layers != options_.layers ||
                               options.match_heads != options_.match_heads;
  compared_ = reference;
  options_ = options;
  bool any = all_anew;
  for (auto known = entries_.begin(); known != entries_.end();) {
    const OpenSubject* const open = session_.find(known->first);
    const bool keep = compared_ && open && open->id != this->reference() &&
                      open->subject.trace == known->second.trace;
    if (keep) {
      ++known;
      continue;
    }
    forget(known->second);
    known = entries_.erase(known);
    any = true;
  }
  if (compared_) {
    for (const OpenSubject& open : session_.subjects()) {
      const std::shared_ptr<const Trace>& trace = open.subject.trace;
      if (!trace || open.id == this->reference()) continue;
      Entry& entry = entries_[open.id];
      if (entry.trace && !all_anew) continue;
      // The former alignment stays until the better match is known.
      const auto alignment = other_alignment ? nullptr : entry.alignment;
      forget(entry);
      entry.trace = trace;
      entry.alignment = alignment ? alignment
                                  : std::make_shared<const MapAlignment>(
                                        align_by_index(*compared_, *trace, options.layers));
      any = true;
    }
  }
  if (!any) return;
  if (compared_) delay_.start();
  emit changed();
}

Subject ComparisonStore::with_trace(SubjectId subject,
                                    const std::shared_ptr<const Trace>& trace) const {
  const OpenSubject* const open = session_.find(subject);
  Subject found = open ? open->subject : Subject{};
  found.trace = trace;
  return found;
}

void ComparisonStore::compare(SubjectId subject) {
  const auto found = entries_.find(subject);
  if (found == entries_.end() || found->second.job != 0 || found->second.comparison ||
      !found->second.error.empty()) {
    return;
  }
  ComparisonOptions options = options_;
  if (has_ranks_at_entropy(*found->second.trace, options.analysed)) {
    options.at_entropy = reference_entropy;
  }
  auto job = std::make_shared<JobId>(0);
  const auto current = [this, subject, job]() -> Entry* {
    const auto known = entries_.find(subject);
    return known != entries_.end() && known->second.job == *job ? &known->second : nullptr;
  };
  *job = session_.jobs().submit(
      tr("Comparing %1").arg(QString::fromStdString(session_.find(subject)->subject.label)),
      [this, current, reference = with_trace(this->reference(), compared_),
       other = with_trace(subject, found->second.trace),
       options](const Progress& progress) -> JobQueue::Delivery {
        auto comparison = std::make_shared<const SubjectComparison>(
            compare_subjects(reference, other, options, {}, progress));
        return [this, current, comparison] {
          Entry* entry = current();
          if (!entry) return;
          entry->job = 0;
          entry->comparison = comparison;
          // An equal alignment keeps its object, so pictures made with it stay valid.
          if (!(*entry->alignment == comparison->alignment)) {
            entry->alignment = std::make_shared<const MapAlignment>(comparison->alignment);
          }
          emit changed();
        };
      },
      [this, current](const JobFailure& failure) {
        Entry* entry = current();
        if (!entry) return;
        entry->job = 0;
        entry->stopped = failure.cancelled;
        entry->error = failure.cancelled ? "stopped" : failure.what;
        emit changed();
      },
      this);
  found->second.job = *job;
}

const ComparisonStore::Entry* ComparisonStore::entry(SubjectId subject) const {
  const auto found = entries_.find(subject);
  const bool is_current = found != entries_.end() && found->second.trace == session_.trace(subject);
  return is_current ? &found->second : nullptr;
}

std::shared_ptr<const SubjectComparison> ComparisonStore::comparison(SubjectId subject) const {
  const Entry* known = entry(subject);
  return known ? known->comparison : nullptr;
}

std::shared_ptr<const MapAlignment> ComparisonStore::alignment(SubjectId subject) const {
  const Entry* known = entry(subject);
  return known ? known->alignment : nullptr;
}

std::string ComparisonStore::error_of(SubjectId subject) const {
  const Entry* known = entry(subject);
  return known ? known->error : std::string();
}

bool ComparisonStore::is_stopped() const {
  return std::ranges::any_of(entries_, [](const auto& known) { return known.second.stopped; });
}

void ComparisonStore::resume() {
  for (auto& [subject, entry] : entries_) {
    if (!entry.stopped) continue;
    entry.stopped = false;
    entry.error.clear();
    compare(subject);
  }
}

bool ComparisonStore::settled() const {
  return !delay_.isActive() &&
         std::ranges::none_of(entries_, [](const auto& known) { return known.second.job != 0; });
}

}  // namespace attnscope
