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

std::string SpectrumStore::error_of(SubjectId subject) const {
  const Entry* known = entry(subject);
  return known ? known->error : std::string();
}

void SpectrumStore::compute(SubjectId subject) {
  const OpenSubject& open = *session_.find(subject);
  Entry& entry = entries_[subject];
  session_.jobs().cancel(entry.job);
  entry = {open.subject.trace, nullptr, {}, 0};

  const auto is_current = [this, subject, trace = entry.trace] {
    const auto found = entries_.find(subject);
    return found != entries_.end() && found->second.trace == trace;
  };
  entry.job = session_.jobs().submit(
      tr("Ranks of %1").arg(QString::fromStdString(open.subject.label)),
      [this, subject, trace = entry.trace,
       is_current](const Progress& progress) -> JobQueue::Delivery {
        auto spectra = std::make_shared<SubjectSpectra>();
        spectra->without = spectra_of(*trace, IdentityView::without, {}, progress.part(0, 0.5));
        spectra->with = spectra_of(*trace, IdentityView::with, {}, progress.part(0.5, 1));
        std::erase_if(spectra->with, lacks_identity);
        return [this, subject, spectra, is_current] {
          if (!is_current()) return;
          entries_[subject].spectra = spectra;
          emit spectra_ready(subject);
        };
      },
      [this, subject, is_current](const JobFailure& failure) {
        if (!is_current()) return;
        entries_[subject].error = failure.cancelled ? "cancelled" : failure.what;
        emit spectra_ready(subject);
      },
      this);
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
    if (!known && spectra.error_of(open.id).empty()) continue;
    request.subjects.push_back(all.subjects[at]);
    request.sources.push_back(all.sources[at]);
    request.spectra.push_back(std::move(known));
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
