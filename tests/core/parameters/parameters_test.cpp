#include "core/parameters/parameters.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/parameters/parameters_json.h"
#include "core/parameters/typed_values.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

enum class Mode { paper, upstream };
constexpr EnumName<Mode> kModes[] = {{Mode::paper, "paper"}, {Mode::upstream, "upstream"}};

const ParameterDescription kFlag = setting::flag("identity", false, "adds I");
const ParameterDescription kBits = setting::whole("bits", 16, {1, 64}, "b").or_word({"auto"});
const ParameterDescription kScale = setting::number("scale", 1.0, {0.5, 2}, "s").in("mm");
const ParameterDescription kMode = setting::choice("mode", names_of(kModes), "paper", "whose");
const ParameterDescription kLayers = setting::indices("layers", "0", "which").or_word({"all"});
const ParameterDescription kShares = setting::numbers("shares", {0.5, 0.9}, {0, 1}, "of the sum");
const ParameterDescription kKinds = setting::names("kinds", {"a", "b", "c"}, {"a"}, "some");

template <class Work>
std::string expected_by(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.expected_text();
  }
  return "accepted";
}

TEST(Parameters, AreReadAsTheirKind) {
  EXPECT_EQ(parse_parameter(kFlag, "true"), ParameterValue(true));
  EXPECT_EQ(parse_parameter(kFlag, "off"), ParameterValue(false));
  EXPECT_EQ(parse_parameter(kFlag, "yes"), ParameterValue(true));
  EXPECT_EQ(parse_parameter(kBits, "8"), ParameterValue(std::int64_t{8}));
  EXPECT_EQ(parse_parameter(kBits, "auto"), ParameterValue(std::string("auto")));
  EXPECT_EQ(parse_parameter(kScale, "2"), ParameterValue(2.0));
  EXPECT_EQ(parse_parameter(kMode, "upstream"), ParameterValue(std::string("upstream")));
  EXPECT_EQ(parse_parameter(kLayers, "7, 2-3"), ParameterValue(IndexRanges{{7, 7}, {2, 3}}));
  EXPECT_EQ(parse_parameter(kLayers, "all"), ParameterValue(std::string("all")));
  EXPECT_EQ(parse_parameter(kShares, "1,0.25"), ParameterValue(std::vector<double>{1, 0.25}));
  EXPECT_EQ(parse_parameter(kKinds, "c,a"), ParameterValue(std::vector<std::string>{"c", "a"}));
}

