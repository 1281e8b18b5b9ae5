#include "analysis/matrix/analysed_matrix.h"

#include <cmath>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/model/model.h"
#include "core/trace/trace_file.h"
#include "tests/analysis/matrix/softmax_cases.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

MapSpectrum spectrum_of_case(const Trace& trace, const MatrixChoice& analysed) {
  const std::vector<MapSpectrum> found =
      spectra_of(without_model(trace), analysed, {.accuracy = SpectrumAccuracy::every_value});
  EXPECT_EQ(found.size(), 1U);
  return found.at(0);
}

/// Expects Error(usage) whose text contains `text`.
template <class Call>
void expect_refused(const Call& call, const std::string& text) {
  const Error error = refusal_of([&] { call(); }, testing::Message() << "not refused: " << text);
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
}

TEST(AnalysedAgainstNumPy, EveryMatrixAgreesWithAndWithoutItsMeanRow) {
  for (const nlohmann::json& made : read_test_data("analysed/analysed.json").at("cases")) {
    const Trace trace = softmax_case(made);
    for (const char* key : {"sigma", "centred"}) {
      for (const auto& [name, sigma] : made.at(key).items()) {
        const MapSpectrum found =
            spectrum_of_case(trace, {matrix_kind_named(name), std::string(key) == "centred"});
        const auto expected = sigma.get<std::vector<double>>();
        ASSERT_EQ(found.singular_values.size(), expected.size()) << name;
        for (std::size_t t = 0; t < expected.size(); ++t) {
          EXPECT_NEAR(found.singular_values[t], expected[t], 1e-5 * expected[0])
              << key << " " << name << " " << t;
        }
      }
    }
  }
}

TEST(MatrixChoice, TheBoundsOfTheRankAreKept) {
  const nlohmann::json made = {{"n", 40}, {"d", 6}, {"seed", 5}, {"causal", false}};
  const Trace trace = softmax_case(made);
  const std::vector<std::pair<MatrixKind, std::int64_t>> bounds = {
      {MatrixKind::scores, 6},      {MatrixKind::log_map, 7}, {MatrixKind::seen_by_values, 6},
      {MatrixKind::head_output, 0}, {MatrixKind::values, 0},  {MatrixKind::map, 0}};
  for (const auto& [of, bound] : bounds) {
    const MapSpectrum found = spectrum_of_case(trace, {of, false});
    EXPECT_EQ(found.rank_bound, bound) << name_of(matrix_kind_names, of);
    if (bound > 0) {
      EXPECT_EQ(found.numerical_rank, bound) << name_of(matrix_kind_names, of);
    }
    EXPECT_LE(spectrum_of_case(trace, {of, true}).numerical_rank, found.numerical_rank);
  }
  EXPECT_GT(spectrum_of_case(trace, {}).numerical_rank, 7) << "the map itself has no such bound";
}

TEST(MatrixChoice, EqualRowsWithoutTheirMeanAreZeros) {
  // 1/197 in float32 is not exact, and neither is the mean of 197 of them.
  MatrixD rows = MatrixD::Constant(197, 197, static_cast<double>(1.0F / 197));
  rows.col(3).setConstant(0.7);
  take_mean_row_away(rows);
  EXPECT_EQ(rows.cwiseAbs().maxCoeff(), 0);
  MatrixD others = MatrixD::Constant(3, 2, 0.5);
  others(1, 1) += 1e-12;
  take_mean_row_away(others);
  EXPECT_NEAR(others(1, 1), 2e-12 / 3, 1e-15) << "a difference that double can hold";
  EXPECT_EQ(others(1, 0), 0);
}

TEST(MatrixChoice, ValuesUseOnlyTheWeightsTheySee) {
  const Trace trace = softmax_case({{"n", 30}, {"d", 4}, {"seed", 8}, {"causal", true}});
  const MapIndex place{0, 0};
  const auto of = [&](MatrixKind what) {
    return analysed_matrix(without_model(trace), place, {what}).matrix;
  };
  const MatrixD values = of(MatrixKind::values);
  EXPECT_LT((of(MatrixKind::seen_by_values) * values - of(MatrixKind::head_output)).norm(), 1e-9);
  EXPECT_GT((of(MatrixKind::seen_by_values) - of(MatrixKind::map)).norm(), 0.1);
}

