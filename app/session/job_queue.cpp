#include "app/session/job_queue.h"

#include <QPointer>
#include <QTimer>
#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <utility>

#include "app/session/hand_over.h"
#include "core/error.h"
#include "core/platform/process.h"
#include "core/text/failure.h"

namespace attnscope {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kThreads = 4;
// The threads that draw, which software OpenGL keeps busy, do not wait for jobs that use all cores.
constexpr int kNice = 10;
constexpr int kProgressIntervalMs = 50;
// Before these limits, an estimate of the remaining time would fluctuate.
constexpr double kEstimateAfterSeconds = 1.0;
constexpr double kEstimateAfterFraction = 0.05;

}  // namespace

struct JobQueue::Job {
  JobId id = 0;
  QString title;
  std::stop_source stop;
  AtEnd at_end = AtEnd::abandon;
  std::atomic<bool> running{false};
  std::atomic<bool> ended{false};  // its work has ended; delivered or not
  std::atomic<double> fraction{0};
  std::mutex mutex;  // guards the members below
  std::string step;
  Clock::time_point started;
};

JobQueue::JobQueue(QObject* parent) : QObject(parent) {
  lower_worker_priority(kNice);
  threads_.setMaxThreadCount(kThreads);
}

JobQueue::~JobQueue() {
  cancel_all();
  threads_.waitForDone();
  after_hand_over();
}

JobId JobQueue::submit(const QString& title, Work work, Failure failed, QObject* receiver,
                       AtEnd at_end) {
  auto job = std::make_shared<Job>();
  job->id = next_id_++;
  job->title = title;
  job->at_end = at_end;
  jobs_.push_back(job);

  const bool has_receiver = receiver != nullptr;
  const QPointer<QObject> still_there(receiver);
  std::function<void()> whole = [this, job, has_receiver, still_there, work = std::move(work),
                                 failed = std::move(failed)] {
    after_hand_over();
    lower_thread_priority(kNice);
    {
      const std::lock_guard lock(job->mutex);
      job->started = Clock::now();
    }
    job->running = true;
    const Progress progress(
        [this, job = job.get()](double fraction, std::string_view step) {
          job->fraction = std::clamp(fraction, 0.0, 1.0);
          if (!step.empty()) {
            const std::lock_guard lock(job->mutex);
            job->step = step;
          }
          if (!progress_noted_.exchange(true)) {
            queue_call(this, [this] { note_progress(); });
          }
        },
        job->stop.get_token());

    Delivery deliver;
    JobFailure failure;
    try {
      if (progress.cancelled()) throw Cancelled{};
      deliver = work(progress);
      if (progress.cancelled()) throw Cancelled{};
    } catch (const Cancelled&) {
      failure.cancelled = true;
    } catch (const std::exception& error) {
      failure.what = as_error(error).in_window();
    }
    job->ended = true;
    auto delivery = [this, job, has_receiver, still_there, failed, failure,
                     deliver = std::move(deliver)] {
      JobFailure ended = failure;
      // Results that were complete but not delivered when the job was cancelled are dropped.
      if (job->stop.stop_requested()) ended.cancelled = true;
      const bool wanted = !has_receiver || still_there;
      const bool done = !ended.cancelled && ended.what.empty();
      finish(job->id, [&] {
        if (wanted && done && deliver) deliver();
        if (wanted && !done && failed) failed(ended);
      });
    };
    queue_call(this, std::move(delivery));
  };
  before_hand_over();
  threads_.start(std::move(whole));
  emit changed();
  return job->id;
}

void JobQueue::cancel(JobId id) {
  for (const auto& job : jobs_) {
    if (job->id == id) job->stop.request_stop();
  }
}

void JobQueue::cancel_all() {
  for (const auto& job : jobs_) job->stop.request_stop();
}

bool JobQueue::end(std::chrono::milliseconds longest) {
  constexpr int kPollMs = 10;
  cancel_all();
  const Clock::time_point until = Clock::now() + longest;
  while (!threads_.waitForDone(kPollMs)) {
    const bool saves = std::ranges::any_of(
        jobs_, [](const auto& job) { return job->at_end == AtEnd::wait && !job->ended; });
    if (!saves && Clock::now() >= until) return false;
  }
  after_hand_over();
  return true;
}

std::vector<JobStatus> JobQueue::status() const {
  std::vector<JobStatus> all;
  for (const auto& job : jobs_) {
    JobStatus status;
    status.id = job->id;
    status.title = job->title;
    status.running = job->running;
    status.fraction = job->fraction;
    const std::lock_guard lock(job->mutex);
    status.step = QString::fromStdString(job->step);
    if (status.running && status.fraction > kEstimateAfterFraction) {
      const double elapsed = std::chrono::duration<double>(Clock::now() - job->started).count();
      if (elapsed > kEstimateAfterSeconds) {
        status.remaining_seconds = elapsed * (1 - status.fraction) / status.fraction;
      }
    }
    all.push_back(std::move(status));
  }
  return all;
}

void JobQueue::finish(JobId id, const std::function<void()>& deliver) {
  // The delivery may submit more jobs, so the queue is never idle between two steps of one task.
  deliver();
  std::erase_if(jobs_, [id](const auto& job) { return job->id == id; });
  emit changed();
  if (jobs_.empty()) emit became_idle();
}

void JobQueue::note_progress() {
  QTimer::singleShot(kProgressIntervalMs, this, [this] {
    progress_noted_ = false;
    emit changed();
  });
}

}  // namespace attnscope
