// Spectra of all maps of a trace in two steps: reduces each map's product to tridiagonal form, then
// finds the eigenvalues of many products at once.
#include <algorithm>
#include <iterator>
#include <span>
#include <tbb/parallel_for.h>
#include <utility>

#include "analysis/spectrum/eigenvalue_batch.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/map_entries.h"
#include "analysis/spectrum/singular_values.h"
#include "analysis/spectrum/spectrum.h"

namespace attnscope {

namespace {

// Largest number of tokens of maps that are batched: eigenvalues are a small part of the work for
// larger maps, whose spectra are reported immediately.
constexpr std::int64_t kMostThatWait = 640;
// Number of maps that are begun before the first of them is finished.
constexpr std::size_t kRound = 48;

/// Requested views of each map: one view, or without and with I, which share a product.
using Views = std::vector<IdentityView>;

/// Spectrum of a map in each view: complete, or without values if there are products.
struct BegunMap {
  std::vector<MapSpectrum> spectra;
  std::vector<TwoDiagonals> products;  ///< one per view; empty if all spectra are complete
  std::vector<SingularValues> values;  ///< singular values from the products
};

/// True if a map is decomposed as a dense float32 matrix, without blocks or factors.
bool is_plain(const Trace& trace, const MapIndex& place, const SpectrumOptions& options) {
  const LayerTrace& layer = trace.layers[static_cast<std::size_t>(place.layer)];
  const ImpliedMaps& maps = layer.implied_map;
  const bool square = !maps.empty() && maps.extent(1) > 0 && maps.extent(1) == maps.extent(2);
  return square && !maps.blocks() && !layer.factors && !layer.exact_map &&
         options.method != SpectrumMethod::factored && !is_estimated(maps, options);
}

std::vector<MapSpectrum> ready_spectra(const Trace& trace, const MapIndex& place,
                                       const Views& views, const SpectrumOptions& options) {
  std::vector<MapSpectrum> spectra;
  for (const IdentityView view : views) {
    spectra.push_back(spectrum_at(trace, place, view, options));
  }
  return spectra;
}

std::vector<TwoDiagonals> products_of(const MatrixD& map, bool both) {
  std::vector<TwoDiagonals> products;
  if (both) {
    if (auto found = condensed_products_without_and_with_identity(map)) {
      std::ranges::move(*found, std::back_inserter(products));
    }
  } else if (auto found = condensed_product(map)) {
    products.push_back(std::move(*found));
  }
  return products;
}

/// Computes everything that does not need the batch of eigenvalues.
BegunMap begin(const Trace& trace, const MapIndex& place, const Views& views,
               const SpectrumOptions& options) {
  const auto ready = [&] { return BegunMap{ready_spectra(trace, place, views, options), {}, {}}; };
  const bool both = views.size() > 1;
  if (!is_plain(trace, place, options)) return ready();
  MatrixD map = map_seen(trace, place, views.front());
  const bool waits =
      map.rows() <= kMostThatWait && options.accuracy == SpectrumAccuracy::cumulative;
  if ((!waits && !both) || blocks_of(map).size() > 1) return ready();
  const double asymmetry = asymmetry_of(map);
  BegunMap begun;
  begun.spectra.push_back(counted(map, options.threshold, asymmetry));
  if (both) {
    const Eigen::VectorXd diagonal = map.diagonal();
    map.diagonal().array() += 1;
    begun.spectra.push_back(counted(map, options.threshold, asymmetry));
    map.diagonal() = diagonal;
  }
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (begun.spectra[i].state != SpectrumState::ready) return ready();
    say_where(begun.spectra[i], trace, place, views[i], std::min(map.rows(), map.cols()));
  }
  if (waits) {
    begun.products = products_of(map, both);
    if (begun.products.empty()) return ready();
    return begun;
  }
  auto values = singular_values_without_and_with_identity(map, options.accuracy);
  for (std::size_t i = 0; i < values.size(); ++i) {
    set_singular_values(std::move(values[i]), kFloatEpsilon, begun.spectra[i]);
  }
  return begun;
}

/// Finds the singular values of all products, in batches of maps of equal size.
void find_values(std::span<BegunMap> maps) {
  std::vector<std::pair<const TwoDiagonals*, SingularValues*>> wanted;
  for (BegunMap& map : maps) {
    map.values.resize(map.products.size());
    for (std::size_t i = 0; i < map.products.size(); ++i) {
      wanted.emplace_back(&map.products[i], &map.values[i]);
    }
  }
  const auto size = [](const auto& one) { return one.first->diagonal.size(); };
  std::ranges::stable_sort(wanted, {}, size);
  std::vector<std::span<const std::pair<const TwoDiagonals*, SingularValues*>>> batches;
  for (std::size_t first = 0; first < wanted.size();) {
    std::size_t end = first;
    while (end < wanted.size() && size(wanted[end]) == size(wanted[first])) ++end;
    // Batches of equal size keep all cores busy.
    const std::size_t parts = (end - first + kEigenvalueBatch - 1) / kEigenvalueBatch;
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t from = first + (end - first) * part / parts;
      const std::size_t to = first + (end - first) * (part + 1) / parts;
      batches.push_back(std::span(wanted).subspan(from, to - from));
    }
    first = end;
  }
  tbb::parallel_for(std::size_t{0}, batches.size(), [&](std::size_t b) {
    std::vector<const TwoDiagonals*> products;
    for (const auto& [product, values] : batches[b]) products.push_back(product);
    std::vector<SingularValues> found = values_of_products(products);
    for (std::size_t i = 0; i < found.size(); ++i) *batches[b][i].second = std::move(found[i]);
  });
}

