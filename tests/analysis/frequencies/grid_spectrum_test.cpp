#include "analysis/frequencies/grid_spectrum.h"

#include <cmath>
#include <gtest/gtest.h>

#include "analysis/frequencies/frequencies.h"
#include "core/error.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

/// A case of tests/data/frequencies/make_frequencies.py as a trace of one layer.
Trace frequency_case(const nlohmann::json& made) {
  Trace trace;
  trace.layout = {made.at("prefix"), made.at("rows"), made.at("columns")};
  const std::int64_t n = trace.layout.prefix + trace.layout.rows * trace.layout.columns;
  const std::int64_t heads = made.at("heads"), width = made.at("width");
  const auto seed = made.at("seed").get<unsigned>();
  LayerTrace& layer = trace.layers.emplace_back();
  Tensor maps({heads, n, n});
  for (std::int64_t head = 0; head < heads; ++head) {
    const Tensor scores = raw_uniform({n, n}, seed + static_cast<unsigned>(head));
    MatrixD map =
        (scores.matrix().cast<double>() * made.at("sharpness").get<double>()).array().exp();
    for (Eigen::Index i = 0; i < n; ++i) map.row(i) /= map.row(i).sum();
    maps.slice(head) = map.cast<float>();
  }
  layer.implied_map = std::move(maps);
  layer.tokens = raw_uniform({n, width}, seed + 100);
  return trace;
}

void expect_curve(const std::vector<double>& found, const nlohmann::json& expected,
                  double tolerance, double minus = 0) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i] - minus, expected[i].get<double>(), tolerance) << i;
  }
}

TEST(GridSpectrum, AgreesWithPyTorch) {
  for (const nlohmann::json& made : read_test_data("frequencies/frequencies.json")) {
    const Trace trace = frequency_case(made);
    const FrequencyCurve response = filter_responses(trace).at(0);
    expect_curve(response.value, made.at("response"), 1e-6);
    EXPECT_EQ(response.cells, made.at("cells").get<std::vector<std::int64_t>>());
    expect_curve(token_amplitudes(trace).at(0).value, made.at("amplitude"), 1e-9);
    if (!made.contains("diagonal")) continue;
    const FrequencyCurve diagonal = token_amplitudes(trace, FrequencyProfile::diagonal).at(0);
    expect_curve(diagonal.value, made.at("diagonal"), 1e-9, diagonal.value.front());
  }
}

TEST(GridSpectrum, TransformsAWaveToItsFrequency) {
  MatrixD wave(6 * 8, 1);
  for (std::int64_t cell = 0; cell < 48; ++cell) {
    const auto row = static_cast<double>(cell / 8), column = static_cast<double>(cell % 8);
    wave(cell, 0) = std::cos(2 * M_PI * (2 * row / 6 + 3 * column / 8));
  }
  const Eigen::ArrayXd found = transform_over_grid(wave, 6, 8).array().abs();
  EXPECT_NEAR(found(2 * 8 + 3), 24, 1e-9);
  EXPECT_NEAR(found((6 - 2) * 8 + 8 - 3), 24, 1e-9);
  EXPECT_NEAR(found.sum(), 48, 1e-9);
}

TEST(GridSpectrum, PassesAllFrequenciesThroughTheIdentityAndOnlyZeroThroughEvenWeights) {
  Trace trace;
  trace.layout = {0, 4, 4};
  Tensor maps({1, 16, 16});
  maps.slice(0).setIdentity();
  trace.layers.emplace_back().implied_map = maps;
  const FrequencyCurve all = filter_responses(trace).at(0);
  for (const double value : all.value) EXPECT_NEAR(value, 1, 1e-9);
  maps.slice(0).setConstant(1.0F / 16);
  trace.layers[0].implied_map = std::move(maps);
  const FrequencyCurve even = filter_responses(trace).at(0);
  EXPECT_NEAR(even.value.front(), 1, 1e-9);
  EXPECT_NEAR(high_frequency_mean(even), 0, 1e-9);
  const FrequencyCurve with =
      filter_responses(trace, FrequencyProfile::radius, IdentityView::with).at(0);
  EXPECT_NEAR(with.value.front(), 2, 1e-9);
  EXPECT_NEAR(high_frequency_mean(with), 1, 1e-9);
}

TEST(GridSpectrum, RefusesCausalMapsAndTokensWithoutAGrid) {
  const Subject subject = attention_subject("a", {"softmax", {}});
  Trace trace = *subject.trace;
  const auto refused = [&] { return error_of([&] { return filter_responses(trace); }); };
  EXPECT_EQ(refused(), "");
  trace.causal = true;
  EXPECT_NE(refused().find("causal"), std::string::npos) << refused();
  trace.causal = false;
  trace.layout = {};
  for (LayerTrace& layer : trace.layers) layer.layout = layer.key_layout = {};
  EXPECT_NE(refused().find("grid"), std::string::npos) << refused();
  EXPECT_NE(error_of([&] { return token_amplitudes(trace); }).find("grid"), std::string::npos);
}

TEST(GridSpectrum, RefusesATriangularMapWithoutARecordOfItsMask) {
  Trace trace;
  trace.layout = {0, 2, 2};
  Tensor maps({1, 4, 4});
  maps.slice(0).triangularView<Eigen::Lower>().setConstant(0.25F);
  trace.layers.emplace_back().implied_map = std::move(maps);
  EXPECT_NE(error_of([&] { return filter_responses(trace); }).find("causal"), std::string::npos);
}

TEST(MeanFrequencyRows, AveragesCurvesOfOneGrid) {
  const auto& cases = read_test_data("frequencies/frequencies.json");
  nlohmann::json other = cases.at(0);
  other["seed"] = 77;
  const std::vector<FrequencyCurve> first = filter_responses(frequency_case(cases.at(0))),
                                    second = filter_responses(frequency_case(other));
  MeanFrequencyRows mean;
  mean.add(first);
  mean.add(second);
  const auto found = std::get<std::vector<FrequencyCurve>>(mean.rows()).at(0);
  ASSERT_EQ(found.value.size(), first[0].value.size());
  EXPECT_EQ(found.cells, first[0].cells);
  for (std::size_t i = 0; i < found.value.size(); ++i) {
    EXPECT_NE(first[0].value[i], second[0].value[i]);
    EXPECT_NEAR(found.value[i], (first[0].value[i] + second[0].value[i]) / 2, 1e-12);
  }
  nlohmann::json larger = cases.at(0);
  larger["rows"] = larger.at("rows").get<std::int64_t>() + 1;
  EXPECT_NE(error_of([&] { mean.add(filter_responses(frequency_case(larger))); }).find("grids"),
            std::string::npos);
  EXPECT_NE(error_of([&] { mean.add(std::vector<RotaryUse>(1)); }), "");
}

TEST(GridSpectrum, RefusesTheDiagonalOfAGridThatIsNotSquare) {
  const Trace trace = frequency_case(read_test_data("frequencies/frequencies.json").at(0));
  EXPECT_NE(
      error_of([&] { return token_amplitudes(trace, FrequencyProfile::diagonal); }).find("square"),
      std::string::npos);
}

}  // namespace
}  // namespace attnscope
