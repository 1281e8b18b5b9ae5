#include "core/parameters/parameters.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace attnscope {
namespace {

const ParameterDescription kFlag{.name = "identity", .default_value = false};
const ParameterDescription kBits{
    .name = "bits", .default_value = std::int64_t{16}, .minimum = 1, .maximum = 64};
const ParameterDescription kScale{
    .name = "scale", .default_value = 1.0, .minimum = 0.5, .maximum = 2};
const ParameterDescription kMode{
    .name = "mode", .default_value = std::string("paper"), .choices = {"paper", "upstream"}};

TEST(Parameters, AreReadAsTheTypeOfTheirDefault) {
  EXPECT_EQ(parse_parameter(kFlag, "true"), ParameterValue(true));
  EXPECT_EQ(parse_parameter(kFlag, "off"), ParameterValue(false));
  EXPECT_EQ(parse_parameter(kBits, "8"), ParameterValue(std::int64_t{8}));
  EXPECT_EQ(parse_parameter(kScale, "2"), ParameterValue(2.0));
  EXPECT_EQ(parse_parameter(kMode, "upstream"), ParameterValue(std::string("upstream")));
}

TEST(Parameters, OutOfRangeNamesTheRange) {
  const auto expected = [](const ParameterDescription& description, std::string_view text) {
    try {
      (void)parse_parameter(description, text);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(error.subject(), description.name);
      return error.expected_text();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(expected(kFlag, "maybe"), "true or false");
  EXPECT_EQ(expected(kBits, "65"), "a whole number from 1 to 64");
  EXPECT_EQ(expected(kBits, "0"), "a whole number from 1 to 64");
  EXPECT_EQ(expected(kBits, "8.5"), "a whole number from 1 to 64");
  EXPECT_EQ(expected(kBits, ""), "a whole number from 1 to 64");
  EXPECT_EQ(expected(kScale, "nan"), "a number from 0.5 to 2");
  EXPECT_EQ(expected(kScale, "0.4"), "a number from 0.5 to 2");
  EXPECT_EQ(expected(kScale, "1x"), "a number from 0.5 to 2");
  EXPECT_EQ(expected(kMode, "papre"), "one of paper, upstream");
}

TEST(Parameters, AWholeNumberServesAsANumber) {
  EXPECT_EQ(checked_parameter(kScale, std::int64_t{2}), ParameterValue(2.0));
  EXPECT_THROW((void)checked_parameter(kBits, 2.0), Error);
}

TEST(Parameters, AreWrittenAsTheyAreRead) {
  EXPECT_EQ(to_string(ParameterValue(0.1)), "0.1");
  EXPECT_EQ(to_string(MechanismChoice{"adder", {{"identity", true}}}), "adder (identity=true)");
  EXPECT_EQ(to_string(MechanismChoice{}), "softmax");
}

}  // namespace
}  // namespace attnscope
