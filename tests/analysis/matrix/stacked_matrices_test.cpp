#include "analysis/matrix/stacked_matrices.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "analysis/matrix/analysed_matrix.h"
#include "core/error.h"
#include "tests/analysis/matrix/softmax_cases.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

std::vector<Trace> stacked_inputs() {
  std::vector<Trace> traces;
  for (const nlohmann::json& made : read_test_data("analysed/stacked.json").at("inputs")) {
    traces.push_back(softmax_case(made));
  }
  return traces;
}

MapSpectrum stacked_spectrum(const std::vector<Trace>& traces, const MatrixChoice& analysed,
                             const RankThreshold& threshold = {}) {
  StackedMatrices stacked(analysed);
  for (const Trace& trace : traces) stacked.add(without_model(trace), {});
  const std::vector<MapSpectrum> spectra = stacked.spectra(threshold);
  EXPECT_EQ(spectra.size(), 1U);
  return spectra.at(0);
}

TEST(StackedMatrices, AgreeWithNumPyOnQueriesAndKeysOfSeveralInputs) {
  const std::vector<Trace> traces = stacked_inputs();
  for (const auto& [name, expected] : read_test_data("analysed/stacked.json").at("found").items()) {
    const MatrixChoice analysed = {
        name.starts_with("keys") ? MatrixKind::keys : MatrixKind::queries,
        name.ends_with("centred")};
    const MapSpectrum found = stacked_spectrum(traces, analysed);
    const auto sigma = expected.at("sigma").get<std::vector<double>>();
    ASSERT_EQ(found.singular_values.size(), sigma.size()) << name;
    for (std::size_t t = 0; t < sigma.size(); ++t) {
      EXPECT_NEAR(found.singular_values[t], sigma[t], 1e-6 * sigma[0]) << name << " " << t;
    }
    EXPECT_EQ(found.tokens, 23);
    EXPECT_EQ(found.equivalent_rank, expected.at("values")) << name;
    EXPECT_EQ(stacked_spectrum(traces, analysed, {0.9, RankShare::energy}).equivalent_rank,
              expected.at("energy"))
        << name;
  }
}

TEST(StackedMatrices, CountSharedKeysOnce) {
  Trace trace = softmax_case({{"n", 9}, {"d", 4}, {"seed", 5}, {"causal", false}});
  LayerTrace& layer = trace.layers[0];
  Tensor two({2, 9, 9});
  for (std::int64_t head = 0; head < 2; ++head) two.slice(head) = layer.implied_map.slice(0);
  layer.queries = raw_uniform({18, 4}, 8).reshaped({2, 9, 4});
  layer.implied_map = std::move(two);
  const auto count = [&](MatrixKind of) {
    StackedMatrices stacked({of});
    stacked.add(without_model(trace), {});
    return stacked.spectra({}).size();
  };
  EXPECT_EQ(count(MatrixKind::queries), 2U);
  EXPECT_EQ(count(MatrixKind::keys), 1U);
  EXPECT_EQ(count(MatrixKind::values), 1U);
}

TEST(StackedMatrices, HaveNoRankWhenCentredRowsAreEqual) {
  std::vector<Trace> traces = stacked_inputs();
  for (Trace& trace : traces) {
    for (std::int64_t c = 0; c < 6; ++c) {
      trace.layers[0].keys.slice(0).col(c).setConstant(0.1F * static_cast<float>(c + 1));
    }
  }
  EXPECT_EQ(stacked_spectrum(traces, {MatrixKind::keys, true}).state, SpectrumState::zero);
  EXPECT_EQ(stacked_spectrum(traces, {MatrixKind::keys}).equivalent_rank, 1);
}

TEST(StackedMatrices, AreNotAnalysedWithNaN) {
  std::vector<Trace> traces = stacked_inputs();
  traces[1].layers[0].queries.slice(0)(2, 3) = std::numeric_limits<float>::quiet_NaN();
  const MapSpectrum found = stacked_spectrum(traces, {MatrixKind::queries});
  EXPECT_EQ(found.state, SpectrumState::not_finite);
  EXPECT_EQ(found.not_finite_entries, 1);
}

TEST(StackedMatrices, RefuseMapsWhoseColumnsAreTokens) {
  const Error error = refusal_of([] { StackedMatrices stacked({MatrixKind::map}); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
}

}  // namespace
}  // namespace attnscope
