#include "app/session/spectrum_store.h"

#include <QPointer>
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "analysis/spectrum/rank.h"
#include "app/session/hand_over.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"

namespace attnscope {

namespace {

using Shown = std::function<void(std::shared_ptr<const SubjectSpectra>)>;

bool recorded(const LayerTrace& layer) {
  return !layer.implied_map.empty() || layer.factors.has_value();
}

/// The layers of these spectra, in order.
std::vector<std::int64_t> layers_in(const SubjectSpectra& spectra) {
  std::vector<std::int64_t> layers;
  for (const MapSpectrum& map : spectra.without) {
    if (layers.empty() || layers.back() != map.layer) layers.push_back(map.layer);
  }
  return layers;
}

bool same_maps(const LayerTrace& a, const LayerTrace& b) {
  constexpr std::int64_t kMostCompared = std::int64_t{16} << 20;  // takes a few ms
  return !a.implied_map.empty() && a.implied_map.shape() == b.implied_map.shape() &&
         a.factors.has_value() == b.factors.has_value() && a.rank_bound == b.rank_bound &&
         a.exact_map == b.exact_map && !a.implied_map.are_computed() &&
         !b.implied_map.are_computed() && a.implied_map.bytes() <= kMostCompared &&
         (a.implied_map.blocks() == nullptr) == (b.implied_map.blocks() == nullptr) &&
         std::ranges::equal(a.implied_map.entries(), b.implied_map.entries());
}

void append(std::vector<MapSpectrum>& all, std::vector<MapSpectrum> some) {
  std::ranges::move(some, std::back_inserter(all));
  std::ranges::stable_sort(all, {},
                           [](const MapSpectrum& map) { return std::pair(map.layer, map.head); });
}

/// The layers whose spectra are missing; all layers if nothing was recorded, which is an error.
std::vector<std::int64_t> missing_layers(const Trace& trace, const SubjectSpectra* known) {
  const std::vector<std::int64_t> there = known ? layers_in(*known) : std::vector<std::int64_t>();
  std::vector<std::int64_t> missing;
  const bool any = std::ranges::any_of(trace.layers, recorded);
  for (std::int64_t layer = 0; layer < std::ssize(trace.layers); ++layer) {
    if (any && !recorded(trace.layers[static_cast<std::size_t>(layer)])) continue;
    if (!std::ranges::binary_search(there, layer)) missing.push_back(layer);
  }
  return missing;
}

/// Adds the spectra of `layers`, a few at a time, and shows them after each step.
std::shared_ptr<const SubjectSpectra> found_by_layers(const Trace& trace,
                                                      std::shared_ptr<const SubjectSpectra> spectra,
                                                      const std::vector<std::int64_t>& layers,
                                                      const Progress& progress, const Shown& show) {
  // Enough maps to occupy all cores, and few enough to take only a moment.
  constexpr std::int64_t kMapsAtOnce = 16;
  for (std::size_t begin = 0; begin < layers.size();) {
    SpectrumOptions some;
    std::int64_t maps = 0;
    std::size_t end = begin;
    while (end < layers.size() && maps < kMapsAtOnce) {
      maps += trace.heads(layers[end]);
      some.layers.push_back(layers[end++]);
    }
    const auto share = [&](double at) { return at / static_cast<double>(layers.size()); };
    const double from = share(static_cast<double>(begin)), to = share(static_cast<double>(end));
    auto more = std::make_shared<SubjectSpectra>(spectra ? *spectra : SubjectSpectra{});
    auto [without, with] = spectra_without_and_with_identity(trace, some, progress.part(from, to));
    append(more->without, std::move(without));
    std::erase_if(with, lacks_identity);
    append(more->with, std::move(with));
    spectra = more;
    begin = end;
    if (begin < layers.size()) show(spectra);
  }
  return spectra;
}

}  // namespace

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
  return present(subject).unchanged;
}

