// Replaces oneTBB under ThreadSanitizer (preset tsan). Debian's library is not compiled for it, so
// that synchronisation by oneTBB looks like a race. Here each loop starts its own threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "tbb/blocked_range.h"
#include "tbb/global_control.h"

namespace tbb {

/// Calls `body(i)` for 0 <= i < count on a few threads. The first exception is rethrown.
template <class Body>
void on_threads(std::size_t count, const Body& body) {
  constexpr std::size_t most = 3;
  const std::size_t threads = std::min({count, most, global_control::allowed()});
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex failing;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(failing);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  others.clear();  // joins the threads
  if (failure) std::rethrow_exception(failure);
}

template <class Index, class Body>
void parallel_for(Index first, Index last, const Body& body) {
  if (first >= last) return;
  on_threads(static_cast<std::size_t>(last - first),
             [&](std::size_t i) { body(static_cast<Index>(first + static_cast<Index>(i))); });
}

struct simple_partitioner {};

template <class Index, class Body>
void parallel_for(const blocked_range<Index>& range, const Body& body, simple_partitioner = {}) {
  const Index size = range.end() - range.begin(), grain = range.grainsize();
  on_threads(static_cast<std::size_t>((size + grain - 1) / grain), [&](std::size_t i) {
    const Index begin = range.begin() + static_cast<Index>(i) * grain;
    body(blocked_range<Index>(begin, std::min(begin + grain, range.end()), grain));
  });
}

}  // namespace tbb
