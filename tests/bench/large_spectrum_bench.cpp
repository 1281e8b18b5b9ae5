// Spectra of many tokens, from factors and estimated, compared to the dense spectrum in the same
// run. Limits: from factors at least 20 times as fast as dense at N = 1000, b = 17; estimated at
// least twice as fast at N = 3136 (more for more tokens: N² compared to N³). Few singular vectors
// by Spectra compared to all of LAPACK's and to the block Krylov method for operators.
#include <benchmark/benchmark.h>
#include <cmath>
#include <utility>

#include "analysis/spectrum/estimated_spectrum.h"
#include "analysis/spectrum/leading_values.h"
#include "analysis/spectrum/leading_vectors.h"
#include "analysis/spectrum/spectrum.h"
#include "core/attention/mechanism.h"
#include "core/tensor/decompose.h"
#include "tests/bench/turns.h"
#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

void factored_beside_dense(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const RandomAttention data(n, n, 1, 32, 1, 5);
  const auto mechanism = make_mechanism({"hash", {}});
  const Tensor map = mechanism->implied_map(data.input());
  const MapFactors factors = *mechanism->factors(data.input());
  Times ours, theirs;
  std::int64_t rank = 0, dense_rank = 0;
  for (auto _ : state) {
    const double seconds = seconds_of([&] {
      rank =
          spectrum_of_factors(factors.left.slice(0), factors.right.slice(0), false).equivalent_rank;
    });
    state.SetIterationTime(seconds);
    ours.add(seconds);
    theirs.add(seconds_of([&] { dense_rank = spectrum_of(map.slice(0)).equivalent_rank; }));
  }
  if (rank != dense_rank) state.SkipWithError("the ranks differ");
  state.counters["factored_ms"] = 1e3 * ours.least();
  state.counters["dense_ms"] = 1e3 * theirs.least();
  state.counters["times_dense"] = theirs.least() / ours.least();
}

void estimated_beside_lapack(benchmark::State& state, const MechanismChoice& mechanism,
                             double shift = 0) {
  const std::int64_t n = state.range(0);
  const RandomAttention data(n, n, 1, 64, 1, 6);
  const Tensor map = make_mechanism(mechanism)->implied_map(data.input());
  Times ours, theirs;
  MapSpectrum estimated, exact;
  for (auto _ : state) {
    const double seconds = seconds_of([&] { estimated = estimated_spectrum(map.slice(0), shift); });
    state.SetIterationTime(seconds);
    ours.add(seconds);
    Tensor shifted = map;
    shifted.slice(0).diagonal().array() += static_cast<float>(shift);
    theirs.add(seconds_of([&] { exact = spectrum_of(std::as_const(shifted).slice(0)); }));
  }
  const RankInterval interval = rank_interval(estimated, 0.9);
  state.counters["estimated_ms"] = 1e3 * ours.least();
  state.counters["lapack_ms"] = 1e3 * theirs.least();
  state.counters["times_lapack"] = theirs.least() / ours.least();
  state.counters["rank"] = static_cast<double>(exact.equivalent_rank);
  state.counters["rank_low"] = static_cast<double>(interval.low);
  state.counters["rank_high"] = static_cast<double>(interval.high);
  state.counters["norm_error_percent"] = 100 * (nuclear_norm(estimated) / nuclear_norm(exact) - 1);
}

void few_vectors_beside_all(benchmark::State& state) {
  const std::int64_t n = state.range(0), count = state.range(1);
  const RandomAttention data(n, n, 1, 64, 1, 7);
  const MatrixD map =
      make_mechanism({"softmax", {}})->implied_map(data.input()).slice(0).cast<double>();
  const MapOperator krylov_map(ConstMatrixDMap(map.data(), n, n), 0);
  Times ours, krylov, lapack;
  Eigen::MatrixXd vectors;
  LeadingValues leading;
  for (auto _ : state) {
    const double seconds = seconds_of([&] { vectors = leading_vectors(map, count); });
    state.SetIterationTime(seconds);
    ours.add(seconds);
    krylov.add(seconds_of([&] { leading = leading_values(krylov_map, count); }));
    lapack.add(seconds_of([&] {
      benchmark::DoNotOptimize(symmetric_eigenpairs(Eigen::MatrixXd(map.transpose() * map)));
    }));
  }
  const double value = (map * vectors.rightCols(1)).norm();
  if (!(std::abs(value - leading.values.back()) <= 1e-9 * value)) {
    state.SkipWithError("the values differ");
  }
  state.counters["spectra_ms"] = 1e3 * ours.least();
  state.counters["times_krylov"] = krylov.least() / ours.least();
  state.counters["times_lapack"] = lapack.least() / ours.least();
}

void few(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseManualTime()->Iterations(2)->Unit(benchmark::kMillisecond);
}
BENCHMARK(factored_beside_dense)->Arg(197)->Arg(1000)->Apply(few)->Iterations(5);
BENCHMARK(few_vectors_beside_all)
    ->ArgNames({"N", "vectors"})
    ->ArgsProduct({{197, 1024, 2048}, {1, 4, 16}})
    ->Apply(few);
// The automatic method changes from dense to estimated at N = 4096.
BENCHMARK_CAPTURE(estimated_beside_lapack, softmax, MechanismChoice{"softmax", {}})
    ->Arg(1000)
    ->Arg(3136)
    ->Arg(4096)
    ->Arg(8192)
    ->Apply(few);
BENCHMARK_CAPTURE(estimated_beside_lapack, adder, MechanismChoice{"adder", {}})
    ->Arg(3136)
    ->Arg(4096)
    ->Apply(few);
BENCHMARK_CAPTURE(estimated_beside_lapack, softmax_with_identity, MechanismChoice{"softmax", {}},
                  1.0)
    ->Arg(4096)
    ->Arg(8192)
    ->Apply(few);
BENCHMARK_CAPTURE(estimated_beside_lapack, adder_with_identity, MechanismChoice{"adder", {}}, 1.0)
    ->Arg(4096)
    ->Apply(few);

}  // namespace
}  // namespace attnscope
