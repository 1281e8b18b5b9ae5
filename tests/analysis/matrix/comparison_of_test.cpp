// Comparisons of matrices other than maps.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/comparison/comparison.h"
#include "analysis/matrix/analysed_matrix.h"
#include "core/model/model.h"
#include "tests/analysis/matrix/softmax_cases.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

using Quantity = ComparisonQuantity;
using testing::HasSubstr;

MatrixChoice analysed_named(const std::string& name) {
  const std::size_t comma = name.find(',');
  return {matrix_kind_named(name.substr(0, comma)), comma != std::string::npos};
}

struct TwoCases {
  Trace compared, reference;
};

TwoCases two_cases(const nlohmann::json& made) {
  return {softmax_case(made.at("case")), softmax_case(made.at("reference"))};
}

ComparedMap only_map(const Subject& reference, const Subject& other, const MatrixChoice& analysed,
                     std::string* summary = nullptr) {
  const SubjectComparison found = compare_subjects(reference, other, {.analysed = analysed});
  EXPECT_EQ(found.maps.size(), 1U);
  if (summary != nullptr) *summary = found.summary;
  return found.maps.at(0);
}

TEST(ComparisonOfAgainstNumPy, EveryMatrixAgreesWithAndWithoutItsMeanRow) {
  const nlohmann::json made = read_test_data("analysed/analysed.json").at("compared");
  const TwoCases cases = two_cases(made);
  for (const auto& [name, numbers] : made.at("found").items()) {
    const MatrixChoice analysed = analysed_named(name);
    std::string summary;
    const ComparedMap map =
        only_map(without_model(cases.reference), without_model(cases.compared), analysed, &summary);
    const auto expect = [&, &name = name, &numbers = numbers](Quantity quantity, const char* key) {
      const double expected = numbers.at(key);
      EXPECT_NEAR(map.values[quantity], expected, 1e-5 * std::max(1.0, std::abs(expected)))
          << name << " " << key;
    };
    expect(Quantity::spectrum_distance, "area");
    expect(Quantity::singular_value_distance, "singular_values");
    expect(Quantity::rank_difference, "rank_difference");
    if (columns_of(analysed.of) == Extent::channels) {
      EXPECT_EQ(map.state, MapPairState::other_channels) << name;
      EXPECT_TRUE(std::isnan(map.values[Quantity::frobenius_distance])) << name;
      EXPECT_NE(summary.find("1 matrix: columns are channels of other weights"), std::string::npos)
          << summary;
      continue;
    }
    EXPECT_EQ(map.state, MapPairState::compared) << name;
    expect(Quantity::frobenius_distance, "frobenius");
    expect(Quantity::relative_frobenius, "relative");
    expect(Quantity::cosine_distance, "cosine");
    if (numbers.contains("divergence")) {
      expect(Quantity::divergence, "divergence");
      EXPECT_EQ(map.row_divergence.size(), 24U);
      EXPECT_EQ(summary, "");
    } else {
      EXPECT_TRUE(std::isnan(map.values[Quantity::divergence])) << name;
      EXPECT_TRUE(std::isnan(map.values[Quantity::largest_divergence])) << name;
      EXPECT_TRUE(map.row_divergence.empty()) << name;
      EXPECT_NE(summary.find("no divergences"), std::string::npos) << summary;
    }
  }
}

TEST(ComparisonOf, ChannelsOfTheSameWeightsAreTheSame) {
  const TwoCases cases = two_cases(read_test_data("analysed/analysed.json").at("compared"));
  Subject reference = without_model(cases.reference), other = without_model(cases.compared);
  const std::string file = source_folder() + "/tests/data/sweep/model.npz";
  const auto load = [&file] {
    return load_model(file, {{{"heads", "2"}, {"crop_fraction", "1"}}, {}});
  };
  reference.model = load();
  other.model = load();
  const ComparedMap map = only_map(reference, other, {MatrixKind::values});
  EXPECT_EQ(map.state, MapPairState::compared);
  const auto values = [](const Trace& trace) {
    return MatrixD(trace.layers[0].values.slice(0).cast<double>());
  };
  EXPECT_NEAR(map.values[Quantity::frobenius_distance],
              (values(cases.compared) - values(cases.reference)).norm(), 1e-9);
}

TEST(ComparisonOf, ComparesMatricesPerLayerOnce) {
  const TwoCases cases = two_cases(read_test_data("analysed/analysed.json").at("compared"));
  const SubjectComparison found =
      compare_subjects(without_model(cases.reference), without_model(cases.compared),
                       {.analysed = {MatrixKind::tokens}});
  ASSERT_EQ(found.maps.size(), 1U);
  EXPECT_EQ(found.maps[0].head, kAllHeads);
  EXPECT_EQ(found.maps[0].reference_head, kAllHeads);
  EXPECT_FALSE(std::isnan(found.maps[0].values[Quantity::spectrum_distance]));
  EXPECT_EQ(found.layers.at(0).values[Quantity::spectrum_distance],
            found.maps[0].values[Quantity::spectrum_distance]);
  EXPECT_FALSE(std::isnan(found.layers[0].values[Quantity::cka]));
}

TEST(ComparisonOf, RefusesUndefinedMatrices) {
  const TwoCases cases = two_cases(read_test_data("analysed/analysed.json").at("compared"));
  const Subject reference = without_model(cases.reference), other = without_model(cases.compared);
  const auto why = [&](const ComparisonOptions& options) {
    return error_of([&] { return compare_subjects(reference, other, options); });
  };
  EXPECT_THAT(why({.analysed = {.of = MatrixKind::scores, .identity = IdentityView::with}}),
              HasSubstr("I can only be added to maps"));
  EXPECT_THAT(why({.baselines = true, .analysed = {MatrixKind::scores}}),
              HasSubstr("null models are only defined for attention maps"));
  EXPECT_THAT(why({.match_heads = true, .analysed = {MatrixKind::output}}),
              HasSubstr("heads cannot be matched"));
  EXPECT_THAT(why({.analysed = {MatrixKind::output}, .heads = {0}}),
              HasSubstr("the analysed matrix is defined per layer, not per head"));
  EXPECT_THAT(why({.analysed = {MatrixKind::norm_weighted}}),
              HasSubstr("does not hold the weights"));
  EXPECT_THAT(why({.analysed = {.of = MatrixKind::map, .added = Added::residual}}),
              HasSubstr("the residual stream is added to outputs, not to maps"));
  const SubjectComparison centred =
      compare_subjects(reference, other, {.baselines = true, .analysed = {MatrixKind::map, true}});
  EXPECT_GT(centred.maps.at(0).values[Quantity::rank_over_null], 0);
  const nlohmann::json made = read_test_data("analysed/analysed.json").at("cases").at(0);
  EXPECT_NEAR(centred.maps[0].values[Quantity::null_rank], made.at("null").at("centred"), 1e-9);
}

}  // namespace
}  // namespace attnscope
