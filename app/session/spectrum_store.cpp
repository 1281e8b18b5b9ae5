#include "app/session/spectrum_store.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "analysis/spectrum/rank.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"

namespace attnscope {

SpectrumStore::SpectrumStore(Session& session, QObject* parent)
    : QObject(parent), session_(session) {
  connect(&session_, &Session::trace_ready, this, &SpectrumStore::compute);
  connect(&session_, &Session::subjects_changed, this, &SpectrumStore::forget_closed);
  for (const OpenSubject& open : session_.subjects()) {
    if (open.subject.trace) compute(open.id);
  }
}

const SpectrumStore::Entry* SpectrumStore::entry(SubjectId subject) const {
  const auto found = entries_.find(subject);
  const bool is_current = found != entries_.end() && found->second.trace == session_.trace(subject);
  return is_current ? &found->second : nullptr;
}

std::shared_ptr<const SubjectSpectra> SpectrumStore::of(SubjectId subject) const {
  const Entry* known = entry(subject);
  return known ? known->spectra : nullptr;
}

std::shared_ptr<const SubjectSpectra> SpectrumStore::of_unchanged(SubjectId subject) const {
  const Entry* known = entry(subject);
  return known ? known->unchanged : nullptr;
}

std::shared_ptr<const SubjectSpectra> SpectrumStore::latest(SubjectId subject) const {
  const Entry* known = entry(subject);
  if (!known) return nullptr;
  return known->spectra || !known->error.empty() ? known->spectra : known->former;
}

std::string SpectrumStore::error_of(SubjectId subject) const {
  const Entry* known = entry(subject);
  return known ? known->error : std::string();
}

void SpectrumStore::compute(SubjectId subject) {
  const OpenSubject& open = *session_.find(subject);
  Entry& entry = entries_[subject];
  session_.jobs().cancel(entry.job);
  const Entry before = std::move(entry);
  entry = {};
  entry.trace = open.subject.trace;
  entry.unchanged_trace = open.unchanged;
  if (open.unchanged) {
    // Most often what was seen before the maps were changed.
    if (open.unchanged == before.trace) entry.unchanged = before.spectra;
    if (open.unchanged == before.unchanged_trace) entry.unchanged = before.unchanged;
  }
  if (open.unchanged || before.unchanged_trace) {
    entry.former = before.spectra ? before.spectra : before.former;
  }
  if (before.unchanged && open.subject.trace == before.unchanged_trace) {
    entry.spectra = before.unchanged;
    emit spectra_ready(subject);
    return;
  }
  const auto find_spectra = [](const Trace& trace, const Progress& progress) {
    auto spectra = std::make_shared<SubjectSpectra>();
    spectra->without = spectra_of(trace, IdentityView::without, {}, progress.part(0, 0.5));
    spectra->with = spectra_of(trace, IdentityView::with, {}, progress.part(0.5, 1));
    std::erase_if(spectra->with, lacks_identity);
    return spectra;
  };

  const auto is_current = [this, subject, trace = entry.trace] {
    const auto found = entries_.find(subject);
    return found != entries_.end() && found->second.trace == trace;
  };
  entry.job = session_.jobs().submit(
      tr("Ranks of %1").arg(QString::fromStdString(open.subject.label)),
      [this, subject, trace = entry.trace, by_itself = entry.unchanged_trace,
       unchanged = entry.unchanged, find_spectra,
       is_current](const Progress& progress) -> JobQueue::Delivery {
        const bool both = by_itself && !unchanged;
        const double part = both ? 0.5 : 1;
        auto spectra = find_spectra(*trace, progress.part(0, part));
        auto base = both ? find_spectra(*by_itself, progress.part(part, 1)) : unchanged;
        return [this, subject, spectra, base, is_current] {
          if (!is_current()) return;
          entries_[subject].spectra = spectra;
          entries_[subject].unchanged = base;
          emit spectra_ready(subject);
        };
      },
      [this, subject, is_current](const JobFailure& failure) {
        if (!is_current()) return;
        entries_[subject].stopped = failure.cancelled;
        entries_[subject].error = failure.cancelled ? "stopped" : failure.what;
        emit spectra_ready(subject);
      },
      this);
}

bool SpectrumStore::is_stopped(SubjectId subject) const {
  const Entry* known = entry(subject);
  return known && known->stopped;
}

void SpectrumStore::go_on() {
  std::vector<SubjectId> stopped;
  for (const auto& [subject, entry] : entries_) {
    if (is_stopped(subject)) stopped.push_back(subject);
  }
  for (const SubjectId subject : stopped) compute(subject);
}

void SpectrumStore::forget_closed() {
  std::erase_if(entries_, [this](const auto& known) {
    if (session_.find(known.first)) return false;
    session_.jobs().cancel(known.second.job);
    return true;
  });
}

FigureRequest with_spectra(const Session& session, const SpectrumStore& spectra) {
  const FigureRequest all = request_of(session);
  FigureRequest request;
  std::size_t place = 0;
  for (const OpenSubject& open : session.subjects()) {
    if (!open.subject.trace) continue;
    const std::size_t at = place++;
    std::shared_ptr<const SubjectSpectra> known = spectra.of(open.id);
    // What the user stopped is not begun again by a figure.
    if (!known && (spectra.error_of(open.id).empty() || spectra.is_stopped(open.id))) continue;
    request.subjects.push_back(all.subjects[at]);
    request.sources.push_back(all.sources[at]);
    request.spectra.push_back(std::move(known));
  }
  return request;
}

std::optional<FigureRequest> with_unchanged_spectra(const Session& session,
                                                    const SpectrumStore& spectra,
                                                    const std::string& mark) {
  FigureRequest request = with_spectra(session, spectra);
  std::size_t place = 0;
  for (const OpenSubject& open : session.subjects()) {
    if (!open.subject.trace || (!spectra.of(open.id) && spectra.error_of(open.id).empty())) {
      continue;
    }
    const std::size_t at = place++;
    if (!open.unchanged) continue;
    request.subjects[at].trace = open.unchanged;
    std::string& label = request.subjects[at].label;
    const std::string changed = ", " + in_words(open.what_if);
    if (const std::size_t words = label.find(changed); words != std::string::npos) {
      label.erase(words, changed.size());
    }
    label += mark;
    request.spectra[at] = spectra.of_unchanged(open.id);
    if (!request.spectra[at]) return std::nullopt;
  }
  return request;
}

const MapSpectrum* find_spectrum(const std::vector<MapSpectrum>& spectra, std::int64_t layer,
                                 std::int64_t head) {
  const auto found = std::ranges::find_if(spectra, [&](const MapSpectrum& spectrum) {
    return spectrum.layer == layer && spectrum.head == head;
  });
  return found == spectra.end() ? nullptr : &*found;
}

double mean_equivalent_rank(const std::vector<MapSpectrum>& spectra, double threshold,
                            std::int64_t layer) {
  double sum = 0;
  std::int64_t count = 0;
  for (const MapSpectrum& spectrum : spectra) {
    if (spectrum.state != SpectrumState::ready) continue;
    if (layer >= 0 && spectrum.layer != layer) continue;
    sum += static_cast<double>(equivalent_rank(spectrum.singular_values, threshold));
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace attnscope
