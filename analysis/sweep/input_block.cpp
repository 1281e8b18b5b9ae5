#include "analysis/sweep/input_block.h"

#include <algorithm>
#include <atomic>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "analysis/sweep/sweep_sums.h"

namespace attnscope {

InputBlock run_inputs(const SweepRequest& request, std::span<const std::int64_t> items,
                      const std::function<void(std::int64_t done)>& begin_input) {
  InputBlock block{std::vector<std::string>(items.size()), std::vector<InputRecord>(items.size())};
  std::vector<char> ready(items.size(), 0);
  std::atomic<std::int64_t> done{0};
  tbb::parallel_for(std::size_t{0}, items.size(), [&](std::size_t i) {
    try {
      begin_input(done);
    } catch (const Cancelled&) {
      return;  // nothing more is begun; what is begun is ended, and counts
    }
    const Input input = request.data_set->item(request.first + items[i]);
    block.labels[i] = input.label;
    // A thread that waits for maps of this input must not begin another: memory would grow.
    tbb::this_task_arena::isolate([&] {
      for (const Subject& subject : request.subjects) {
        add_records(subject, request, input, block.records[i]);
      }
    });
    ready[i] = 1;
    ++done;
  });
  const auto whole = static_cast<std::size_t>(std::ranges::find(ready, 0) - ready.begin());
  block.labels.resize(whole);
  block.records.resize(whole);
  return block;
}

void add_inputs(SweepResult& result, const InputBlock& block) {
  for (std::size_t i = 0; i < block.records.size(); ++i) {
    for (std::size_t s = 0; s < result.series.size(); ++s) {
      add_series(result.series[s], block.records[i][s], block.labels[i], result.thresholds.size());
    }
    ++result.done;
  }
}

}  // namespace attnscope
