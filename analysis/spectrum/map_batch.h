// Parallel processing of a trace's maps on all cores.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tbb/parallel_for.h>
#include <vector>

#include "analysis/spectrum/map_operator.h"
#include "analysis/spectrum/singular_values.h"
#include "analysis/spectrum/spectrum.h"
#include "core/progress.h"
#include "core/trace/trace.h"

namespace attnscope {

inline constexpr double kFloatEpsilon = 0x1p-23, kDoubleEpsilon = 0x1p-52;

/// Every recorded map of `layers` (all if empty), in order of layer and head. Includes maps of
/// which only factors were recorded if `factors_do`. Throws Error(usage) for a layer out of range,
/// and if no map was recorded.
[[nodiscard]] std::vector<MapIndex> recorded_maps(const Trace& trace,
                                                  std::span<const std::int64_t> layers,
                                                  bool factors_do = false);

/// One map in double, with the recorded precision. I is added or subtracted in double if the view
/// requires it.
[[nodiscard]] MatrixD map_seen(const Trace& trace, const MapIndex& place, IdentityView view);

/// Map that was recorded in double; empty if it was recorded in float32.
[[nodiscard]] std::optional<ConstMatrixDMap> exact_map(const LayerTrace& layer, std::int64_t head);

/// Spectrum of one recorded map, by the method of the options.
[[nodiscard]] MapSpectrum spectrum_at(const Trace& trace, const MapIndex& place, IdentityView view,
                                      const SpectrumOptions& options);

/// Throws Error(usage) unless τ is in (0, 1].
void check_threshold(const RankThreshold& threshold);

/// Sets the singular values and the ranks that follow from them. `spectrum` must have its threshold
/// and tokens.
void take_singular_values(MapSpectrum& spectrum, std::vector<double> values,
                          double epsilon = kFloatEpsilon);

/// Sets the found values like take_singular_values, or the state not_converged.
void set_singular_values(SingularValues found, double epsilon, MapSpectrum& spectrum);

/// Spectrum of a map without singular values and ranks: state, counts of entries and symmetry
/// error. `asymmetry`: asymmetry_of the map.
[[nodiscard]] MapSpectrum counted(const MatrixD& map, const RankThreshold& threshold,
                                  double asymmetry);

/// Sets layer, head, identity and rank bound of the map. `smaller`: its smaller dimension.
void say_where(MapSpectrum& spectrum, const Trace& trace, const MapIndex& place, IdentityView view,
               std::int64_t smaller);

/// True if the values of a map without factors are estimated.
[[nodiscard]] bool is_estimated(const ImpliedMaps& maps, const SpectrumOptions& options);

/// Like spectrum_of for a map in double, which is used as scratch. `epsilon` is that of the type in
/// which its entries were recorded.
[[nodiscard]] MapSpectrum spectrum_of_matrix(MatrixD& map, const SpectrumOptions& options,
                                             double epsilon = kFloatEpsilon);

/// Serialises reports of finished maps, and reports the progress.
class MapReports {
 public:
  MapReports(const Progress& progress, std::size_t count, std::string_view what = "singular values")
      : progress_(progress), count_(count), what_(what) {
    progress_.step(0, what_);
  }
  /// Calls `report`, then reports the progress. Throws Cancelled without calling `report` if the
  /// work was cancelled.
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

/// Calls work(i) for i from 0 to count − 1 on all cores, one index per task: maps take equally
/// long, so that no core is idle at the end. After an exception no further index is begun, and the
/// exception is thrown once the others have ended: an exception that left TBB's loop would cancel
/// the loops nested in other iterations, which would then use incomplete results.
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

/// Calls work(index) for every map of `places` on all cores, or in sequence on all cores if maps
/// are computed. The function that it returns is called next, never two at once, before the
/// progress is reported.
template <class Work>
void for_each_map(const Trace& trace, const std::vector<MapIndex>& places, const Progress& progress,
                  const Work& work, std::string_view what = "singular values") {
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

/// Calls work(i) for i = 0 … count − 1, on all cores. `begin` is called when an iteration begins,
/// from any thread, with the number of iterations done so far. If it throws Cancelled, no further
/// iteration begins, and those that have begun are completed. Returns the number of iterations done
/// before the first missing one.
[[nodiscard]] std::size_t work_until_stopped(std::size_t count,
                                             const std::function<void(std::int64_t done)>& begin,
                                             const std::function<void(std::size_t i)>& work);

}  // namespace attnscope