/// Takes the values of the products if they are accurate enough; otherwise decomposes the map.
void finish(BegunMap& map, const Trace& trace, const MapIndex& place, const Views& views,
            const SpectrumOptions& options) {
  for (std::size_t i = 0; i < map.products.size(); ++i) {
    // Sums in the product of A + I are at most (σ_1(A) + 1)².
    const double greatest = i > 0 && map.values[0].converged ? map.values[0].values.front() + 1 : 0;
    if (is_exact_enough(map.values[i], greatest)) {
      take_singular_values(map.spectra[i], map.values[i].values);
      continue;
    }
    SpectrumOptions wanted = options;
    // Its product is not accurate enough.
    if (i == 0) wanted.accuracy = SpectrumAccuracy::every_value;
    map.spectra[i] = spectrum_at(trace, place, views[i], wanted);
  }
}

/// Calls arrived(index of the map, its spectra in every view), from any thread, never two at once.
template <class Arrived>
void for_each_spectrum(const Trace& trace, const std::vector<MapIndex>& places, const Views& views,
                       const SpectrumOptions& options, const Progress& progress,
                       const Arrived& arrived) {
  if (has_computed_maps(trace)) {
    for_each_map(trace, places, progress, [&](std::size_t index) {
      BegunMap map = begin(trace, places[index], views, options);
      find_values({&map, 1});
      finish(map, trace, places[index], views, options);
      return [&arrived, index, found = std::move(map.spectra)]() mutable {
        arrived(index, std::move(found));
      };
    });
    return;
  }
  MapReports reports(progress, places.size());
  for (std::size_t first = 0; first < places.size(); first += kRound) {
    std::vector<BegunMap> maps(std::min(kRound, places.size() - first));
    const auto arrives = [&](std::size_t i) {
      reports.report([&] { arrived(first + i, std::move(maps[i].spectra)); });
    };
    for_single_ones(maps.size(), [&](std::size_t i) {
      if (progress.cancelled()) throw Cancelled{};
      maps[i] = begin(trace, places[first + i], views, options);
      if (maps[i].products.empty()) arrives(i);
    });
    find_values(maps);
    for_single_ones(maps.size(), [&](std::size_t i) {
      if (maps[i].products.empty()) return;
      finish(maps[i], trace, places[first + i], views, options);
      arrives(i);
    });
  }
}

}  // namespace

std::vector<MapSpectrum> spectra_of(const Trace& trace, IdentityView view,
                                    const SpectrumOptions& options, const Progress& progress,
                                    const SpectrumArrived& arrived) {
  check_threshold(options.threshold);
  const std::vector<MapIndex> places = recorded_maps(trace, options.layers, true);
  std::vector<MapSpectrum> spectra(places.size());
  for_each_spectrum(trace, places, {view}, options, progress,
                    [&](std::size_t index, std::vector<MapSpectrum> found) {
                      spectra[index] = std::move(found.front());
                      spectra[index].channel = trace.map_channel;
                      if (arrived) arrived(spectra[index]);
                    });
  return spectra;
}

std::array<std::vector<MapSpectrum>, 2> spectra_without_and_with_identity(
    const Trace& trace, const SpectrumOptions& options, const Progress& progress) {
  check_threshold(options.threshold);
  const std::vector<MapIndex> places = recorded_maps(trace, options.layers, true);
  std::array<std::vector<MapSpectrum>, 2> spectra;
  for (auto& view : spectra) view.resize(places.size());
  for_each_spectrum(trace, places, {IdentityView::without, IdentityView::with}, options, progress,
                    [&](std::size_t index, std::vector<MapSpectrum> found) {
                      for (std::size_t view = 0; view < spectra.size(); ++view) {
                        found[view].channel = trace.map_channel;
                        spectra[view][index] = std::move(found[view]);
                      }
                    });
  return spectra;
}

}  // namespace attnscope
