// Long work off the window's thread: progress, remaining time, cancelling, delivery of results.
#pragma once

#include <QObject>
#include <QString>
#include <QThreadPool>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/progress.h"

namespace attnscope {

using JobId = std::int64_t;

/// How far one job is.
struct JobStatus {
  JobId id = 0;
  QString title;                              ///< "Running fashion-adder"
  QString step;                               ///< what it does now, may be empty
  bool running = false;                       ///< false while it waits for a thread
  double fraction = 0;                        ///< 0 to 1
  std::optional<double> remaining_seconds{};  ///< an estimate; absent while too early to say
};

/// Why a job brought no result.
struct JobFailure {
  bool cancelled = false;
  std::string what;  ///< the error's line; empty when cancelled
};

/// Runs jobs on a few threads of its own. Lives on the window's thread: results and failures are
/// delivered there, in the order in which jobs end. Destruction cancels and waits for all jobs.
class JobQueue : public QObject {
  Q_OBJECT
 public:
  /// Runs on the window's thread with the result the work has bound into it.
  using Delivery = std::function<void()>;
  /// Runs on a job's thread, on values of its own: who submitted it may be gone. Throws Error, or
  /// Cancelled through the Progress.
  using Work = std::function<Delivery(const Progress&)>;
  using Failure = std::function<void(const JobFailure&)>;

  explicit JobQueue(QObject* parent = nullptr);
  ~JobQueue() override;

  /// `failed` may be empty. Exactly one of the delivery and `failed` is called; neither, if a
  /// `receiver` was given that is gone by then.
  JobId submit(const QString& title, Work work, Failure failed, QObject* receiver = nullptr);
  /// Asks a job to stop; its failure follows once it has. Unknown ids are ignored.
  void cancel(JobId id);
  void cancel_all();

  /// Jobs that wait or run, in the order of submission.
  [[nodiscard]] std::vector<JobStatus> status() const;
  [[nodiscard]] bool idle() const { return jobs_.empty(); }

 signals:
  void changed();  ///< a job was added, has ended, or made progress (at most 20 times a second)
  void became_idle();

 private:
  struct Job;
  void finish(JobId id, const std::function<void()>& deliver);
  void note_progress();

  std::vector<std::shared_ptr<Job>> jobs_;
  JobId next_id_ = 1;
  std::atomic<bool> progress_noted_{false};
  QThreadPool threads_;
};

}  // namespace attnscope
