// The maps of a trace as a batch of independent work on all cores.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tbb/parallel_for.h>
#include <vector>

#include "analysis/spectrum/map_operator.h"
#include "analysis/spectrum/map_turn.h"
#include "analysis/spectrum/spectrum.h"
#include "core/progress.h"
#include "core/trace/trace.h"

namespace attnscope {

inline constexpr double kFloatEpsilon = 0x1p-23, kDoubleEpsilon = 0x1p-52;

struct RecordedMap {
  std::int64_t layer = 0, head = 0;
};

/// Every recorded map of `layers` (all if empty), in order of layer and head; those too of which
/// only the factors were recorded, if `factors_do`. Throws Error(usage) for a layer out of range,
/// and if none was recorded.
[[nodiscard]] std::vector<RecordedMap> recorded_maps(const Trace& trace,
                                                     std::span<const std::int64_t> layers,
                                                     bool factors_do = false);

/// One map in double, as precise as it was recorded. I is added or taken away in double, where the
/// view asks for it.
[[nodiscard]] MatrixD map_seen(const Trace& trace, const RecordedMap& place, IdentityView view);

/// A recorded map in double; null where it was recorded in float.
[[nodiscard]] std::optional<ConstMatrixDMap> exact_map(const LayerTrace& layer, std::int64_t head);

/// The spectrum of one recorded map, by the method the options ask for.
[[nodiscard]] MapSpectrum spectrum_at(const Trace& trace, const RecordedMap& place,
                                      IdentityView view, const SpectrumOptions& options);

/// Throws Error(usage) unless it is in (0, 1].
void check_threshold(double threshold);

/// Fills in what follows from singular values: the ranks. `spectrum` has its threshold and tokens.
void take_singular_values(MapSpectrum& spectrum, std::vector<double> values,
                          double epsilon = kFloatEpsilon);

/// As spectrum_of, of a map in double, which is used as work space. `epsilon` is that of the type
/// its entries were recorded in.
[[nodiscard]] MapSpectrum spectrum_of_matrix(MatrixD& map, const SpectrumOptions& options,
                                             double epsilon = kFloatEpsilon);

/// Calls work(index) for every place of `trace` on all cores; of computed maps for one after the
/// other, which the cores share. What it returns is called next, never two at once, before the
/// progress is reported.
template <class Work>
void for_each_map(const Trace& trace, const std::vector<RecordedMap>& places,
                  const Progress& progress, const Work& work,
                  std::string_view what = "singular values") {
  std::mutex reporting;
  std::size_t done = 0;
  progress.step(0, what);
  const auto work_at = [&](std::size_t index) {
    if (progress.cancelled()) throw Cancelled{};
    const auto report = work(index);
    const std::lock_guard lock(reporting);
    if (progress.cancelled()) throw Cancelled{};  // while this map was at work: not told of it
    report();
    ++done;
    progress.step(static_cast<double>(done) / static_cast<double>(places.size()), what);
  };
  if (has_computed_maps(trace)) {
    for (std::size_t index = 0; index < places.size(); ++index) {
      take_turn_at_computed_map([&] { work_at(index); });
    }
    return;
  }
  // Maps take equally long: single ones leave no core idle at the end.
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, places.size(), 1),
      [&](const tbb::blocked_range<std::size_t>& range) {
        for (std::size_t index = range.begin(); index != range.end(); ++index) work_at(index);
      },
      tbb::simple_partitioner());
}

}  // namespace attnscope
