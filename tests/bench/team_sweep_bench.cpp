// Sweep distributed over many processes. The time of every input is recorded once on this machine;
// then the schedule of lead_sweep and assist_sweep is replayed for 1 to 1,024 processes of the same
// speed, with messages that take no time. Limit: an efficiency of at least 0.9 for up to 64
// processes; with more, the first process, which adds the results, becomes the bottleneck. Needs
// dataset-fashion-mnist.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <numeric>
#include <tbb/global_control.h>

#include "analysis/sweep/input_block.h"
#include "analysis/sweep/input_record.h"
#include "analysis/sweep/team_sweep.h"
#include "tests/bench/turns.h"

namespace attnscope {
namespace {

/// Seconds to compute each input, and to add its result.
struct RecordedTimes {
  std::vector<double> compute, add;
};

RecordedTimes record_times() {
  constexpr std::int64_t kInputs = 16'384;
  const std::string source = ATTNSCOPE_SOURCE_DIR;
  SweepRequest request;
  request.subjects = {
      {"fashion-adder", load_model(source + "/sample_data/models/fashion-adder.h5"), {}, {}, {}}};
  request.subjects.front().mechanism = request.subjects.front().model->spec().mechanism;
  request.data_set = open_data_set("/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz");
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  SweepResult result;
  result.thresholds = request.thresholds;
  result.series.resize(1);
  RecordedTimes times;
  for (std::int64_t item = 0; item < kInputs; ++item) {
    const std::vector<std::int64_t> items = {item % request.data_set->size()};
    InputBlock block;
    times.compute.push_back(
        process_seconds_of([&] { block = run_inputs(request, items, [](std::int64_t) {}); }));
    times.add.push_back(process_seconds_of([&] { add_inputs(result, block); }));
  }
  return times;
}

double replayed_seconds(const RecordedTimes& times, int processes) {
  const std::int64_t count = std::ssize(times.compute), size = team_block_size(count, processes);
  const auto sum = [&](const std::vector<double>& of, std::int64_t block) {
    const auto first = of.begin() + block * size;
    return std::accumulate(first, first + std::min(size, count - block * size), 0.0);
  };
  // When each process ended its last block.
  std::vector<double> free(static_cast<std::size_t>(processes), 0);
  std::vector<double> heard;  // when the first process had received each block
  double leader = 0;
  for (std::int64_t block = 0; block * size < count; ++block) {
    const auto owner = static_cast<std::size_t>(owner_of_block(block, processes));
    if (owner == 0) {
      leader += sum(times.compute, block);
    } else {
      const std::int64_t ahead = block - (static_cast<std::int64_t>(kBlocksAhead) + 1) * processes;
      const double may_begin = ahead < 0 ? 0 : heard[static_cast<std::size_t>(ahead)];
      free[owner] = std::max(free[owner], may_begin) + sum(times.compute, block);
      leader = std::max(leader, free[owner]);
    }
    heard.push_back(leader);
    leader += sum(times.add, block);
  }
  return leader;
}

void sweep_dealt_out(benchmark::State& state) {
  static const RecordedTimes times = record_times();
  const auto processes = static_cast<int>(state.range(0));
  const double alone = std::accumulate(times.compute.begin(), times.compute.end(), 0.0) +
                       std::accumulate(times.add.begin(), times.add.end(), 0.0);
  double seconds = 0;
  for (auto _ : state) {
    seconds = replayed_seconds(times, processes);
    state.SetIterationTime(seconds);
  }
  state.counters["times_alone"] = alone / seconds;
  state.counters["efficiency"] = alone / seconds / processes;
}
BENCHMARK(sweep_dealt_out)->RangeMultiplier(4)->Range(1, 1024)->UseManualTime()->Iterations(1);

}  // namespace
}  // namespace attnscope
