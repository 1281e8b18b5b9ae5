// Components of matrices other than maps, and their ranks next to heads.
#include <cmath>
#include <gtest/gtest.h>

#include "analysis/components/components.h"
#include "analysis/heads/head_table.h"
#include "analysis/matrix/analysed_matrix.h"
#include "core/error.h"
#include "tests/analysis/matrix/softmax_cases.h"
#include "tests/support/attention_subjects.h"

namespace attnscope {
namespace {

TEST(ComponentsOfAgainstNumPy, EveryMatrixAgreesWithAndWithoutItsMeanRow) {
  for (const nlohmann::json& made : read_test_data("analysed/analysed.json").at("cases")) {
    const Trace trace = softmax_case(made);
    const Subject subject = without_model(trace);
    for (const char* key : {"components", "components_centred"}) {
      const bool centred = std::string(key) == "components_centred";
      for (const auto& [name, expected] : made.at(key).items()) {
        const MapComponents found =
            map_components(subject, {0, 0}, {matrix_kind_named(name), centred}, 3);
        ASSERT_EQ(found.components.size(), 3U) << name;
        EXPECT_NEAR(found.nuclear_norm, expected.at("nuclear_norm").get<double>(),
                    1e-5 * expected.at("nuclear_norm").get<double>())
            << name;
        for (std::size_t k = 0; k < 3; ++k) {
          const nlohmann::json& one = expected.at("components")[k];
          const Component& component = found.components[k];
          EXPECT_NEAR(component.value, one.at("sigma").get<double>(),
                      1e-5 * expected.at("components")[0].at("sigma").get<double>())
              << name;
          const auto near = [&, &name = name](const std::vector<double>& vector,
                                              const nlohmann::json& other) {
            ASSERT_EQ(vector.size(), other.size()) << name;
            double sum = 0;
            for (std::size_t i = 0; i < vector.size(); ++i)
              sum += vector[i] * other[i].get<double>();
            // Both vectors have length 1. The absolute value is taken because the sign is arbitrary
            // where the entries of a vector nearly cancel.
            EXPECT_NEAR(std::abs(sum), 1, 1e-5) << key << " " << name << " " << k;
          };
          near(component.queries, one.at("rows"));
          near(component.keys, one.at("columns"));
        }
      }
    }
  }
}

TEST(ComponentsOf, RowsAndColumnsAreAsLabelled) {
  const Trace trace = softmax_case({{"n", 20}, {"d", 5}, {"seed", 3}, {"causal", false}});
  const Subject subject = without_model(trace);
  const MapComponents values = map_components(subject, {0, 0}, {MatrixKind::values}, 2);
  EXPECT_EQ(values.components[0].queries.size(), 20U);
  EXPECT_EQ(rows_of(MatrixKind::values), Extent::keys);
  EXPECT_EQ(values.components[0].keys.size(), 5U);
  EXPECT_EQ(columns_of(MatrixKind::values), Extent::channels);
  EXPECT_FALSE(values.identity);
  const MapComponents tokens = map_components(subject, {0, kAllHeads}, {MatrixKind::tokens}, 5);
  EXPECT_EQ(tokens.head, kAllHeads);
  const MatrixD all = trace.layers[0].tokens.matrix().cast<double>();
  EXPECT_LT((sum_of(tokens.components) - all).norm(), 1e-6);
  const MapComponents with = map_components(
      subject, {0, 0}, {.of = MatrixKind::head_output, .identity = IdentityView::with}, 1);
  EXPECT_TRUE(with.identity);
}

TEST(ComponentsOf, RefusesUndefinedMatrices) {
  const Trace trace = softmax_case({{"n", 8}, {"d", 3}, {"seed", 3}, {"causal", true}});
  const Subject subject = without_model(trace);
  const auto refused = [&](const MapIndex& place, const MatrixChoice& analysed) {
    EXPECT_THROW((void)map_components(subject, place, analysed, 2), Error) << in_words(analysed);
  };
  refused({0, 0}, {.of = MatrixKind::scores, .identity = IdentityView::with});
  refused({0, 0}, {MatrixKind::log_map});
  refused({0, 0}, {MatrixKind::tokens});
  refused({0, 1}, {MatrixKind::values});
  refused({1, 0}, {MatrixKind::values});
  refused({1, kAllHeads}, {MatrixKind::tokens});
  refused({0, 0}, {MatrixKind::norm_weighted});
}

TEST(HeadsOfAgainstNumPy, OnlyRanksFollowTheChosenMatrix) {
  for (const nlohmann::json& made : read_test_data("analysed/analysed.json").at("cases")) {
    const Trace trace = softmax_case(made);
    const HeadRow of_map = head_table(trace).rows.at(0);
    for (const char* key : {"ranks", "ranks_centred"}) {
      const bool centred = std::string(key) == "ranks_centred";
      for (const auto& [name, expected] : made.at(key).items()) {
        const MatrixChoice analysed{matrix_kind_named(name), centred};
        const HeadTable table = head_table(trace, {.analysed = analysed});
        const HeadRow& row = table.rows.at(0);
        EXPECT_EQ(row.equivalent_rank, expected.at("equivalent_rank")) << name;
        EXPECT_NEAR(row.participation_rank, expected.at("participation_rank"), 1e-4) << name;
        EXPECT_NEAR(row.entropy_rank, expected.at("entropy_rank"), 1e-4) << name;
        EXPECT_EQ(std::isnan(row.rank_without_sinks), analysed.of != MatrixKind::map) << name;
        EXPECT_EQ(row.entropy, of_map.entropy);
        EXPECT_EQ(row.sink, of_map.sink);
        EXPECT_EQ(row.output_norm, of_map.output_norm);
        EXPECT_EQ(table.analysed, analysed);
      }
    }
  }
}

TEST(HeadsOf, NameTheMatrixOfTheRanks) {
  const HeadMeasure& rank = head_measure("equivalent_rank");
  const MatrixChoice centred_scores{MatrixKind::scores, true};
  EXPECT_EQ(title_of(rank, "", centred_scores), "equivalent rank of scores, centred");
  EXPECT_EQ(heading_of(rank, centred_scores), "rank of scores, centred");
  EXPECT_EQ(heading_of(rank, {}), "rank");
  EXPECT_EQ(heading_of(head_measure("entropy"), centred_scores), "entropy");
  EXPECT_EQ(title_of(head_measure("distance"), "tokens", centred_scores),
            "mean attention distance (tokens)");
}

TEST(HeadsOf, NullModelsOfMapsFollowTheMeanRow) {
  const nlohmann::json made = read_test_data("analysed/analysed.json").at("cases").at(0);
  const Trace trace = softmax_case(made);
  const HeadRow row =
      head_table(trace, {.baselines = true, .analysed = {MatrixKind::map, true}}).rows.at(0);
  EXPECT_NEAR(row.null_rank, made.at("null").at("centred"), 1e-9);
  const auto refused = [&](const HeadOptions& options) {
    EXPECT_THROW((void)head_table(trace, options), Error);
  };
  refused({.baselines = true, .analysed = {MatrixKind::scores}});
  refused({.analysed = {MatrixKind::tokens}});
  refused({.analysed = {MatrixKind::norm_weighted}});
}

}  // namespace
}  // namespace attnscope
