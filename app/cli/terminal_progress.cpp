#include "app/cli/terminal_progress.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <unistd.h>
#include <utility>

namespace attnscope {

namespace {

using Clock = std::chrono::steady_clock;

/// A duration as text: "3 s", "2 min 5 s", "1 h 4 min".
std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) {
    return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  }
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

}  // namespace

struct TerminalProgress::Line {
  std::mutex mutex;
  const Clock::time_point start = Clock::now();
  Clock::time_point shown = start;
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  const Clock::duration interval =
      terminal ? Clock::duration(std::chrono::milliseconds(100)) : std::chrono::seconds(10);
  bool written = false;

  void show(double fraction, std::string_view what) {
    const std::lock_guard lock(mutex);
    const auto now = Clock::now();
    if (now - shown < interval) return;
    shown = now;
    const double elapsed = std::chrono::duration<double>(now - start).count();
    std::string text = std::to_string(static_cast<int>(100 * fraction)) + " % ";
    text += what;
    if (fraction > 0.01 && elapsed > 1) {
      text += ", " + duration_text(elapsed * (1 - fraction) / fraction) + " left";
    }
    std::fprintf(stderr, terminal ? "\r\033[K%s" : "%s\n", text.c_str());
    std::fflush(stderr);
    written = true;
  }
};

TerminalProgress::TerminalProgress(std::stop_token stop) : line_(std::make_shared<Line>()) {
  progress_ = Progress(
      [line = line_](double fraction, std::string_view what) { line->show(fraction, what); },
      std::move(stop));
}

TerminalProgress::~TerminalProgress() {
  if (line_->written && line_->terminal) std::fprintf(stderr, "\r\033[K");
}

}  // namespace attnscope
