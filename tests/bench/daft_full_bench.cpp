// DAFT-full on one or two cores as a fraction of OpenBLAS's GEMM in the same run, and compared to
// PyTorch's transcription of Algorithm 1, by processor time.
#include <benchmark/benchmark.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include "core/attention/mechanism.h"
#include "core/tensor/blas.h"
#include "tests/bench/python_turns.h"
#include "tests/bench/turns.h"
#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

/// Measures exp(w) times [exp(K) ⊙ V, exp(K)]: 2·T²·2d operations, and 2·T²·n for w = pe0·pe1ᵀ.
void daft_full(benchmark::State& state) {
  const std::int64_t tokens = state.range(0), width = state.range(1), factors = state.range(2);
  const auto cores = static_cast<std::size_t>(state.range(3));
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, cores);
  RandomAttention data(tokens, tokens, 1, width, width, 1);
  for (const char* name : {"pe0", "pe1"}) {
    Tensor factor = random_normal({tokens, factors}, static_cast<unsigned>(name[2]));
    for (float& value : factor.values()) value *= 0.1F;
    data.parameters.emplace(name, std::move(factor));
  }
  const auto mechanism = make_mechanism({"daft-full", {{"factors", factors}}});
  const AttentionInput input = data.input();

  const Tensor a = random_normal({tokens, tokens}, 3), b = random_normal({tokens, 2 * width}, 4);
  Tensor product({tokens, 2 * width});
  const auto strided = [](auto* values, std::int64_t rows, std::int64_t columns) {
    return Eigen::Map<std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(values)>>,
                                         const Matrix, Matrix>,
                      0, Eigen::OuterStride<>>(values, rows, columns,
                                               Eigen::OuterStride<>(columns));
  };
  const auto gemm = [&] {
    const auto parts = static_cast<std::int64_t>(cores);
    tbb::parallel_for(std::int64_t{0}, parts, [&](std::int64_t part) {
      const std::int64_t first = tokens * part / parts, rows = tokens * (part + 1) / parts - first;
      multiply(strided(a.data() + first * tokens, rows, tokens),
               strided(b.data(), tokens, 2 * width), 1.0F,
               strided(product.data() + first * 2 * width, rows, 2 * width));
    });
    benchmark::DoNotOptimize(product.data());
  };
  const auto squared = static_cast<double>(tokens * tokens);
  const double of_gemm = 4 * squared * static_cast<double>(width);
  const double of_daft = of_gemm + 2 * squared * static_cast<double>(factors);

  PythonTurns torch("torch_daft.py", {std::to_string(tokens), std::to_string(width),
                                      std::to_string(factors), std::to_string(cores)});
  const bool has_torch = torch.pass().first > 0;
  // The system counts the time of other threads in whole ticks: on two cores a reading may lack up
  // to one tick, which favours the shorter work. Wall time is therefore measured too.
  Times ours, peak, theirs, our_wall, peak_wall;
  const auto time = [](Times& processor, Times& wall, const auto& work) {
    const double seconds = process_seconds_of([&] { wall.add(seconds_of(work)); });
    processor.add(seconds);
    return seconds;
  };
  for (auto _ : state) {
    state.SetIterationTime(
        time(ours, our_wall, [&] { benchmark::DoNotOptimize(mechanism->forward(input)); }));
    time(peak, peak_wall, gemm);
    if (has_torch) theirs.add(torch.pass().second);
  }
  const double flops = of_daft / ours.least(), most = of_gemm / peak.least();
  state.counters["GFLOP/s"] = 1e-9 * flops;
  state.counters["gemm_GFLOP/s"] = 1e-9 * most;
  state.counters["of_gemm"] = flops / most;
  state.counters["of_gemm_wall"] = of_daft / our_wall.least() / (of_gemm / peak_wall.least());
  state.counters["ours_ms"] = 1e3 * ours.least();
  if (has_torch) {
    state.counters["torch_ms"] = 1e3 * theirs.least();
    state.counters["times_torch"] = theirs.least() / ours.least();
  }
}

BENCHMARK(daft_full)
    ->ArgNames({"T", "d", "n", "cores"})
    ->Args({1024, 512, 128, 1})
    ->Args({1024, 512, 128, 2})
    ->Args({197, 384, 128, 1})
    ->UseManualTime()
    ->Iterations(20)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace attnscope
