// Spectra in double on two cores compared to NumPy's in float32: of 36 maps, or of 4 large ones.
#include <benchmark/benchmark.h>
#include <cstdio>
#include <string>
#include <tbb/global_control.h>
#include <unistd.h>
#include <utility>

#include "analysis/spectrum/spectrum.h"
#include "core/attention/mechanism.h"
#include "core/platform/openblas.h"
#include "core/platform/process_memory.h"
#include "core/tensor/blas.h"
#include "tests/bench/python_turns.h"
#include "tests/bench/turns.h"
#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

void spectra_beside_numpy(benchmark::State& state, const MechanismChoice& mechanism,
                          SpectrumAccuracy accuracy) {
  const std::int64_t tokens = state.range(0);
  const std::int64_t layers = tokens > 300 ? 2 : 12, heads = tokens > 300 ? 2 : 3;
  Trace trace;
  const std::string file = "/tmp/attnscope_bench_" + std::to_string(getpid()) + ".f32";
  std::FILE* raw = std::fopen(file.c_str(), "wb");
  for (unsigned layer = 0; layer < layers; ++layer) {
    const RandomAttention data(tokens, tokens, heads, 64, 1, 3 * layer);
    ImpliedMaps& maps = trace.layers.emplace_back().implied_map;
    maps = make_mechanism(mechanism)->implied_map(data.input());
    std::fwrite(maps.data(), sizeof(float), maps.entries().size(), raw);
  }
  std::fclose(raw);
  trace.mechanism = mechanism;

  const tbb::global_control two(tbb::global_control::max_allowed_parallelism, 2);
  const SpectrumOptions options{.accuracy = accuracy};
  PythonTurns numpy("numpy_svd.py", {file, std::to_string(layers * heads), std::to_string(tokens)});
  if (numpy.pass().first < 0) {
    std::remove(file.c_str());
    state.SkipWithError("needs /usr/bin/python3 with NumPy");
    return;
  }
  Times ours, theirs, our_processor, their_processor;
  for (auto _ : state) {
    double seconds = 0;
    our_processor.add(process_seconds_of([&] {
      seconds = seconds_of(
          [&] { benchmark::DoNotOptimize(spectra_of(trace, IdentityView::as_is, options)); });
    }));
    state.SetIterationTime(seconds);
    ours.add(seconds);
    const auto [wall, processor] = numpy.pass();
    theirs.add(wall);
    their_processor.add(processor);
  }
  std::remove(file.c_str());
  state.counters["numpy_ms"] = 1e3 * theirs.least();
  state.counters["ours_ms"] = 1e3 * ours.least();
  state.counters["times_numpy"] = theirs.least() / ours.least();
  // Wall time is unreliable on a busy machine: processor time is the least that two free cores
  // need.
  state.counters["times_numpy_processor"] = their_processor.least() / our_processor.least();
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  for (const int tokens : {197, 50, 577, 785, 1024}) benchmark->Arg(tokens);
  benchmark->ArgName("N")->UseManualTime()->Iterations(10)->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(spectra_beside_numpy, softmax_cumulative, MechanismChoice{"softmax", {}},
                  SpectrumAccuracy::cumulative)
    ->Apply(sizes);
BENCHMARK_CAPTURE(spectra_beside_numpy, adder_cumulative, MechanismChoice{"adder", {}},
                  SpectrumAccuracy::cumulative)
    ->ArgName("N")
    ->Arg(197)
    ->UseManualTime()
    ->Iterations(10)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(spectra_beside_numpy, softmax_every_value, MechanismChoice{"softmax", {}},
                  SpectrumAccuracy::every_value)
    ->Apply(sizes);

/// Begins like the program (app/cli/main.cpp) and adds the BLAS kernels to the benchmark's context.
bool begin() {
  release_large_blocks_when_freed();
  use_one_blas_thread();
  benchmark::AddCustomContext("blas_kernels", blas_kernels());
  return true;
}
const bool begun = begin();

}  // namespace
}  // namespace attnscope
