// 36 spectra in double on two cores beside NumPy's in float32.
#include <benchmark/benchmark.h>
#include <cstdio>
#include <string>
#include <tbb/global_control.h>
#include <unistd.h>
#include <utility>

#include "analysis/spectrum/spectrum.h"
#include "core/attention/mechanism.h"
#include "tests/bench/python_turns.h"
#include "tests/bench/turns.h"
#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

void spectra_beside_numpy(benchmark::State& state, const MechanismChoice& mechanism,
                          SpectrumAccuracy accuracy) {
  constexpr std::int64_t kLayers = 12, kHeads = 3, kTokens = 197;
  Trace trace;
  const std::string file = "/tmp/attnscope_bench_" + std::to_string(getpid()) + ".f32";
  std::FILE* raw = std::fopen(file.c_str(), "wb");
  for (unsigned layer = 0; layer < kLayers; ++layer) {
    RandomAttention data(kTokens, kTokens, kHeads, 64, 1, 3 * layer);
    const Tensor& map = trace.layers.emplace_back().implied_map =
        make_mechanism(mechanism)->implied_map(data.input());
    std::fwrite(map.data(), sizeof(float), static_cast<std::size_t>(map.size()), raw);
  }
  std::fclose(raw);
  trace.mechanism = mechanism;

  const tbb::global_control two(tbb::global_control::max_allowed_parallelism, 2);
  const SpectrumOptions options{.accuracy = accuracy};
  PythonTurns numpy("numpy_svd.py",
                    {file, std::to_string(kLayers * kHeads), std::to_string(kTokens)});
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
  // On a busy machine the wall says little: both also by what two free cores would need at least.
  state.counters["numpy_processor_ms"] = 1e3 * their_processor.least();
  state.counters["ours_processor_ms"] = 1e3 * our_processor.least();
  state.counters["times_numpy_median"] = theirs.median() / ours.median();
}

BENCHMARK_CAPTURE(spectra_beside_numpy, softmax_cumulative, MechanismChoice{"softmax", {}},
                  SpectrumAccuracy::cumulative)
    ->UseManualTime()
    ->Iterations(25)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(spectra_beside_numpy, adder_cumulative, MechanismChoice{"adder", {}},
                  SpectrumAccuracy::cumulative)
    ->UseManualTime()
    ->Iterations(25)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(spectra_beside_numpy, softmax_every_value, MechanismChoice{"softmax", {}},
                  SpectrumAccuracy::every_value)
    ->UseManualTime()
    ->Iterations(25)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace attnscope
