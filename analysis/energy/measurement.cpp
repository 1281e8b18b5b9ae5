#include "analysis/energy/measurement.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <tbb/task_arena.h>

#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/platform/process.h"
#include "core/platform/process_memory.h"

namespace attnscope {

namespace {

using Clock = std::chrono::steady_clock;

// Enough runs for the minimum to be undisturbed, few enough to measure all mechanisms in seconds.
constexpr int kLeastRepeats = 3, kMostRepeats = 15;
constexpr double kEnoughSeconds = 0.2;

void check_measurement(const MeasurementOptions& options) {
  constexpr std::int64_t kMostTokens = 65'536, kWidest = 8'192;
  if (options.width < 1 || options.width > kWidest || options.heads < 1 ||
      options.width % options.heads != 0) {
    throw Error(ErrorKind::usage, "the heads do not divide the width")
        .about("heads")
        .expected("a divisor of the width, which is 1 to 8192")
        .found(std::to_string(options.heads) + " of " + std::to_string(options.width));
  }
  for (const std::int64_t tokens : options.tokens) {
    if (tokens >= 1 && tokens <= kMostTokens) continue;
    throw Error(ErrorKind::usage, "kernels are not measured at this many tokens")
        .about("tokens")
        .expected("1 to 65536")
        .found(std::to_string(tokens));
  }
}

Matrix normal_rows(std::int64_t rows, std::int64_t columns, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Matrix matrix(rows, columns);
  for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = normal(random);
  return matrix;
}

/// The grid of N cells that is closest to a square.
TokenLayout grid_of(std::int64_t tokens) {
  auto rows = static_cast<std::int64_t>(std::sqrt(static_cast<double>(tokens)));
  while (tokens % rows != 0) --rows;
  TokenLayout layout;
  layout.rows = rows;
  layout.columns = tokens / rows;
  return layout;
}

class Inputs {
 public:
  Inputs(std::int64_t tokens, const MeasurementOptions& options)
      : queries_(normal_rows(tokens, options.width, 1)),
        keys_(normal_rows(tokens, options.width, 2)),
        values_(normal_rows(tokens, options.width, 3)),
        layout_(grid_of(tokens)),
        heads_(options.heads) {}

  [[nodiscard]] AttentionInput input() const {
    const auto map = [](const Matrix& m) { return ConstMatrixMap(m.data(), m.rows(), m.cols()); };
    return {.queries = map(queries_),
            .keys = map(keys_),
            .values = map(values_),
            .heads = heads_,
            .layout = &layout_};
  }

 private:
  Matrix queries_, keys_, values_;
  TokenLayout layout_;
  std::int64_t heads_;
};

double seconds_of(const Mechanism& mechanism, const AttentionInput& input) {
  const Clock::time_point start = Clock::now();
  const Tensor output = mechanism.forward(input);
  return std::chrono::duration<double>(Clock::now() - start).count();
}

KernelRun measure(const Mechanism& mechanism, const AttentionInput& input,
                  const Progress& progress) {
  KernelRun run;
  run.tokens = input.queries.rows();
  // Runs twice: thread stacks and tables that are made once must not count as the kernel's memory.
  (void)seconds_of(mechanism, input);
  run.peak_bytes = peak_memory_of([&] { (void)seconds_of(mechanism, input); });
  run.seconds = std::numeric_limits<double>::infinity();
  double sum = 0;
  while (run.repeats < kLeastRepeats || (sum < kEnoughSeconds && run.repeats < kMostRepeats)) {
    if (progress.cancelled()) throw Cancelled{};
    const double seconds = seconds_of(mechanism, input);
    run.seconds = std::min(run.seconds, seconds);
    sum += seconds;
    ++run.repeats;
  }
  return run;
}

}  // namespace

Measurement measure_kernels(const MeasurementOptions& options, const Progress& progress) {
  check_measurement(options);
  Measurement measurement;
  measurement.options = options;
  measurement.threads = tbb::this_task_arena::max_concurrency();
  measurement.processor = processor_name();
  std::vector<std::unique_ptr<const Mechanism>> mechanisms;
  for (const MechanismChoice& choice : options.mechanisms) {
    measurement.kernels.push_back({.mechanism = choice, .runs = {}, .problem = {}});
    mechanisms.push_back(make_mechanism(choice));
  }
  // Time grows at most quadratically with N; the progress bar assumes a quadratic share.
  double all = 0, done = 0;
  for (const std::int64_t tokens : options.tokens) {
    all += static_cast<double>(tokens) * static_cast<double>(tokens) *
           static_cast<double>(mechanisms.size());
  }
  for (const std::int64_t tokens : options.tokens) {
    const Inputs inputs(tokens, options);
    for (std::size_t i = 0; i < mechanisms.size(); ++i) {
      MeasuredKernel& kernel = measurement.kernels[i];
      progress.step(done / all, kernel.mechanism.name + ", N = " + std::to_string(tokens));
      done += static_cast<double>(tokens) * static_cast<double>(tokens);
      if (!kernel.problem.empty()) continue;
      try {
        kernel.runs.push_back(measure(*mechanisms[i], inputs.input(), progress));
      } catch (const Error& error) {
        kernel.problem = error.what();
      }
    }
  }
  return measurement;
}

std::optional<MeasuredExponent> measured_exponent(const MeasuredKernel& kernel) {
  constexpr std::size_t kLeastRuns = 3;
  const auto count = static_cast<double>(kernel.runs.size());
  if (kernel.runs.size() < kLeastRuns) return std::nullopt;
  double mean_x = 0, mean_y = 0;
  for (const KernelRun& run : kernel.runs) {
    if (!(run.seconds > 0)) return std::nullopt;
    mean_x += std::log(static_cast<double>(run.tokens)) / count;
    mean_y += std::log(run.seconds) / count;
  }
  double xx = 0, xy = 0, yy = 0;
  for (const KernelRun& run : kernel.runs) {
    const double x = std::log(static_cast<double>(run.tokens)) - mean_x;
    const double y = std::log(run.seconds) - mean_y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  if (!(xx > 0)) return std::nullopt;
  const double slope = xy / xx;
  const double residual = std::max(0.0, yy - slope * xy);
  return MeasuredExponent{slope, std::sqrt(residual / (count - 2) / xx)};
}

}  // namespace attnscope