std::shared_ptr<const SubjectSpectra> SpectrumStore::latest(SubjectId subject) const {
  const Entry known = present(subject);
  return known.spectra || !known.error.empty() ? known.spectra : known.former;
}

SpectrumStore::Entry SpectrumStore::present(SubjectId subject) const {
  const auto found = entries_.find(subject);
  const OpenSubject* const open = session_.find(subject);
  if (found == entries_.end() || !open || !open->subject.trace) return {};
  const bool is_current = found->second.trace == open->subject.trace;
  return is_current ? found->second : begun_after(found->second, *open);
}

SpectrumStore::Entry SpectrumStore::begun_after(const Entry& before, const OpenSubject& open) {
  Entry entry;
  entry.trace = open.subject.trace;
  entry.unchanged_trace = open.unchanged;
  if (open.unchanged) {
    // These are usually the spectra shown before the maps were changed.
    if (open.unchanged == before.trace && before.whole) entry.unchanged = before.spectra;
    if (open.unchanged == before.unchanged_trace) entry.unchanged = before.unchanged;
  }
  entry.model = open.subject.model;
  entry.input = open.subject.input;
  const bool new_weights = before.trace && before.model != entry.model &&
                           before.input == entry.input &&
                           before.trace->mechanism == entry.trace->mechanism;
  if (open.unchanged || before.unchanged_trace || new_weights) {
    entry.former = before.spectra ? before.spectra : before.former;
  }
  return entry;
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
  entry = begun_after(before, open);
  if (before.unchanged && open.subject.trace == before.unchanged_trace) {
    entry.spectra = before.unchanged;
    entry.whole = true;
    emit spectra_ready(subject);
    return;
  }
  entry.run = open.run;
  const auto known = still_right(before, entry);
  const std::vector<std::int64_t> missing = missing_layers(*entry.trace, known.get());
  // The former spectra stay until all of their replacements are known.
  const bool takes_place = entry.former || entry.unchanged_trace;
  const bool whole = known && missing.empty() && (!entry.unchanged_trace || entry.unchanged);
  if (!takes_place || whole) entry.spectra = known;
  if (whole) {
    entry.whole = true;
    emit spectra_ready(subject);
    return;
  }
  const auto is_current = [this, subject, trace = entry.trace] {
    const auto found = entries_.find(subject);
    return found != entries_.end() && found->second.trace == trace;
  };
  const auto show = [&jobs = session_.jobs(), store = QPointer<SpectrumStore>(this), subject,
                     of = entry.trace](std::shared_ptr<const SubjectSpectra> some) {
    // Called through the queue, which outlives its jobs; the store may not.
    queue_call(&jobs, [store, subject, of, some = std::move(some)] {
      if (store) store->show(subject, of, some);
    });
  };
  entry.job = session_.jobs().submit(
      tr("Ranks of %1").arg(QString::fromStdString(open.subject.label)),
      [this, subject, trace = entry.trace, by_itself = entry.unchanged_trace,
       unchanged = entry.unchanged, known, missing, takes_place, show,
       is_current](const Progress& progress) -> JobQueue::Delivery {
        const bool both = by_itself && !unchanged;
        const double part = both ? 0.5 : 1;
        const auto nobody = [](const auto&) {};
        auto spectra = found_by_layers(*trace, known, missing, progress.part(0, part),
                                       takes_place ? Shown(nobody) : Shown(show));
        auto base = both ? found_by_layers(*by_itself, nullptr, missing_layers(*by_itself, nullptr),
                                           progress.part(part, 1), nobody)
                         : unchanged;
        return [this, subject, spectra, base, is_current] {
          if (!is_current()) return;
          Entry& done = entries_[subject];
          done.spectra = spectra;
          done.unchanged = base;
          done.whole = true;
          emit spectra_ready(subject);
        };
      },
      [this, subject, is_current](const JobFailure& failure) {
        if (!is_current()) return;
        Entry& ended = entries_[subject];
        ended.stopped = failure.cancelled;
        ended.error = failure.cancelled ? "stopped" : failure.what;
        if (!failure.cancelled) ended.spectra = nullptr;
        emit spectra_ready(subject);
      },
      this);
  if (entry.spectra) emit spectra_ready(subject);
}

