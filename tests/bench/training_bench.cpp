// Training step compared to PyTorch's for the same network and batch, in alternating turns on all
// cores: images per second, and the memory of a step.
#include <benchmark/benchmark.h>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/platform/process_memory.h"
#include "core/training/batch_gradient.h"
#include "core/training/learned_parameters/random_numbers.h"
#include "core/training/optimiser.h"
#include "tests/bench/python_turns.h"
#include "tests/bench/turns.h"

namespace attnscope {
namespace {

struct StepCase {
  const char* kind;     ///< name in torch_training.py
  std::int64_t extent;  ///< side of a patch, or length of the context
  std::int64_t batch;
};

constexpr StepCase kSteps[] = {{"softmax", 4, 64}, {"softmax", 2, 32},   {"adder", 4, 64},
                               {"adder", 2, 32},   {"language", 256, 8}, {"softmax", 1, 4},
                               {"adder", 1, 4}};

/// Same network as in torch_training.py.
ModelSpec spec_of(const StepCase& one) {
  ModelSpec spec;
  if (std::string(one.kind) == "language") {
    spec.width = 128;
    spec.layers = 4;
    spec.layer.attention.heads = 4;
    spec.layer.mlp.width = 512;
    spec.layer.mlp.activation = Activation::gelu_tanh;
    spec.layer.norm.eps = 1e-5;
    spec.layer.scores.causal = true;
    spec.input.kind = InputKind::tokens;
    spec.input.vocabulary = 65;
    spec.input.context = one.extent;
    spec.input.class_tokens = 0;
    spec.input.patch_height = spec.input.patch_width = 0;
    spec.readout.kind = Readout::next_token;
    return spec;
  }
  spec.width = 48;
  spec.layers = 6;
  spec.layer.attention.heads = 3;
  spec.layer.mlp.width = 192;
  spec.input.channels = 1;
  spec.input.image_height = spec.input.image_width = 28;
  spec.input.patch_height = spec.input.patch_width = one.extent;
  spec.input.mean = spec.input.std = {0.5};
  spec.mechanism.name = one.kind;
  for (int i = 0; i < 10; ++i) spec.labels.push_back(std::to_string(i));
  return spec;
}

/// Random examples with the indices [first, first + count).
Examples examples_of(const ModelSpec& spec, std::int64_t first, std::int64_t count) {
  Examples made;
  for (std::int64_t i = first; i < first + count; ++i) {
    const RandomNumbers numbers(static_cast<std::uint64_t>(i));
    if (!spec.reads_texts()) {
      std::vector<float> pixels(28 * 28);
      for (std::size_t j = 0; j < pixels.size(); ++j) {
        pixels[j] = static_cast<float>(numbers.uniform(j));
      }
      made.images.emplace_back(Shape{1, 28, 28}, std::move(pixels));
      made.targets.push_back(i % 10);
      continue;
    }
    std::vector<std::int64_t> ids;
    for (std::int64_t j = 0; j < spec.input.context; ++j) {
      ids.push_back(numbers.below(spec.input.vocabulary, static_cast<std::uint64_t>(j)));
      made.targets.push_back(ids.back());
    }
    made.texts.push_back(std::move(ids));
  }
  return made;
}

/// Argument: index into kSteps.
void training_step(benchmark::State& state) {
  const StepCase& one = kSteps[state.range(0)];
  PythonTurns torch("torch_training.py",
                    {one.kind, std::to_string(one.extent), std::to_string(one.batch)});
  if (torch.pass().first < 0) {
    state.SkipWithError("no PyTorch");
    return;
  }
  const ModelSpec spec = spec_of(one);
  Times ours, theirs, our_work, their_work;
  std::optional<std::int64_t> peak;
  {
    const TrainedNetwork network(spec);
    auto values = network.parameters().initial_values(1);
    std::vector<float> gradients;
    Optimiser optimiser(network.parameters(), {});
    BatchGradient pass(network);
    const auto step = [&] {
      const LossSum sum = pass.gradient(
          values, one.batch,
          [&](std::int64_t first, std::int64_t count) { return examples_of(spec, first, count); },
          gradients);
      benchmark::DoNotOptimize(sum.loss);
      optimiser.step(values, gradients, 1e-3);
    };
    peak = peak_memory_of(step);
    for (auto _ : state) {
      our_work.add(process_seconds_of([&] {
        const double seconds = seconds_of(step);
        ours.add(seconds);
        state.SetIterationTime(seconds);
      }));
      const auto [wall, processor] = torch.pass();
      theirs.add(wall);
      their_work.add(processor);
    }
  }
  const std::int64_t tokens = spec.reads_texts() ? spec.input.context : spec.tokens();
  state.SetLabel(std::string(one.kind) + ", N = " + std::to_string(tokens));
  const auto examples = static_cast<double>(one.batch);
  state.counters["ours_per_s"] = examples / ours.median();
  state.counters["torch_per_s"] = examples / theirs.median();
  state.counters["times_torch"] = theirs.median() / ours.median();
  state.counters["times_torch_processor"] = their_work.median() / our_work.median();
  if (!peak) return;
  state.counters["peak_MB"] = 1e-6 * static_cast<double>(*peak);
  state.counters["torch_peak_MB"] = 1e-6 * torch.peak();
  state.counters["of_torch_peak"] = static_cast<double>(*peak) / torch.peak();
}

BENCHMARK(training_step)
    ->DenseRange(0, 6)
    ->UseManualTime()
    ->Iterations(9)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace attnscope
