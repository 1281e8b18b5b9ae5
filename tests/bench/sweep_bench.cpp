// Sweep of DeiT-Tiny at 224 × 224 pixels, its maps without and with I, compared to a typical Python
// script, in alternating turns on all cores; and one core compared to two.
#include <benchmark/benchmark.h>
#include <filesystem>
#include <tbb/global_control.h>

#include "analysis/sweep/sweep.h"
#include "tests/bench/python_turns.h"
#include "tests/bench/turns.h"

namespace attnscope {
namespace {

constexpr int kImages = 16;

void sweep_beside_python(benchmark::State& state, const std::string& mechanism) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "attnscope-bench-sweep";
  PythonTurns python("torch_sweep.py", {folder, mechanism, std::to_string(kImages)});
  if (python.pass().first < 0) {  // the script writes the files first
    state.SkipWithError("no PyTorch");
    return;
  }
  SweepRequest request;
  request.subjects = {{"deit_tiny", load_model(folder / "deit_tiny.safetensors"), {}, {}, {}}};
  request.subjects.front().mechanism = {mechanism, {}};
  request.data_set_path = folder / "images.npz";
  request.views = {IdentityView::without, IdentityView::with};
  request.out = folder / "sweep.h5";
  request.restart = true;
  const auto sweep = [&] {
    request.data_set = open_data_set(request.data_set_path);
    benchmark::DoNotOptimize(run_sweep(request));
  };
  Times ours, theirs, our_work, their_work, on_one, on_two;
  for (auto _ : state) {
    our_work.add(process_seconds_of([&] {
      const double seconds = seconds_of(sweep);
      ours.add(seconds);
      state.SetIterationTime(seconds);
    }));
    const auto [wall, processor] = python.pass();
    theirs.add(wall);
    their_work.add(processor);
    for (const std::size_t cores : {1, 2}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, cores);
      (cores == 1 ? on_one : on_two).add(seconds_of(sweep));
    }
  }
  state.counters["ours_ms_image"] = 1e3 * ours.least() / kImages;
  state.counters["python_ms_image"] = 1e3 * theirs.least() / kImages;
  state.counters["times_python"] = theirs.least() / ours.least();
  state.counters["times_python_processor"] = their_work.least() / our_work.least();
  state.counters["two_cores"] = on_one.least() / on_two.least();
}

BENCHMARK_CAPTURE(sweep_beside_python, softmax, "softmax")
    ->UseManualTime()
    ->Iterations(4)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sweep_beside_python, adder, "adder")
    ->UseManualTime()
    ->Iterations(4)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace attnscope
