#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "analysis/features/features.h"
#include "core/error.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

Tensor tensor_of(const nlohmann::json& values, std::int64_t rows, std::int64_t width) {
  Tensor tensor({rows, width});
  std::size_t index = 0;
  for (float& value : tensor.values()) value = values.at(index++).get<float>();
  return tensor;
}

TEST(PrincipalPlane, AgreesWithNumPy) {
  std::ifstream file(source_folder() + "/tests/data/features/principal_plane.json");
  const nlohmann::json cases = nlohmann::json::parse(file);
  ASSERT_EQ(cases.size(), 4U);
  for (const nlohmann::json& one : cases) {
    const std::int64_t rows = one.at("rows"), width = one.at("width");
    const PrincipalPlane plane = principal_plane(tensor_of(one.at("points"), rows, width));
    ASSERT_EQ(plane.x.size(), static_cast<std::size_t>(rows));
    // Squaring the matrix costs at most half the digits of the smaller direction.
    constexpr double tolerance = 1e-9;
    for (std::size_t i = 0; i < plane.x.size(); ++i) {
      EXPECT_NEAR(plane.x[i], one.at("x")[i].get<double>(), tolerance) << rows << " " << i;
      EXPECT_NEAR(plane.y[i], one.at("y")[i].get<double>(), tolerance) << rows << " " << i;
    }
    EXPECT_NEAR(plane.share[0], one.at("share")[0].get<double>(), tolerance);
    EXPECT_NEAR(plane.share[1], one.at("share")[1].get<double>(), tolerance);
  }
}

TEST(PrincipalPlane, AxesAreOrthonormalAndPlacesCentred) {
  Tensor points({40, 6});
  float value = 0.3F;
  for (float& element : points.values()) element = value = std::fmod(value * 7.3F + 0.11F, 1.0F);
  const PrincipalPlane plane = principal_plane(points);
  const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  EXPECT_NEAR(dot(plane.first_axis, plane.first_axis), 1, 1e-12);
  EXPECT_NEAR(dot(plane.second_axis, plane.second_axis), 1, 1e-12);
  EXPECT_NEAR(dot(plane.first_axis, plane.second_axis), 0, 1e-12);
  EXPECT_NEAR(std::accumulate(plane.x.begin(), plane.x.end(), 0.0), 0, 1e-10);
  EXPECT_NEAR(dot(plane.x, plane.y), 0, 1e-9);
  EXPECT_GE(plane.share[0], plane.share[1]);
}

TEST(PrincipalPlane, PutsIdenticalPointsInOnePlace) {
  Tensor same({5, 3});
  for (float& element : same.values()) element = 2;
  const PrincipalPlane plane = principal_plane(same);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(plane.x[i], 0);
    EXPECT_EQ(plane.y[i], 0);
  }
  EXPECT_EQ(plane.share[0], 0);
  EXPECT_TRUE(principal_plane(Tensor()).x.empty());
  Tensor one({1, 3});
  for (float& element : one.values()) element = 1;
  EXPECT_EQ(principal_plane(one).x.at(0), 0);
}

TEST(PrincipalPlane, RefusesNaN) {
  Tensor points({2, 2});
  for (float& element : points.values()) element = 1;
  points.data()[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW((void)principal_plane(points), Error);
}

}  // namespace
}  // namespace attnscope
