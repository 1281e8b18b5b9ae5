#include "app/session/job_queue.h"

#include <QObject>
#include <QThread>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <thread>

#include "core/error.h"
#include "tests/app/support/session_fixture.h"

namespace attnscope {
namespace {

TEST(JobQueue, DeliversOnTheThreadItLivesOn) {
  JobQueue jobs;
  QThread* worker = nullptr;
  QThread* receiver = nullptr;
  jobs.submit("job",
              [&](const Progress&) -> JobQueue::Delivery {
                worker = QThread::currentThread();
                return [&] { receiver = QThread::currentThread(); };
              },
              {});
  ASSERT_TRUE(wait_until([&] { return jobs.idle(); }));
  EXPECT_EQ(receiver, QThread::currentThread());
  EXPECT_NE(worker, receiver);
}

TEST(JobQueue, TellsProgressAndRemainingTime) {
  JobQueue jobs;
  std::atomic<bool> resume = false;
  jobs.submit("job",
              [&](const Progress& progress) -> JobQueue::Delivery {
                progress.step(0.5, "half");
                while (!resume) std::this_thread::yield();
                return {};
              },
              {});
  ASSERT_TRUE(wait_until([&] {
    return !jobs.status().empty() && jobs.status().front().remaining_seconds.has_value();
  }));
  const JobStatus status = jobs.status().front();
  EXPECT_TRUE(status.running);
  EXPECT_EQ(status.fraction, 0.5);
  EXPECT_EQ(status.step, "half");
  EXPECT_GT(*status.remaining_seconds, 0);
  resume = true;
  EXPECT_TRUE(wait_until([&] { return jobs.idle(); }));
}

TEST(JobQueue, StopsACancelledJobAndReportsIt) {
  JobQueue jobs;
  bool delivered = false, cancelled = false;
  const JobId id = jobs.submit(
      "endless",
      [&](const Progress& progress) -> JobQueue::Delivery {
        for (;;) progress.step(0.1);
        return [&] { delivered = true; };
      },
      [&](const JobFailure& failure) { cancelled = failure.cancelled; });
  jobs.cancel(id);
  ASSERT_TRUE(wait_until([&] { return jobs.idle(); }));
  EXPECT_TRUE(cancelled);
  EXPECT_FALSE(delivered);
}

TEST(JobQueue, HandsOverTheWholeError) {
  JobQueue jobs;
  std::string what;
  jobs.submit(
      "failing",
      [](const Progress&) -> JobQueue::Delivery {
        throw Error(ErrorKind::damaged, "broken").in_file("x.pt").remedy("get it again");
      },
      [&](const JobFailure& failure) { what = failure.what; });
  ASSERT_TRUE(wait_until([&] { return jobs.idle(); }));
  EXPECT_EQ(what, "x.pt: broken; get it again");
}

TEST(JobQueue, EndsWithoutAJobThatCannotBeCancelled) {
  JobQueue jobs;
  std::atomic<bool> begun = false, released = false;
  jobs.submit("one long step",
              [&](const Progress&) -> JobQueue::Delivery {
                begun = true;
                while (!released) std::this_thread::yield();
                return {};
              },
              {});
  ASSERT_TRUE(wait_until([&] { return begun.load(); }));
  EXPECT_FALSE(jobs.end(std::chrono::milliseconds(30)));
  released = true;
  EXPECT_TRUE(jobs.end(std::chrono::seconds(60)));
}

TEST(JobQueue, EndsOnlyWhenCancelledWorkIsSaved) {
  JobQueue jobs;
  std::atomic<bool> begun = false, saved = false;
  jobs.submit(
      "saves when cancelled",
      [&](const Progress& progress) -> JobQueue::Delivery {
        begun = true;
        while (!progress.cancelled()) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        saved = true;
        throw Cancelled{};
      },
      {}, nullptr, JobQueue::AtEnd::wait);
  ASSERT_TRUE(wait_until([&] { return begun.load(); }));
  (void)jobs.end(std::chrono::milliseconds(0));
  EXPECT_TRUE(saved);
}

TEST(JobQueue, RunsJobsConcurrently) {
  JobQueue jobs;
  std::atomic<int> met = 0;
  for (int i = 0; i < 2; ++i) {
    jobs.submit("meeting",
                [&](const Progress& progress) -> JobQueue::Delivery {
                  ++met;
                  while (met < 2) progress.step(0);
                  return {};
                },
                {});
  }
  EXPECT_TRUE(wait_until([&] { return jobs.idle(); }));
}

TEST(JobQueue, DropsTheResultOfADeletedReceiver) {
  JobQueue jobs;
  bool delivered = false;
  auto receiver = std::make_unique<QObject>();
  jobs.submit(
      "job", [&](const Progress&) -> JobQueue::Delivery { return [&] { delivered = true; }; }, {},
      receiver.get());
  receiver.reset();
  ASSERT_TRUE(wait_until([&] { return jobs.idle(); }));
  EXPECT_FALSE(delivered);
}

}  // namespace
}  // namespace attnscope
