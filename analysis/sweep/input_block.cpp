#include "analysis/sweep/input_block.h"

#include "analysis/sweep/stoppable_loop.h"
#include "analysis/sweep/sweep_sums.h"

namespace attnscope {

InputBlock run_inputs(const SweepRequest& request, std::span<const std::int64_t> items,
                      const std::function<void(std::int64_t done)>& begin_input) {
  InputBlock block{std::vector<std::string>(items.size()), std::vector<InputRecord>(items.size())};
  const std::size_t whole = work_until_stopped(items.size(), begin_input, [&](std::size_t i) {
    const Input input = request.data_set->item(request.first + items[i]);
    block.labels[i] = input.label;
    for (const Subject& subject : request.subjects) {
      add_records(subject, request, input, block.records[i]);
    }
  });
  block.labels.resize(whole);
  block.records.resize(whole);
  return block;
}

void add_inputs(SweepResult& result, const InputBlock& block) {
  for (std::size_t i = 0; i < block.records.size(); ++i) {
    for (std::size_t s = 0; s < result.series.size(); ++s) {
      add_series(result.series[s], block.records[i][s], block.labels[i], result.thresholds.size(),
                 result.numbers.baselines);
    }
    ++result.done;
  }
}

}  // namespace attnscope
