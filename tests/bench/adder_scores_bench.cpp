// Adder scores of all heads as a fraction of the peak of the floating-point ports.
#include <benchmark/benchmark.h>
#include <vector>

#include "core/attention/kernels/l1_distance.h"
#include "core/attention/mechanism.h"
#include "core/attention/score_blocks.h"
#include "tests/bench/port_limit.h"
#include "tests/bench/turns.h"
#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

/// One core: packs the keys of every head, then computes all distances in blocks of 64 queries, as
/// the mechanism does.
void adder_scores(benchmark::State& state) {
  const std::int64_t heads = state.range(0), n = state.range(1), d = state.range(2);
  const RandomAttention data(n, n, heads, d, 1, 1);
  const AttentionInput input = data.input();
  Matrix block(64, n);
  const auto scores = [&] {
    for (std::int64_t head = 0; head < heads; ++head) {
      const PackedRows keys(head_columns(input.keys, heads, head));
      const ConstStridedMatrixMap queries = head_columns(input.queries, heads, head);
      for (std::int64_t first = 0; first < n; first += 64) {
        const std::int64_t rows = std::min<std::int64_t>(64, n - first);
        l1_distances({queries.data() + first * queries.outerStride(), rows, d,
                      Eigen::OuterStride<>(queries.outerStride())},
                     keys, -0.1F, {block.data(), rows, n, Eigen::OuterStride<>(n)});
        benchmark::DoNotOptimize(block.data());
        benchmark::ClobberMemory();
      }
    }
  };
  const auto differences = static_cast<double>(heads * n * n * d);
  constexpr std::int64_t kLimitCount = 5'000'000;
  Times ours, plain, fused;
  for (auto _ : state) {
    const double seconds = thread_seconds_of(scores);
    ours.add(seconds);
    state.SetIterationTime(seconds);
    Differences made{};
    plain.add(thread_seconds_of([&] { made = subtract_and_add(kLimitCount); }) /
              static_cast<double>(made.count));
    benchmark::DoNotOptimize(made);
    fused.add(thread_seconds_of([&] { made = fuse_and_add(kLimitCount); }) /
              static_cast<double>(made.count));
    benchmark::DoNotOptimize(made);
  }
  const double rate = differences / ours.least();
  state.counters["G|a-b|/s"] = rate / 1e9;
  state.counters["limit_G/s"] = 1e-9 / plain.least();
  state.counters["fused_limit_G/s"] = 1e-9 / fused.least();
  state.counters["of_limit"] = rate * plain.least();
  state.counters["of_fused_limit"] = rate * fused.least();
}

BENCHMARK(adder_scores)
    ->Args({12, 197, 64})
    ->Args({8, 1024, 64})
    ->UseManualTime()
    ->MinTime(2.0)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace attnscope
