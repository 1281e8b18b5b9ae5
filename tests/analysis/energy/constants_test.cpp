#include "analysis/energy/constants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace attnscope {
namespace {

std::string refused_constants(const std::string& json) {
  try {
    (void)energy_constants_from_json(json, "mine.json");
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "not refused: " << json;
  return {};
}

TEST(EnergyConstants, TablesAreThosePublished) {
  // EcoFormer, Table 1, and Horowitz 2014 for integers.
  const std::tuple<const char*, double, double> published[] = {
      {"fp32", 0.9, 3.7}, {"fp16", 0.4, 1.1}, {"int32", 0.1, 3.1}, {"int8", 0.03, 0.2}};
  for (const auto& [name, addition, multiplication] : published) {
    const EnergyConstants constants = find_energy_constants(name);
    EXPECT_EQ(constants.addition_pj, addition);
    EXPECT_EQ(constants.multiplication_pj, multiplication);
  }
}

TEST(EnergyConstants, ReadsTheUsersOwn) {
  const EnergyConstants mine = energy_constants_from_json(
      R"({"name": "chip", "addition_pj": 0.5, "multiplication_pj": 2, "byte_pj": 3,
          "bytes_per_value": 2})",
      "mine.json");
  EXPECT_EQ(mine.title, "chip");
  EXPECT_EQ(mine.source, "mine.json");
  EXPECT_EQ(mine.shift_pj, 0);
  const OperationCount count{
      .multiplications = 10, .additions = 4, .divisions = 100, .bytes_moved = 8};
  EXPECT_DOUBLE_EQ(operations_energy_pj(count, mine), 22);
  EXPECT_DOUBLE_EQ(traffic_energy_pj(count, mine), 12);  // 8 bytes of float32 are 4 bytes here
}

TEST(EnergyConstants, RefusesFilesThatAreNotEnergyTables) {
  using testing::HasSubstr;
  EXPECT_THAT(refused_constants("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(refused_constants("{"), HasSubstr("not a JSON object"));
  EXPECT_THAT(refused_constants(R"({"name": "x", "addition_pj": 1})"),
              HasSubstr("multiplication_pj"));
  EXPECT_THAT(refused_constants(R"({"name": "x", "addition_pj": -1, "multiplication_pj": 1})"),
              HasSubstr("zero or more"));
  EXPECT_THAT(refused_constants(R"({"name": "x", "addition_pj": "1", "multiplication_pj": 1})"),
              HasSubstr("addition_pj"));
  EXPECT_THAT(
      refused_constants(R"({"name": "x", "addition_pj": 1, "multiplication_pj": 1, "mul": 2})"),
      HasSubstr("mine.json"));
  EXPECT_THAT(
      refused_constants(
          R"({"name": "x", "addition_pj": 1, "multiplication_pj": 1, "bytes_per_value": 3})"),
      HasSubstr("1, 2, 4 or 8"));
  EXPECT_THAT(refused_constants(R"({"name": 4, "addition_pj": 1, "multiplication_pj": 1})"),
              HasSubstr("a string"));
  EXPECT_THROW((void)find_energy_constants("no/such/table.json"), Error);
}

}  // namespace
}  // namespace attnscope
