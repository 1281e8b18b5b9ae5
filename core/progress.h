// Progress reports and cancellation of long work.
#pragma once

#include <functional>
#include <stop_token>
#include <string_view>
#include <utility>

namespace attnscope {

/// Thrown by Progress::step when the work was cancelled. Not an Error, because nothing failed.
struct Cancelled {};

/// Progress and cancellation, passed by reference into long work. Thread-safe if `report` is. A
/// default-constructed Progress reports nothing and cannot be cancelled.
class Progress {
 public:
  using Report = std::function<void(double fraction, std::string_view what)>;

  Progress() = default;
  Progress(Report report, std::stop_token stop)
      : report_(std::move(report)), stop_(std::move(stop)) {}

  /// Reports that `fraction` (0 to 1) is done. Throws Cancelled if the work was cancelled.
  void step(double fraction, std::string_view what = {}) const {
    if (cancelled()) throw Cancelled{};
    if (report_) report_(fraction, what);
  }

  [[nodiscard]] bool cancelled() const { return stop_.stop_requested(); }

  /// A Progress that maps 0…1 to first…last of this one, for a part of the work.
  [[nodiscard]] Progress part(double first, double last) const {
    if (!report_) return silent();
    return Progress(
        [report = report_, first, last](double fraction, std::string_view what) {
          report(first + (last - first) * fraction, what);
        },
        stop_);
  }

  /// A Progress with the same cancellation that reports nothing.
  [[nodiscard]] Progress silent() const { return Progress({}, stop_); }

 private:
  Report report_;
  std::stop_token stop_;
};

}  // namespace attnscope
