#include "analysis/energy/measurement.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "analysis/figure/recipe.h"
#include "core/attention/mechanism.h"
#include "core/error.h"

namespace attnscope {
namespace {

MeasurementOptions small() {
  MeasurementOptions options;
  for (const MechanismEntry& entry : mechanisms()) {
    options.mechanisms.push_back({std::string(entry.name), {}});
  }
  options.tokens = {16, 32};
  options.width = 16;
  options.heads = 2;
  return options;
}

TEST(Measurement, RunsEveryMechanismOrReportsWhyNot) {
  const MeasurementOptions options = small();
  const Measurement measured = measure_kernels(options);
  ASSERT_EQ(measured.kernels.size(), options.mechanisms.size());
  EXPECT_GE(measured.threads, 1);
  for (const MeasuredKernel& kernel : measured.kernels) {
    if (!kernel.problem.empty()) continue;
    ASSERT_EQ(kernel.runs.size(), 2U) << kernel.mechanism.name;
    for (const KernelRun& run : kernel.runs) {
      EXPECT_GT(run.seconds, 0) << kernel.mechanism.name;
      EXPECT_GE(run.repeats, 3);
    }
  }
  EXPECT_TRUE(measured.kernels.front().problem.empty());
}

/// A kernel whose time at each N is the square of N, in nanoseconds, times `factors`.
MeasuredKernel quadratic_kernel(const std::vector<double>& factors) {
  MeasuredKernel kernel;
  std::int64_t n = 100;
  for (const double factor : factors) {
    KernelRun& run = kernel.runs.emplace_back();
    run.tokens = n;
    run.seconds = 1e-9 * factor * static_cast<double>(n * n);
    n *= 2;
  }
  return kernel;
}

TEST(Measurement, ExponentIsTheFittedSlopeWithItsError) {
  const MeasuredExponent exact = measured_exponent(quadratic_kernel({1, 1, 1, 1})).value();
  EXPECT_NEAR(exact.value, 2, 1e-9);
  EXPECT_NEAR(exact.standard_error, 0, 1e-6);
  // Deviations of ±ln 2 / 2 at x of ±3/2 ln 2 and ±1/2 ln 2: Σ x y is -(ln 2)² and Σ x² 5 (ln 2)².
  const MeasuredExponent noisy = measured_exponent(quadratic_kernel({2, 1, 2, 1})).value();
  EXPECT_NEAR(noisy.value, 2 - 0.2, 1e-9);
  EXPECT_NEAR(noisy.standard_error, std::sqrt((1 - 0.04 * 5) / 2 / 5), 1e-9);
  EXPECT_FALSE(measured_exponent(quadratic_kernel({1, 1})).has_value()) << "its error is unknown";
}

TEST(Measurement, StopsWhenCancelled) {
  std::stop_source stop;
  const Progress progress([&](double, std::string_view) { stop.request_stop(); }, stop.get_token());
  EXPECT_THROW((void)measure_kernels(small(), progress), Cancelled);
}

TEST(Measurement, RefusesImpossibleExtents) {
  MeasurementOptions options = small();
  options.heads = 3;
  EXPECT_THROW((void)measure_kernels(options), Error);
  options = small();
  options.tokens = {0};
  EXPECT_THROW((void)measure_kernels(options), Error);
}

TEST(MechanismCosts, PutsMeasuredCostsNextToCountedOnes) {
  FigureRequest request;
  request.settings = {{"tokens", 256},
                      {"width", 16},
                      {"heads", 2},
                      {"parameters", std::vector<std::string>{"bits=4"}}};
  const Figure figure = make_figure("mechanism-costs", request);
  ASSERT_TRUE(figure.table.has_value());
  EXPECT_EQ(figure.table->rows.front()[0], "softmax");
  EXPECT_EQ(figure.table->rows.front()[1], "N²D + ND²");
  EXPECT_EQ(figure.numbers.at("tokens"), (std::vector<double>{64, 128, 256}));
  EXPECT_EQ(figure.numbers.at("seconds/softmax").size(), 3U);
  EXPECT_TRUE(figure.numbers.contains("energy_pj/hash (bits=4)"));
  // Softmax has no parameters of its own: four projections with biases.
  EXPECT_EQ(figure.numbers.at("parameters/softmax").front(), 4 * (16 * 16 + 16));
  EXPECT_THAT(figure.caption, testing::HasSubstr("Measured: forward of the attention core"));
}

TEST(MechanismCosts, HasNoColumnsOfUnmeasuredCosts) {
  FigureRequest request;
  request.settings = {{"measure", false},
                      {"mechanisms", std::vector<std::string>{"softmax", "mixer"}}};
  const Figure figure = make_figure("mechanism-costs", request);
  ASSERT_EQ(figure.table->rows.size(), 2U);
  EXPECT_EQ(figure.table->header.size(), 5U);
  for (const auto& row : figure.table->rows) EXPECT_EQ(row.size(), 5U);
  EXPECT_THAT(figure.caption, testing::HasSubstr("Nothing was measured"));
}

}  // namespace
}  // namespace attnscope
