// How long work tells how far it is, and how it is told to stop.
#pragma once

#include <functional>
#include <stop_token>
#include <string_view>
#include <utility>

namespace attnscope {

/// Thrown by Progress::step when the work was cancelled; not an Error: nothing went wrong.
struct Cancelled {};

/// Passed by reference into long work. Safe to call from several threads when `report` is.
/// A default-constructed Progress reports to nobody and cannot be cancelled.
class Progress {
 public:
  using Report = std::function<void(double fraction, std::string_view what)>;

  Progress() = default;
  Progress(Report report, std::stop_token stop)
      : report_(std::move(report)), stop_(std::move(stop)) {}

  /// Says that `fraction` (0 to 1) is done. Throws Cancelled if the work is to stop.
  void step(double fraction, std::string_view what = {}) const {
    if (cancelled()) throw Cancelled{};
    if (report_) report_(fraction, what);
  }

  [[nodiscard]] bool cancelled() const { return stop_.stop_requested(); }

  /// A Progress whose 0…1 is this one's first…last: for a part of a longer piece of work.
  [[nodiscard]] Progress part(double first, double last) const {
    if (!report_) return silent();
    return Progress(
        [report = report_, first, last](double fraction, std::string_view what) {
          report(first + (last - first) * fraction, what);
        },
        stop_);
  }

  /// One that can be cancelled as this one, and reports to nobody.
  [[nodiscard]] Progress silent() const { return Progress({}, stop_); }

 private:
  Report report_;
  std::stop_token stop_;
};

}  // namespace attnscope
