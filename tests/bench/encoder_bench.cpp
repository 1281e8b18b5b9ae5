// BERT-base on 512 tokens and a ViT-L/14 with registers on 224 × 224 pixels, with all maps,
// compared to PyTorch's forward pass of the same weights without maps, in alternating turns on all
// cores.
#include <benchmark/benchmark.h>
#include <filesystem>

#include "core/model/model.h"
#include "core/platform/process_memory.h"
#include "tests/bench/python_turns.h"
#include "tests/bench/turns.h"

namespace attnscope {
namespace {

constexpr const char* kKinds[] = {"bert", "vit"};

Input input_of(const std::string& kind) {
  Input input;
  if (kind == "bert") {
    Text text;
    for (std::int64_t i = 0; i < 512; ++i) text.ids.push_back(i * 97 % 30522);
    input.content = text;
  } else {
    input.content = Tensor({3, 224, 224});
  }
  return input;
}

/// Argument: index into kKinds. The files stay in the folder for temporary files and need 1.7 GB.
void encoder(benchmark::State& state) {
  const std::string kind = kKinds[state.range(0)];
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "attnscope-bench-encoders";
  PythonTurns torch("torch_encoders.py", {folder, kind});
  if (torch.pass().first < 0) {  // the script writes the files first
    state.SkipWithError("no PyTorch");
    return;
  }
  const Input input = input_of(kind);
  std::shared_ptr<const Model> model;
  const auto run = [&] {
    benchmark::DoNotOptimize(model->run(input, model->spec().mechanism, {}, {}));
  };
  const auto peak = peak_memory_of([&] {
    model = load_model(folder / kind);
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
  state.SetLabel(kind);
  state.counters["ours_s"] = ours.median();
  state.counters["torch_s"] = theirs.median();
  state.counters["times_torch"] = theirs.median() / ours.median();
  state.counters["times_torch_processor"] = their_work.median() / our_work.median();
  if (!peak) return;
  // Our peak includes the maps and the pages of the mapped file.
  state.counters["peak_GB"] = 1e-9 * static_cast<double>(*peak);
  state.counters["torch_peak_GB"] = 1e-9 * torch.peak();
  state.counters["of_torch_peak"] = static_cast<double>(*peak) / torch.peak();
}

BENCHMARK(encoder)->Arg(0)->Arg(1)->UseManualTime()->Iterations(5)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace attnscope
