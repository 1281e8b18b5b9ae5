// Language model with 1.1 billion parameters on 256 tokens, with all maps, compared to PyTorch's
// forward pass of the same weights without maps, in alternating turns on all cores.
#include <benchmark/benchmark.h>
#include <filesystem>

#include "core/model/model.h"
#include "core/platform/process_memory.h"
#include "tests/bench/python_turns.h"
#include "tests/bench/turns.h"

namespace attnscope {
namespace {

constexpr const char* kFiles[] = {"bf16", "q4_k.gguf"};

/// Argument: index into kFiles. The files stay in the folder for temporary files and need 3 GB.
void llama(benchmark::State& state) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "attnscope-bench-llama";
  PythonTurns torch("torch_llama.py", {folder});
  if (torch.pass().first < 0) {  // the script writes the files first
    state.SkipWithError("no PyTorch");
    return;
  }
  Text text;
  for (std::int64_t i = 0; i < 256; ++i) text.ids.push_back(i * 97 % 32000);
  Input input;
  input.content = text;

  std::shared_ptr<const Model> model;
  const auto run = [&] {
    benchmark::DoNotOptimize(model->run(input, model->spec().mechanism, {}, {}));
  };
  const auto peak = peak_memory_of([&] {
    model = load_model(folder / kFiles[state.range(0)]);
    run();
  });
  Times ours, theirs, our_work, their_work;
  for (auto _ : state) {
    our_work.add(process_seconds_of([&] {
      const double seconds = seconds_of(run);
      ours.add(seconds);
      state.SetIterationTime(seconds);
    }));
    const auto [wall, processor] = torch.pass();
    theirs.add(wall);
    their_work.add(processor);
  }
  state.counters["ours_s"] = ours.median();
  state.counters["torch_s"] = theirs.median();
  state.counters["times_torch"] = theirs.median() / ours.median();
  state.counters["times_torch_processor"] = their_work.median() / our_work.median();
  // Peak of this process with the pages of the mapped file; PyTorch's is printed when it ends.
  if (peak) state.counters["peak_GB"] = 1e-9 * static_cast<double>(*peak);
}

BENCHMARK(llama)->Arg(0)->Arg(1)->UseManualTime()->Iterations(3)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace attnscope
