#include "python/computing.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "core/platform/openblas.h"
#include "core/tensor/blas.h"

namespace attnscope::python {

namespace {

/// The state that both threads share.
struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false, news = false;
  double fraction = 0;
  std::string what;
  std::exception_ptr failure;  ///< read after the thread was joined
};

/// Computations that run, and the number of threads before the first of them.
struct BlasUse {
  std::mutex mutex;
  int computations = 0, threads_before = 1;
};

BlasUse& blas_use() {
  static BlasUse use;
  return use;
}

}  // namespace

OneBlasThread::OneBlasThread() {
  BlasUse& use = blas_use();
  const std::lock_guard lock(use.mutex);
  if (use.computations == 0) {
    use.threads_before = blas_threads();
    use_one_blas_thread();
    set_blas_threads(1);  // again: the line above does so only once
  }
  ++use.computations;
}

OneBlasThread::~OneBlasThread() {
  BlasUse& use = blas_use();
  const std::lock_guard lock(use.mutex);
  if (--use.computations == 0) set_blas_threads(use.threads_before);
}

void compute_apart(const py::object& show, const std::function<void(const Progress&)>& work) {
  Shared shared;
  std::stop_source stop;
  const Progress progress(
      [&shared](double fraction, std::string_view what) {
        const std::lock_guard lock(shared.mutex);
        shared.fraction = fraction;
        shared.what = what;
        shared.news = true;
      },
      stop.get_token());
  std::exception_ptr raised;
  const auto look = [&](double fraction, const std::string& what, bool news) {
    const py::gil_scoped_acquire held;
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (news && !show.is_none()) show(fraction, text(what));
    } catch (...) {
      raised = std::current_exception();
      stop.request_stop();
    }
  };
  {
    const py::gil_scoped_release released;
    const OneBlasThread one_blas_thread;
    std::thread worker([&] {
      try {
        work(progress);
      } catch (...) {
        shared.failure = std::current_exception();
      }
      const std::lock_guard lock(shared.mutex);
      shared.done = true;
      shared.changed.notify_all();
    });
    std::unique_lock lock(shared.mutex);
    using namespace std::chrono_literals;
    while (!shared.changed.wait_for(lock, 50ms, [&] { return shared.done; })) {
      const double fraction = shared.fraction;
      const std::string what = shared.what;
      const bool news = std::exchange(shared.news, false);
      lock.unlock();
      if (!raised) look(fraction, what, news);
      lock.lock();
    }
    lock.unlock();
    worker.join();
  }
  if (raised) std::rethrow_exception(raised);
  if (shared.failure) std::rethrow_exception(shared.failure);
}

}  // namespace attnscope::python
