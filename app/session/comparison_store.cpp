#include "app/session/comparison_store.h"

#include <algorithm>
#include <utility>

#include "app/session/job_queue.h"
#include "app/session/session.h"

namespace attnscope {

namespace {

constexpr int kDelayMs = 120;

}  // namespace

ComparisonStore& ComparisonStore::of(Session& session) {
  auto* store = session.findChild<ComparisonStore*>(QString(), Qt::FindDirectChildrenOnly);
  return store != nullptr ? *store : *new ComparisonStore(session);
}

ComparisonStore::ComparisonStore(Session& session) : QObject(&session), session_(session) {
  delay_.setSingleShot(true);
  delay_.setInterval(kDelayMs);
  connect(&delay_, &QTimer::timeout, this, [this] {
    for (std::int64_t i = 0; i < std::ssize(session_.subjects()); ++i) compare(i);
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
  return {view.layer_alignment, view.match_heads, view.identity, view.rank_threshold};
}

void ComparisonStore::forget(Entry& entry) {
  session_.jobs().cancel(entry.job);
  entry = {};
}

void ComparisonStore::refresh() {
  const std::shared_ptr<const Trace> reference = session_.trace(session_.reference());
  const ComparisonOptions options = this->options();
  const bool all_anew = reference != reference_ || !(options == options_);
  const bool other_alignment = reference != reference_ || options.layers != options_.layers ||
                               options.match_heads != options_.match_heads;
  reference_ = reference;
  options_ = options;
  bool any = all_anew;
  for (auto known = entries_.begin(); known != entries_.end();) {
    const std::int64_t index = session_.index_of(known->first);
    const bool keep = reference_ && index >= 0 && index != session_.reference() &&
                      session_.trace(index) == known->second.trace;
    if (keep) {
      ++known;
      continue;
    }
    forget(known->second);
    known = entries_.erase(known);
    any = true;
  }
  if (reference_) {
    for (std::int64_t i = 0; i < std::ssize(session_.subjects()); ++i) {
      const std::shared_ptr<const Trace> trace = session_.trace(i);
      if (!trace || i == session_.reference()) continue;
      Entry& entry = entries_[session_.subjects()[static_cast<std::size_t>(i)].id];
      if (entry.trace && !all_anew) continue;
      // Maps stay beside those they were beside until the better match is known.
      const auto alignment = other_alignment ? nullptr : entry.alignment;
      forget(entry);
      entry.trace = trace;
      entry.alignment = alignment ? alignment
                                  : std::make_shared<const MapAlignment>(
                                        align_by_index(*reference_, *trace, options.layers));
      any = true;
    }
  }
  if (!any) return;
  if (reference_) delay_.start();
  emit changed();
}

void ComparisonStore::compare(std::int64_t subject) {
  const OpenSubject& open = session_.subjects()[static_cast<std::size_t>(subject)];
  const std::int64_t id = open.id;
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.job != 0 || found->second.comparison ||
      !found->second.error.empty()) {
    return;
  }
  auto job = std::make_shared<JobId>(0);
  const auto current = [this, id, job]() -> Entry* {
    const auto known = entries_.find(id);
    return known != entries_.end() && known->second.job == *job ? &known->second : nullptr;
  };
  *job = session_.jobs().submit(
      tr("Comparing %1").arg(QString::fromStdString(open.subject.label)),
      [this, current, reference = reference_, trace = found->second.trace,
       options = options_](const Progress& progress) -> JobQueue::Delivery {
        auto comparison = std::make_shared<const SubjectComparison>(
            compare_traces(*reference, *trace, options, {}, progress));
        return [this, current, comparison] {
          Entry* entry = current();
          if (!entry) return;
          entry->job = 0;
          entry->comparison = comparison;
          // The same alignment stays the same object: pictures made with it need no new ones.
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
        entry->error = failure.cancelled ? "cancelled" : failure.what;
        emit changed();
      },
      this);
  found->second.job = *job;
}

const ComparisonStore::Entry* ComparisonStore::entry(std::int64_t subject) const {
  if (subject < 0 || subject >= std::ssize(session_.subjects())) return nullptr;
  const OpenSubject& open = session_.subjects()[static_cast<std::size_t>(subject)];
  const auto found = entries_.find(open.id);
  return found != entries_.end() && found->second.trace == open.subject.trace ? &found->second
                                                                              : nullptr;
}

std::shared_ptr<const SubjectComparison> ComparisonStore::comparison(std::int64_t subject) const {
  const Entry* known = entry(subject);
  return known ? known->comparison : nullptr;
}

std::shared_ptr<const MapAlignment> ComparisonStore::alignment(std::int64_t subject) const {
  const Entry* known = entry(subject);
  return known ? known->alignment : nullptr;
}

std::string ComparisonStore::error_of(std::int64_t subject) const {
  const Entry* known = entry(subject);
  return known ? known->error : std::string();
}

bool ComparisonStore::settled() const {
  return !delay_.isActive() &&
         std::ranges::none_of(entries_, [](const auto& known) { return known.second.job != 0; });
}

}  // namespace attnscope
