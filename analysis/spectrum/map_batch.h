// The maps of a trace as a batch of independent work on all cores.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tbb/parallel_for.h>
#include <vector>

#include "analysis/spectrum/map_operator.h"
#include "analysis/spectrum/map_turn.h"
#include "analysis/spectrum/singular_values.h"
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

/// Those, or that there are none.
void take_found(SingularValues found, double epsilon, MapSpectrum& spectrum);

/// Without what its singular values say: whether it has any, and its symmetry. `asymmetry`:
/// asymmetry_of the map.
[[nodiscard]] MapSpectrum counted(const MatrixD& map, double threshold, double asymmetry);

struct MapExtents {
  std::int64_t rows, columns;
};

/// Fills in which map of the trace it is, and what that says of it.
void say_where(MapSpectrum& spectrum, const Trace& trace, const RecordedMap& place,
               IdentityView view, const MapExtents& extents);

/// Whether the values of an unfactored map are estimated.
[[nodiscard]] bool is_estimated(const ImpliedMaps& maps, const SpectrumOptions& options);

/// As spectrum_of, of a map in double, which is used as work space. `epsilon` is that of the type
/// its entries were recorded in.
[[nodiscard]] MapSpectrum spectrum_of_matrix(MatrixD& map, const SpectrumOptions& options,
                                             double epsilon = kFloatEpsilon);

/// Tells what work on maps brings, never two at once, and how far it is.
class MapReports {
 public:
  MapReports(const Progress& progress, std::size_t count, std::string_view what = "singular values")
      : progress_(progress), count_(count), what_(what) {
    progress_.step(0, what_);
  }
  /// Calls `report` before the progress is told. Throws Cancelled: of what was cancelled while it
  /// was at work nothing is told.
  template <class Report>
  void report(Report&& report) {
    const std::lock_guard lock(reporting_);
    if (progress_.cancelled()) throw Cancelled{};
    report();
    ++done_;
    progress_.step(static_cast<double>(done_) / static_cast<double>(count_), what_);
  }

 private:
  const Progress& progress_;
  std::size_t count_, done_ = 0;
  std::string_view what_;
  std::mutex reporting_;
};

/// Calls work(i) for i from 0 to count − 1 on all cores. Maps take equally long: single ones leave
/// no core idle at the end. Once one has thrown none is begun, and what it threw is thrown when the
/// others have ended: an exception that left TBB's loop would cut short the loops within them,
/// whose results they would go on with.
template <class Work>
void for_single_ones(std::size_t count, const Work& work) {
  std::exception_ptr thrown;
  std::atomic<bool> has_thrown = false;
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, count, 1),
      [&](const tbb::blocked_range<std::size_t>& range) {
        for (std::size_t index = range.begin(); index != range.end() && !has_thrown; ++index) {
          try {
            work(index);
          } catch (...) {
            if (!has_thrown.exchange(true)) thrown = std::current_exception();
          }
        }
      },
      tbb::simple_partitioner());
  if (thrown) std::rethrow_exception(thrown);
}

/// Calls work(index) for every place of `trace` on all cores; of computed maps for one after the
/// other, which the cores share. What it returns is called next, never two at once, before the
/// progress is reported.
template <class Work>
void for_each_map(const Trace& trace, const std::vector<RecordedMap>& places,
                  const Progress& progress, const Work& work,
                  std::string_view what = "singular values") {
  MapReports reports(progress, places.size(), what);
  const auto work_at = [&](std::size_t index) {
    if (progress.cancelled()) throw Cancelled{};
    auto report = work(index);
    reports.report(report);
  };
  if (!has_computed_maps(trace)) {
    for_single_ones(places.size(), work_at);
    return;
  }
  for (std::size_t index = 0; index < places.size(); ++index) {
    take_turn_at_computed_map([&] { work_at(index); });
  }
}

}  // namespace attnscope