TEST(MatrixChoice, ABiasMissingInTheTraceRemovesTheBound) {
  Trace trace = softmax_case({{"n", 30}, {"d", 4}, {"seed", 8}, {"causal", false}});
  MatrixMap map = trace.layers[0].implied_map.slice(0);
  for (Eigen::Index i = 0; i < 30; ++i) {
    for (Eigen::Index j = 0; j < 30; ++j) {
      map(i, j) *= static_cast<float>(std::exp(-0.1 * static_cast<double>(std::abs(i - j))));
    }
    map.row(i) /= map.row(i).sum();
  }
  EXPECT_EQ(spectrum_of_case(trace, {MatrixKind::log_map, false}).rank_bound, 0);
  EXPECT_EQ(spectrum_of_case(trace, {MatrixKind::scores, false}).rank_bound, 4);
}

TEST(MatrixChoice, TheIdentityGoesIntoOutputs) {
  Trace trace = softmax_case({{"n", 12}, {"d", 4}, {"seed", 2}, {"causal", false}});
  const Subject subject = without_model(trace);
  const MatrixChoice output{MatrixKind::head_output};
  const MatrixD without =
      analysed_matrix(subject, {0, 0}, output.seen(IdentityView::without)).matrix;
  const AnalysedMatrix with = analysed_matrix(subject, {0, 0}, output.seen(IdentityView::with));
  const MatrixD values = trace.layers[0].values.slice(0).cast<double>();
  EXPECT_LT((with.matrix - without - values).norm(), 1e-12);
  EXPECT_TRUE(with.identity);
  expect_refused(
      [&] {
        (void)spectra_of(subject, {.of = MatrixKind::scores, .identity = IdentityView::with});
      },
      "I can only be added to maps");
}

TEST(MatrixChoice, HasOneMatrixPerLayerForAllHeads) {
  Trace trace;
  LayerTrace& layer = trace.layers.emplace_back();
  layer.implied_map = Tensor({4, 6, 6}, std::vector<float>(144, 1.0F / 6));
  layer.values = raw_uniform({2, 6, 3}, 4);
  layer.tokens = raw_uniform({6, 5}, 5);
  const MapSpectrum output = spectrum_of_case(trace, {MatrixKind::output, false});
  EXPECT_EQ(output.head, kAllHeads);
  EXPECT_EQ(output.singular_values.size(), 6U) << "[6, 4 · 3]";
  EXPECT_EQ(output.numerical_rank, 1);
  const MapSpectrum tokens = spectrum_of_case(trace, {MatrixKind::tokens, false});
  EXPECT_EQ(tokens.head, kAllHeads);
  EXPECT_EQ(tokens.singular_values.size(), 5U);
}

TEST(MatrixChoice, RefusesUnavailableMatricesByName) {
  Trace trace = softmax_case({{"n", 10}, {"d", 4}, {"seed", 2}, {"causal", true}});
  const auto refused = [&](MatrixKind of, const std::string& text) {
    expect_refused([&] { (void)spectra_of(without_model(trace), {of}); }, text);
  };
  refused(MatrixKind::log_map, "not above 0: 45 of 100");
  expect_refused([] { (void)matrix_kind_named("nothing"); }, "norm-weighted");
  expect_refused([] { (void)matrix_kind_named("weights"); }, "seen-by-values");
  trace.mechanism.name = "linear";
  refused(MatrixKind::scores, "linear attention is not a softmax");
  trace.map_channels = 8;
  refused(MatrixKind::head_output, "each channel");
  trace.map_channels = 1;
  trace.mechanism.name = "softmax";
  trace.layers[0].queries = trace.layers[0].values = trace.layers[0].tokens = {};
  refused(MatrixKind::scores, "no queries");
  refused(MatrixKind::seen_by_values, "no values");
  refused(MatrixKind::tokens, "no tokens");
  expect_refused(
      [&] {
        (void)spectra_of(without_model(trace), {MatrixKind::map, true},
                         {.method = SpectrumMethod::estimated});
      },
      "automatic or dense");
}

