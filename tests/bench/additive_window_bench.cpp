// Windowed additive attention with windows of 4 to 2048 tokens, compared to no window: the time per
// token does not grow with the window.
#include <benchmark/benchmark.h>

#include "core/attention/mechanism.h"
#include "tests/bench/turns.h"
#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

void windowed_additive(benchmark::State& state) {
  const std::int64_t window = state.range(0), n = 8192, heads = 4, d = 32;
  RandomAttention data(n, n, heads, d, d, 1);
  data.parameters.emplace("importance", random_normal({heads, d}, 2));
  const AttentionInput input = data.input();
  const auto additive = [](std::int64_t k) {
    return make_mechanism({"additive", {{"causal", true}, {"window", k}}});
  };
  const auto windowed = additive(window), whole = additive(0), narrow = additive(4);
  Times ours, global, least;
  for (auto _ : state) {
    const double seconds =
        process_seconds_of([&] { benchmark::DoNotOptimize(windowed->forward(input)); });
    ours.add(seconds);
    state.SetIterationTime(seconds);
    global.add(process_seconds_of([&] { benchmark::DoNotOptimize(whole->forward(input)); }));
    least.add(process_seconds_of([&] { benchmark::DoNotOptimize(narrow->forward(input)); }));
  }
  state.counters["ns/token"] = 1e9 * ours.least() / static_cast<double>(n);
  state.counters["of_window_4"] = ours.least() / least.least();
  state.counters["of_global"] = ours.least() / global.least();
}

BENCHMARK(windowed_additive)
    ->ArgName("k")
    ->RangeMultiplier(4)
    ->Range(4, 2048)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace attnscope
