// Hashed attention compared to softmax in the same run, and affinities of packed codes compared to
// the CPU's peak in registers.
#include <benchmark/benchmark.h>
#include <bit>
#include <random>
#include <vector>

#include "core/attention/kernels/hamming.h"
#include "core/attention/mechanism.h"
#include "tests/bench/popcount_limit.h"
#include "tests/bench/turns.h"
#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

/// One layer of EcoFormer's Table 7 for one input: N tokens, one head of width 32, b = 16, m = 25.
void hashed_attention(benchmark::State& state) {
  RandomAttention data(state.range(0), state.range(0), 1, 32, 32, 1);
  data.queries = data.keys;
  add_hash_buffers(data.parameters, 1, 16, 25, 32, 2);
  const auto hash = make_mechanism({"hash", {}}), softmax = make_mechanism({"softmax", {}});
  Times hashed, plain;
  for (auto _ : state) {
    const double seconds =
        process_seconds_of([&] { benchmark::DoNotOptimize(hash->forward(data.input())); });
    hashed.add(seconds);
    state.SetIterationTime(seconds);
    plain.add(
        process_seconds_of([&] { benchmark::DoNotOptimize(softmax->forward(data.input())); }));
  }
  state.counters["softmax_ms"] = 1e3 * plain.least();
  state.counters["times_softmax"] = plain.least() / hashed.least();
}

BENCHMARK(hashed_attention)
    ->Arg(196)
    ->Arg(784)
    ->Arg(3136)
    ->UseManualTime()
    ->MinTime(1.0)
    ->Unit(benchmark::kMillisecond);

/// Writes N × N affinities, one row at a time, into a buffer that stays in the cache; one core.
void popcount_affinities(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> codes(n);
  for (std::uint64_t& code : codes) code = random();
  std::vector<float> row(n);
  Times ours, limit, one_by_one;
  for (auto _ : state) {
    const double seconds = thread_seconds_of([&] {
      for (std::size_t i = 0; i < n; ++i) {
        hamming_affinities(codes[i], codes, 64, 2, row.data());
        benchmark::DoNotOptimize(row.data());
        benchmark::ClobberMemory();
      }
    });
    ours.add(seconds);
    state.SetIterationTime(seconds);
    Affinities made{};
    limit.add(thread_seconds_of([&] { made = popcount_in_registers(4'000'000); }) /
              static_cast<double>(made.count));
    benchmark::DoNotOptimize(made);
    one_by_one.add(thread_seconds_of([&] {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          row[j] = static_cast<float>(64 - 2 * std::popcount(codes[i] ^ codes[j]));
        }
        benchmark::DoNotOptimize(row.data());
        benchmark::ClobberMemory();
      }
    }));
  }
  const double pairs = static_cast<double>(n) * static_cast<double>(n);
  const double rate = pairs / ours.least();
  state.counters["G/s"] = rate / 1e9;
  state.counters["limit_G/s"] = 1e-9 / limit.least();
  state.counters["of_limit"] = rate * limit.least();
  state.counters["times_std_popcount"] = one_by_one.least() / ours.least();
}

BENCHMARK(popcount_affinities)
    ->Arg(197)
    ->Arg(3136)
    ->UseManualTime()
    ->MinTime(1.0)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace attnscope