void SpectrumStore::show(SubjectId subject, const std::shared_ptr<const Trace>& of,
                         std::shared_ptr<const SubjectSpectra> spectra) {
  const auto found = entries_.find(subject);
  if (found == entries_.end() || found->second.trace != of || found->second.whole) return;
  found->second.spectra = std::move(spectra);
  emit spectra_ready(subject);
}

std::shared_ptr<const SubjectSpectra> SpectrumStore::still_right(const Entry& before,
                                                                 const Entry& now) {
  if (!before.trace || !before.spectra) return nullptr;
  const Trace& trace = *now.trace;
  const bool one_run = now.run != 0 && now.run == before.run;
  auto kept = std::make_shared<SubjectSpectra>();
  for (const std::int64_t layer : layers_in(*before.spectra)) {
    const auto at = static_cast<std::size_t>(layer);
    if (at >= trace.layers.size() || at >= before.trace->layers.size()) continue;
    if (has_identity(trace, layer) != has_identity(*before.trace, layer)) continue;
    if (!one_run && !same_maps(trace.layers[at], before.trace->layers[at])) continue;
    const auto of_layer = [layer](const MapSpectrum& map) { return map.layer == layer; };
    std::ranges::copy_if(before.spectra->without, std::back_inserter(kept->without), of_layer);
    std::ranges::copy_if(before.spectra->with, std::back_inserter(kept->with), of_layer);
  }
  return kept->without.empty() ? nullptr : kept;
}

std::optional<SpectrumStore::Known> SpectrumStore::known(SubjectId subject) const {
  const Entry* const entry = this->entry(subject);
  if (!entry || !entry->spectra) return std::nullopt;
  const OpenSubject* const open = session_.find(subject);
  const bool goes_on = open && open->layers_so_far;
  return Known{std::ssize(layers_in(*entry->spectra)),
               goes_on ? std::ssize(entry->trace->layers)
                       : std::ranges::count_if(entry->trace->layers, recorded)};
}

bool SpectrumStore::is_stopped(SubjectId subject) const {
  const Entry* known = entry(subject);
  return known && known->stopped;
}

void SpectrumStore::resume() {
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
    // A figure does not restart work that the user cancelled.
    if (!known && (spectra.error_of(open.id).empty() || spectra.is_stopped(open.id))) continue;
    request.subjects.push_back(all.subjects[at]);
    request.sources.push_back(all.sources[at]);
    const std::optional<SpectrumStore::Known> layers = spectra.known(open.id);
    if (layers && layers->layers < layers->of && !open.layers_so_far) {
      request.subjects.back().label += of_layers(layers->layers, layers->of);
    }
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

double mean_equivalent_rank(const std::vector<MapSpectrum>& spectra, const RankThreshold& threshold,
                            std::int64_t layer) {
  double sum = 0;
  std::int64_t count = 0;
  for (const MapSpectrum& spectrum : spectra) {
    if (spectrum.state != SpectrumState::ready) continue;
    if (layer >= 0 && spectrum.layer != layer) continue;
    sum += static_cast<double>(equivalent_rank(spectrum, threshold));
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
}

bool are_estimated(const std::vector<MapSpectrum>& spectra, std::int64_t layer) {
  return std::ranges::any_of(spectra, [layer](const MapSpectrum& spectrum) {
    return spectrum.estimate && (layer < 0 || spectrum.layer == layer);
  });
}

QString mean_rank_text(const std::vector<MapSpectrum>& spectra, const RankThreshold& threshold) {
  const double mean = mean_equivalent_rank(spectra, threshold);
  if (std::isnan(mean)) return {};
  return (are_estimated(spectra) ? "≈ " : "") + QString::number(mean, 'f', 1);
}

}  // namespace attnscope
