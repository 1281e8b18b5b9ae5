// Background jobs with progress, remaining time, cancellation and delivery of results.
#pragma once

#include <QObject>
#include <QString>
#include <QThreadPool>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/progress.h"

namespace attnscope {

using JobId = std::int64_t;

/// Progress of one job.
struct JobStatus {
  JobId id = 0;
  QString title;                              ///< "Running fashion-adder"
  QString step;                               ///< current step; may be empty
  bool running = false;                       ///< false while it waits for a thread
  double fraction = 0;                        ///< 0 to 1
  std::optional<double> remaining_seconds{};  ///< an estimate; absent until it is reliable
};

/// Reason why a job has no result.
struct JobFailure {
  bool cancelled = false;
  std::string what;  ///< text of the error; empty when cancelled
};

/// Runs jobs on a few threads of its own. Lives on the window's thread, where results and failures
/// are delivered in the order in which jobs end. Destruction cancels all jobs and waits for them.
class JobQueue : public QObject {
  Q_OBJECT
 public:
  /// Delivers a result on the window's thread; the work has bound the result into it.
  using Delivery = std::function<void()>;
  /// Runs on a job's thread and must own its data, because the submitter may be destroyed earlier.
  /// Throws Error, or Cancelled through the Progress.
  using Work = std::function<Delivery(const Progress&)>;
  using Failure = std::function<void(const JobFailure&)>;

  enum class AtEnd {
    abandon,  ///< its result is not needed when the program ends
    wait      ///< it saves its work when it is cancelled: the program's end waits for it
  };

  explicit JobQueue(QObject* parent = nullptr);
  ~JobQueue() override;

  /// Submits a job. `failed` may be empty. Exactly one of the delivery and `failed` is called;
  /// neither is called if a given `receiver` has been destroyed by then.
  JobId submit(const QString& title, Work work, Failure failed, QObject* receiver = nullptr,
               AtEnd at_end = AtEnd::abandon);
  /// Requests a job to stop; its failure is delivered afterwards. Unknown ids are ignored.
  void cancel(JobId id);
  void cancel_all();
  /// Cancels all jobs at the end of the program. Waits until those with AtEnd::wait have ended, and
  /// at most `longest` for the others; false if one still runs, such as a decomposition of a large
  /// matrix, which cannot be cancelled.
  [[nodiscard]] bool end(std::chrono::milliseconds longest);

  /// Waiting and running jobs in the order of submission.
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
