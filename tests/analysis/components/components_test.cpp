#include "analysis/components/components.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

#include "core/error.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

Trace trace_of_part(const nlohmann::json& made) {
  const std::int64_t rows = made.at("rows"), columns = made.at("columns");
  const Tensor whole =
      kernel_map(made.at("n"), made.at("width"), made.at("power"), made.at("seed"));
  Trace trace;
  ImpliedMaps& map = trace.layers.emplace_back().implied_map;
  map = Tensor({1, rows, columns});
  map.slice(0) = whole.matrix().topLeftCorner(rows, columns);
  return trace;
}

TEST(ComponentsAgainstNumPy, ValuesAndVectorsWithTheirSigns) {
  for (const nlohmann::json& made : read_test_data("components/components.json").at("cases")) {
    const MapComponents found = map_components(
        without_model(trace_of_part(made)), {0, 0},
        {.identity = made.at("identity") ? IdentityView::with : IdentityView::without}, 4);
    ASSERT_EQ(found.components.size(), 4U);
    EXPECT_EQ(found.identity, made.at("identity").get<bool>());
    EXPECT_NEAR(found.nuclear_norm, made.at("nuclear_norm"), 1e-6);
    for (std::size_t k = 0; k < 4; ++k) {
      const Component& component = found.components[k];
      EXPECT_NEAR(component.value, made.at("sigma")[k], 1e-9);
      const auto u = made.at("u")[k].get<std::vector<double>>();
      const auto v = made.at("v")[k].get<std::vector<double>>();
      ASSERT_EQ(component.queries.size(), u.size());
      ASSERT_EQ(component.keys.size(), v.size());
      for (std::size_t i = 0; i < u.size(); ++i) EXPECT_NEAR(component.queries[i], u[i], 1e-5);
      for (std::size_t j = 0; j < v.size(); ++j) EXPECT_NEAR(component.keys[j], v[j], 1e-5);
      EXPECT_GE(std::accumulate(component.keys.begin(), component.keys.end(), 0.0), -1e-9);
    }
  }
}

TEST(Components, AddUpToTheMap) {
  const nlohmann::json& made = read_test_data("components/components.json").at("cases")[0];
  const Trace trace = trace_of_part(made);
  const MatrixD map = map_seen(trace, {0, 0}, IdentityView::as_is);
  const MapComponents all = map_components(without_model(trace), {0, 0}, {}, 20);
  EXPECT_LT((sum_of(all.components) - map).norm(), 1e-7);
  double shares = 0, squares = 0;
  for (std::size_t k = 0; k < all.components.size(); ++k) {
    shares += all.share(k);
    squares += all.share_of_squares(k);
  }
  EXPECT_NEAR(shares, 1, 1e-6);
  EXPECT_NEAR(squares, 1, 1e-9);
  const MapComponents two = map_components(without_model(trace), {0, 0}, {}, 2);
  double rest = 0;
  for (std::size_t k = 2; k < 20; ++k) rest += std::pow(all.components[k].value, 2);
  EXPECT_NEAR((map - sum_of(two.components)).squaredNorm(), rest, 1e-9);
}

TEST(Components, FindsOneComponentInAMapOfEqualRows) {
  Trace trace;
  trace.layers.emplace_back().implied_map =
      Tensor({1, 3, 2}, {0.25F, 0.75F, 0.25F, 0.75F, 0.25F, 0.75F});
  const MapComponents found = map_components(without_model(trace), {0, 0}, {}, 2);
  ASSERT_GE(found.components.size(), 1U);
  EXPECT_NEAR(found.components[0].keys[1] / found.components[0].keys[0], 3, 1e-6);
  EXPECT_NEAR(found.components[0].queries[0], 1 / std::sqrt(3), 1e-6);
  EXPECT_NEAR(found.share(0), 1, 1e-6);
}

TEST(Components, StatesAndRefusals) {
  Trace trace;
  trace.layers.emplace_back().implied_map = Tensor({2, 2, 2});
  trace.layers[0].implied_map.slice(1).setConstant(std::nanf(""));
  const Subject subject = without_model(trace);
  EXPECT_EQ(map_components(subject, {0, 0}, {}, 1).state, SpectrumState::zero);
  EXPECT_EQ(map_components(subject, {0, 1}, {}, 1).state, SpectrumState::not_finite);
  EXPECT_THROW((void)map_components(subject, {0, 2}, {}, 1), Error);
  EXPECT_THROW((void)map_components(subject, {1, 0}, {}, 1), Error);
  EXPECT_THROW((void)map_components(subject, {0, 0}, {}, 0), Error);
  trace.layers.emplace_back();
  EXPECT_THROW((void)map_components(subject, {1, 0}, {}, 1), Error);
}

}  // namespace
}  // namespace attnscope
