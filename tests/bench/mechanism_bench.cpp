// DAFT-conv, causal additive attention, softmax with its map, SOFT and recurrent mechanisms, each
// compared to a common PyTorch implementation, and other functions of the scores compared to
// softmax, in alternating turns on all cores.
#include <benchmark/benchmark.h>
#include <string>
#include <utility>

#include "core/attention/mechanism.h"
#include "tests/bench/python_turns.h"
#include "tests/bench/turns.h"
#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

void beside_torch(benchmark::State& state, const std::string& kind, const auto& forward) {
  PythonTurns torch("torch_mechanisms.py", {kind});
  if (torch.pass().first < 0) {
    state.SkipWithError("no PyTorch");
    return;
  }
  Times ours, theirs, our_work, their_work;
  for (auto _ : state) {
    forward();
    our_work.add(process_seconds_of([&] {
      const double seconds = seconds_of(forward);
      ours.add(seconds);
      state.SetIterationTime(seconds);
    }));
    const auto [wall, processor] = torch.pass();
    theirs.add(wall);
    their_work.add(processor);
  }
  state.counters["ours_ms"] = 1e3 * ours.least();
  state.counters["torch_ms"] = 1e3 * theirs.least();
  state.counters["times_torch"] = theirs.least() / ours.least();
  state.counters["times_torch_processor"] = their_work.least() / our_work.least();
}

void daft_conv(benchmark::State& state) {
  constexpr std::int64_t kTokens = 1024, kWidth = 512, kHeads = 16, kWindow = 63;
  RandomAttention data(kTokens, kTokens, 1, kWidth, kWidth, 1);
  data.parameters.emplace("r", random_normal({kHeads, kWindow}, 2));
  data.parameters.emplace("gamma", random_normal({kHeads}, 3));
  data.parameters.emplace("beta", random_normal({kHeads}, 4));
  const auto mechanism = make_mechanism({"daft-conv",
                                         {{"kernel", kWindow},
                                          {"conv_heads", kHeads},
                                          {"dimensions", std::int64_t{1}},
                                          {"full_keys", true}}});
  const AttentionInput input = data.input();
  beside_torch(state, "daft-conv", [&] { benchmark::DoNotOptimize(mechanism->forward(input)); });
}
BENCHMARK(daft_conv)->UseManualTime()->Iterations(30)->Unit(benchmark::kMillisecond);

void causal_additive(benchmark::State& state) {
  constexpr std::int64_t kTokens = 2048, kHeads = 4, kWidth = 32;
  RandomAttention data(kTokens, kTokens, kHeads, kWidth, kWidth, 1);
  data.parameters.emplace("importance", random_normal({kHeads, kWidth}, 2));
  const auto mechanism = make_mechanism({"additive", {{"causal", true}}});
  const AttentionInput input = data.input();
  beside_torch(state, "additive", [&] { benchmark::DoNotOptimize(mechanism->forward(input)); });
}
BENCHMARK(causal_additive)->UseManualTime()->Iterations(100)->Unit(benchmark::kMillisecond);

void softmax_with_map(benchmark::State& state) {
  const RandomAttention data(197, 197, 12, 64, 64, 1);
  const auto mechanism = make_mechanism({"softmax", {}});
  const AttentionInput input = data.input();
  beside_torch(state, "softmax",
               [&] { benchmark::DoNotOptimize(mechanism->forward_with_map(input)); });
}
BENCHMARK(softmax_with_map)->UseManualTime()->Iterations(100)->Unit(benchmark::kMillisecond);

void soft_output(benchmark::State& state) {
  const RandomAttention data(1024, 1024, 4, 64, 64, 1);
  const auto mechanism = make_mechanism({"soft", {}});
  const AttentionInput input = data.input();
  beside_torch(state, "soft", [&] { benchmark::DoNotOptimize(mechanism->forward(input)); });
}
BENCHMARK(soft_output)->UseManualTime()->Iterations(30)->Unit(benchmark::kMillisecond);

/// Outputs of a causal layer whose tokens have decays of their own, in every channel for `gla` and
/// `kda`.
void recurrent_output(benchmark::State& state, const char* name) {
  constexpr std::int64_t kTokens = 2048, kHeads = 4, kWidth = 64;
  RandomAttention data(kTokens, kTokens, kHeads, kWidth, kWidth, 1);
  const std::string kind = name;
  const bool by_channel = kind == "gla" || kind == "kda";
  Tensor decays = by_channel ? random_normal({kHeads, kTokens, kWidth}, 2)
                             : random_normal({kHeads, kTokens}, 2);
  for (float& value : decays.values()) value = -0.1F * value * value;
  data.parameters.emplace("log_decay", std::move(decays));
  const auto mechanism = make_mechanism({kind, {}});
  AttentionInput input = data.input();
  input.causal = true;
  beside_torch(state, kind, [&] { benchmark::DoNotOptimize(mechanism->forward(input)); });
}
void over_outputs(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseManualTime()->Iterations(20)->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(recurrent_output, retention, "retention")->Apply(over_outputs);
BENCHMARK_CAPTURE(recurrent_output, mamba2, "mamba2")->Apply(over_outputs);
BENCHMARK_CAPTURE(recurrent_output, forgetting, "forgetting")->Apply(over_outputs);
BENCHMARK_CAPTURE(recurrent_output, gated_delta, "gated-delta")->Apply(over_outputs);
BENCHMARK_CAPTURE(recurrent_output, gla, "gla")->Apply(over_outputs);
BENCHMARK_CAPTURE(recurrent_output, kda, "kda")->Apply(over_outputs);

void beside_softmax(benchmark::State& state, const char* name) {
  const RandomAttention data(197, 197, 12, 64, 64, 1);
  const auto mechanism = make_mechanism({name, {}}), softmax = make_mechanism({"softmax", {}});
  Times ours, plain;
  for (auto _ : state) {
    const double seconds = process_seconds_of(
        [&] { benchmark::DoNotOptimize(mechanism->forward_with_map(data.input())); });
    ours.add(seconds);
    state.SetIterationTime(seconds);
    plain.add(process_seconds_of(
        [&] { benchmark::DoNotOptimize(softmax->forward_with_map(data.input())); }));
  }
  state.counters["ours_ms"] = 1e3 * ours.least();
  state.counters["times_softmax"] = plain.least() / ours.least();
}
void over_runs(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseManualTime()->Iterations(100)->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(beside_softmax, sigmoid, "sigmoid")->Apply(over_runs);
BENCHMARK_CAPTURE(beside_softmax, relu, "relu")->Apply(over_runs);
BENCHMARK_CAPTURE(beside_softmax, ssmax, "ssmax")->Apply(over_runs);
BENCHMARK_CAPTURE(beside_softmax, sparsemax, "sparsemax")->Apply(over_runs);
BENCHMARK_CAPTURE(beside_softmax, entmax, "entmax")->Apply(over_runs);

}  // namespace
}  // namespace attnscope
