#include "analysis/sweep/stoppable_loop.h"

#include <algorithm>
#include <atomic>
#include <tbb/task_arena.h>
#include <vector>

#include "analysis/spectrum/map_batch.h"
#include "core/progress.h"

namespace attnscope {

std::size_t work_until_stopped(std::size_t count,
                               const std::function<void(std::int64_t done)>& begin,
                               const std::function<void(std::size_t i)>& work) {
  std::vector<char> ready(count, 0);
  std::atomic<std::int64_t> done{0};
  for_single_ones(count, [&](std::size_t i) {
    try {
      begin(done);
    } catch (const Cancelled&) {
      return;  // inputs that have begun are completed and counted
    }
    // A thread that waits for maps of this input must not begin another input: memory would grow.
    tbb::this_task_arena::isolate([&] { work(i); });
    ready[i] = 1;
    ++done;
  });
  return static_cast<std::size_t>(std::ranges::find(ready, 0) - ready.begin());
}

}  // namespace attnscope