TEST(Parameters, OutOfRangeNamesTheRange) {
  const auto expected = [](const ParameterDescription& description, std::string_view text) {
    try {
      (void)parse_parameter(description, text);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(error.subject(), description.name);
      EXPECT_EQ(error.found_text(), "'" + std::string(text) + "'");
      return error.expected_text();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(expected(kFlag, "maybe"), "true or false");
  EXPECT_EQ(expected(kBits, "65"), "a whole number from 1 to 64, or auto");
  for (const char* text : {"0", "8.5", "", "8 ", "+8", "8,0", "99999999999999999999", "Auto"}) {
    EXPECT_EQ(expected(kBits, text), "a whole number from 1 to 64, or auto") << text;
  }
  for (const char* text : {"nan", "0.4", "1x", "inf", "0,9", "1e999"}) {
    EXPECT_EQ(expected(kScale, text), "a number from 0.5 to 2") << text;
  }
  EXPECT_EQ(expected(kMode, "papre"), "one of paper, upstream");
  for (const char* text : {"3-2", "-1", "1,", "", "1;2", "0-"}) {
    EXPECT_EQ(expected(kLayers, text), "indices from 0 such as 0,2-3, or all") << text;
  }
  EXPECT_EQ(expected(kShares, "0.5,1.5"), "numbers from 0 to 1, separated by commas");
  EXPECT_EQ(expected(kKinds, "a,d"), "some of a, b, c");
  EXPECT_EQ(range_of(setting::whole("n", 0, {0, 1e6}, "")), "a whole number from 0 to 1000000");
  EXPECT_EQ(range_of(setting::whole("n", 0, {.minimum = 1}, "")), "a whole number, 1 or more");
}

TEST(Parameters, AWholeNumberServesAsANumber) {
  EXPECT_EQ(checked_parameter(kScale, std::int64_t{2}), ParameterValue(2.0));
  EXPECT_THROW((void)checked_parameter(kBits, 2.0), Error);
  EXPECT_THROW((void)checked_parameter(kBits, std::string("8")), Error);
  EXPECT_EQ(checked_parameter(kBits, std::string("auto")), ParameterValue(std::string("auto")));
}

TEST(Parameters, AreWrittenAsTheyAreRead) {
  for (const auto& [description, text] :
       {std::pair(kFlag, "true"), std::pair(kBits, "64"), std::pair(kBits, "auto"),
        std::pair(kScale, "0.7"), std::pair(kLayers, "0,2-3,9"), std::pair(kShares, "0.1,1"),
        std::pair(kKinds, "b,c"), std::pair(kMode, "paper")}) {
    const ParameterValue value = parse_parameter(description, text);
    EXPECT_EQ(to_string(value), text);
    const ParameterValues values = {{description.name, value}};
    const ParameterValues again =
        complete_values("figure", {&description, 1}, parameters_from_json(to_json(values)));
    EXPECT_EQ(again, values) << text;
  }
  EXPECT_EQ(to_string(MechanismChoice{"adder", {{"identity", true}}}), "adder (identity=true)");
  EXPECT_EQ(to_string(MechanismChoice{}), "softmax");
}

TEST(Parameters, AreCompletedAndUnknownOnesNamed) {
  const ParameterDescription list[] = {kFlag, kBits, kLayers};
  EXPECT_EQ(complete_values("hash", list, {{"bits", std::int64_t{3}}}),
            (ParameterValues{
                {"identity", false}, {"bits", std::int64_t{3}}, {"layers", IndexRanges{{0, 0}}}}));
  const Error error = refusal_of([&] {
    (void)complete_values("hash", list, {{"bit", std::int64_t{3}}});
  });
  EXPECT_EQ(error.remedy_text(), "did you mean bits? known: identity, bits, layers")
      << error.what();
  const Error second = refusal_of([&] {
    (void)complete_values("hash", list, {{"bits", std::int64_t{99}}});
  });
  EXPECT_EQ(second.subject(), "hash bits");
}

TEST(TypedValues, AreReadByTheirType) {
  const ParameterValues values = {{"flag", true},
                                  {"whole", std::int64_t{7}},
                                  {"number", 0.5},
                                  {"mode", std::string("upstream")},
                                  {"layers", IndexRanges{{4, 4}, {0, 2}}},
                                  {"numbers", std::vector<double>{1, 2}},
                                  {"names", std::vector<std::string>{"a"}}};
  const TypedValues read(values);
  EXPECT_TRUE(read.flag("flag"));
  EXPECT_EQ(read.whole("whole"), 7);
  EXPECT_EQ(read.number("number"), 0.5);
  EXPECT_EQ(read.number("whole"), 7.0);
  EXPECT_EQ(read.text("mode"), "upstream");
  EXPECT_EQ(read.choice("mode", kModes), Mode::upstream);
  EXPECT_TRUE(read.is("mode", "upstream"));
  EXPECT_FALSE(read.is("whole", "auto"));
  EXPECT_EQ(read.indices("layers", 5), (std::vector<std::int64_t>{4, 0, 1, 2}));
  EXPECT_EQ(read.numbers("numbers"), (std::vector<double>{1, 2}));
  EXPECT_EQ(read.names("names"), (std::vector<std::string>{"a"}));
  EXPECT_EQ(expected_by([&] { (void)read.indices("layers", 4); }), "indices from 0 to 3");
  EXPECT_EQ(expected_by([&] { (void)read.flag("whole"); }), "true or false");
  EXPECT_THROW((void)read.whole("none"), Error);
}

TEST(EnumNames, ConvertBothWays) {
  EXPECT_EQ(name_of(kModes, Mode::upstream), "upstream");
  EXPECT_EQ(value_of(kModes, "paper", "mode"), Mode::paper);
  const Error error = refusal_of([&] { (void)value_of(kModes, "papre", "mode"); });
  EXPECT_NE(std::string(error.what()).find("paper, upstream"), std::string::npos);
}

}  // namespace
}  // namespace attnscope
