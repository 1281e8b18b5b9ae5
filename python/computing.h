// Long work without Python's lock: other Python threads run meanwhile, Ctrl-C ends it, and a
// callable may watch its progress.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/progress.h"
#include "python/bindings.h"

namespace attnscope::python {

/// OpenBLAS on one thread, as the program computes, while an object lives; then as many as before.
/// Debian's NumPy and PyTorch use the same library, and keep the threads that they had.
class OneBlasThread {
 public:
  OneBlasThread();
  ~OneBlasThread();
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;
};

/// Calls `work` on a thread of its own, without the GIL, and waits for it. Meanwhile this thread
/// asks every 50 ms for signals (PyErr_CheckSignals), and gives news of the progress to `show`,
/// called as show(fraction, what) with a number from 0 to 1 and a str, unless it is None. If a
/// signal's handler or `show` raises, the work is cancelled and the exception raised once the work
/// has ended. Throws what `work` throws. Needs the GIL.
void compute_apart(const py::object& show, const std::function<void(const Progress&)>& work);

/// Result of work(progress), which must not touch Python objects, by compute_apart.
template <class Work>
[[nodiscard]] auto computed(const py::object& show, const Work& work) {
  std::optional<std::decay_t<std::invoke_result_t<Work, const Progress&>>> result;
  compute_apart(show, [&](const Progress& progress) { result.emplace(work(progress)); });
  return std::move(*result);
}

}  // namespace attnscope::python
