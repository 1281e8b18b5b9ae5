// Progress on stderr with the remaining time.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "core/progress.h"

namespace attnscope {

/// Shows progress. A terminal gets one line, rewritten at most ten times a second and cleared at
/// the end; other output (a log) gets a new line every ten seconds. Safe to call from several
/// threads.
class TerminalProgress {
 public:
  /// `stop` cancels the work that reports to progress().
  explicit TerminalProgress(std::stop_token stop = {});
  ~TerminalProgress();
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  [[nodiscard]] const Progress& progress() const { return progress_; }

 private:
  struct Line;
  std::shared_ptr<Line> line_;
  Progress progress_;
};

}  // namespace attnscope