// Gemma 2 scales scores by 1/√query_pre_attn_scalar, which is 6 in this model with heads 8 wide.
TEST(MatrixChoice, ScoresHaveTheModelsOwnScale) {
  const TemporaryFolder folder;
  const std::string family = "hugging_face_gemma2";
  write_hashed_safetensors(folder / "model.safetensors", family_shapes(family));
  nlohmann::json config = read_test_data("models/families/" + family + ".json")["config"];
  config["attn_logit_softcapping"] = nullptr;
  (void)folder.write("config.json", config.dump());
  const std::shared_ptr<const Model> model = load_model(folder.path(), {});
  Input input;
  input.content = Text{{}, {3, 1, 4, 1, 5}};
  TraceRequest request;
  request.queries_keys_values = true;
  write_trace(folder / "trace.h5", model->run(input, model->spec().mechanism, request, {}));
  const Trace trace = read_trace(folder / "trace.h5");
  const MatrixD map = trace.layers[0].implied_map.head(3).cast<double>();
  const MatrixD scores = analysed_matrix(without_model(trace), {0, 3}, {MatrixKind::scores}).matrix;
  for (Eigen::Index i = 1; i < 5; ++i) {
    EXPECT_NEAR(std::log(map(i, i) / map(i, 0)), scores(i, i) - scores(i, 0), 1e-5) << i;
  }
}

// The same token has the same queries and keys before rotary positions wherever it stands, because
// the tokens of the first layer have no positions.
TEST(MatrixChoice, QueriesAndKeysBeforeRotaryPositionsDoNotDependOnThePosition) {
  const TemporaryFolder folder;
  const Subject subject = family_subject(folder.path(), "hugging_face_llama", {3, 1, 3, 1, 3, 5});
  const std::int64_t last_head = subject.trace->heads(0) - 1;
  const auto of = [&](MatrixKind what) {
    return analysed_matrix(subject, {0, last_head}, {what}).matrix;
  };
  using enum MatrixKind;
  for (const auto& [before, after] :
       {std::pair(queries_before_rotary, queries), std::pair(keys_before_rotary, keys)}) {
    const MatrixD plain = of(before), rotated = of(after);
    EXPECT_LT((plain.row(0) - rotated.row(0)).norm(), 1e-6) << "position 0 is not rotated";
    EXPECT_LT((plain.row(4) - plain.row(0)).norm(), 1e-5 * plain.row(0).norm());
    EXPECT_GT((rotated.row(4) - rotated.row(0)).norm(), 0.1 * plain.row(0).norm());
    EXPECT_NEAR(plain.norm(), rotated.norm(), 1e-5 * plain.norm());
  }
  expect_refused([&] { (void)spectra_of(without_model(*subject.trace), {queries_before_rotary}); },
                 "model");
}

TEST(MatrixChoice, ALayerWithoutRotaryPositionsIsRefused) {
  const TemporaryFolder folder;
  const Subject subject = family_subject(folder.path(), "hugging_face_gpt2", {3, 1, 3, 1, 3, 5});
  expect_refused([&] { (void)spectra_of(subject, {MatrixKind::queries_before_rotary}); },
                 "no rotary positions");
}

TEST(MatrixChoice, AdderScoresAreDistances) {
  Trace trace = softmax_case({{"n", 5}, {"d", 2}, {"seed", 3}, {"causal", false}});
  trace.mechanism.name = "adder";
  const AnalysedMatrix scores = analysed_matrix(without_model(trace), {0, 0}, {MatrixKind::scores});
  const auto q = trace.layers[0].queries.slice(0), k = trace.layers[0].keys.slice(0);
  const double distance = static_cast<double>((q.row(1) - k.row(3)).cwiseAbs().sum());
  EXPECT_NEAR(scores.matrix(1, 3), -distance / std::sqrt(4 * (1 - 2 / M_PI)), 1e-6);
  EXPECT_EQ(scores.rank_bound, 0);
}

TEST(MatrixChoice, IsUnchangedForThePlainMap) {
  const Subject subject = attention_subject("a", {"softmax", {}});
  const auto plain = spectra_of(*subject.trace, IdentityView::with);
  const auto same = spectra_of(subject, {.identity = IdentityView::with});
  ASSERT_EQ(plain.size(), same.size());
  EXPECT_EQ(plain[3].singular_values, same[3].singular_values);
}

}  // namespace
}  // namespace attnscope
