// Models compared to PyTorch's forward pass of the same weights without maps, in alternating turns
// on all cores: BERT-base on 512 tokens, a ViT-L/14 with registers on 224 × 224 pixels, and a
// language model with 1.1 billion parameters on 256 tokens. Ours are run with all maps.
#include <benchmark/benchmark.h>
#include <filesystem>

#include "core/model/model.h"
#include "core/platform/process_memory.h"
#include "tests/bench/python_turns.h"
#include "tests/bench/turns.h"

namespace attnscope {
namespace {

Input text_input(std::int64_t tokens, std::int64_t vocabulary) {
  Text text;
  for (std::int64_t i = 0; i < tokens; ++i) text.ids.push_back(i * 97 % vocabulary);
  Input input;
  input.content = text;
  return input;
}

/// Measures the model in `file`, which `torch` writes in its first turn, on `input`. Our peak
/// includes the maps and the pages of the mapped file.
void compare_with_torch(benchmark::State& state, PythonTurns& torch,
                        const std::filesystem::path& file, const Input& input) {
  if (torch.pass().first < 0) {
    state.SkipWithError("no PyTorch");
    return;
  }
  std::shared_ptr<const Model> model;
  const auto run = [&] {
    benchmark::DoNotOptimize(model->run(input, model->spec().mechanism, {}, {}));
  };
  const auto peak = peak_memory_of([&] {
    model = load_model(file);
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
  if (peak) state.counters["peak_GB"] = 1e-9 * static_cast<double>(*peak);
  if (!peak || torch.peak() <= 0) return;
  state.counters["torch_peak_GB"] = 1e-9 * torch.peak();
  state.counters["of_torch_peak"] = static_cast<double>(*peak) / torch.peak();
}

/// Argument: index into kKinds. The files stay in the folder for temporary files and need 1.7 GB.
void encoder(benchmark::State& state) {
  constexpr const char* kKinds[] = {"bert", "vit"};
  const std::string kind = kKinds[state.range(0)];
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "attnscope-bench-encoders";
  Input image;
  image.content = Tensor({3, 224, 224});
  PythonTurns torch("torch_encoders.py", {folder, kind});
  compare_with_torch(state, torch, folder / kind, kind == "bert" ? text_input(512, 30522) : image);
  state.SetLabel(kind);
}

BENCHMARK(encoder)->Arg(0)->Arg(1)->UseManualTime()->Iterations(5)->Unit(benchmark::kSecond);

/// Argument: index into kFiles. The files stay in the folder for temporary files and need 3 GB.
/// PyTorch's peak is printed when it ends.
void llama(benchmark::State& state) {
  constexpr const char* kFiles[] = {"bf16", "q4_k.gguf"};
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "attnscope-bench-llama";
  PythonTurns torch("torch_llama.py", {folder});
  compare_with_torch(state, torch, folder / kFiles[state.range(0)], text_input(256, 32000));
}

BENCHMARK(llama)->Arg(0)->Arg(1)->UseManualTime()->Iterations(3)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace attnscope
