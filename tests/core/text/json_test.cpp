#include "core/text/json.h"

#include <ctime>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

#include "core/error.h"

namespace attnscope {
namespace {

std::string json_refusal(std::string_view text, const JsonLimits& limits = {}) {
  try {
    (void)parse_json(text, limits);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::damaged);
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(JsonTest, AgreesWithTheLibrary) {
  for (const char* text :
       {"null", "true", "-3", "18446744073709551615", "2.5e-3", R"("a\u00e9\n")", "[]", "{}",
        R"({"b": [1, {"c": null}, "x"], "a": {"a": -1.5}})", " [1, [2, [3]]] "}) {
    EXPECT_EQ(parse_json(text), nlohmann::json::parse(text)) << text;
  }
  const char* const text = R"({"z": 1, "a": {"y": [1, 2], "b": 3}})";
  EXPECT_EQ(parse_ordered_json(text).dump(), nlohmann::ordered_json::parse(text).dump());
}

TEST(JsonTest, RefusesDepth) {
  for (const auto& [open, close] : {std::pair("[", "]"), std::pair("{\"a\":", "}")}) {
    std::string deep, shut;
    for (int level = 0; level < 200'000; ++level) {
      deep += open;
      shut += close;
    }
    EXPECT_TRUE(contains(json_refusal(deep + "1" + shut), "nested too deeply"));
    EXPECT_TRUE(contains(json_refusal(deep), "nested too deeply"));
    EXPECT_TRUE(parse_json_or_null(deep + "1" + shut).is_null());
  }
  EXPECT_EQ(json_refusal("[[[1]]]", {.depth = 3}), "");
  EXPECT_TRUE(contains(json_refusal("[[[1]]]", {.depth = 2}), "2 levels"));
}

TEST(JsonTest, RefusesMoreValuesThanAllowed) {
  EXPECT_EQ(json_refusal("[1,2,3]", {.elements = 4}), "");
  EXPECT_TRUE(contains(json_refusal("[1,2,3,4]", {.elements = 4}), "at most 4 values"));
}

TEST(JsonTest, RefusesAKeyThatStandsTwice) {
  EXPECT_TRUE(contains(json_refusal(R"({"a": 1, "b": 2, "a": 3})"),
                       "a: the key occurs twice in one JSON object"));
  EXPECT_EQ(json_refusal(R"({"a": {"a": 1}, "b": {"a": 2}})"), "");
}

TEST(JsonTest, NamesThePlaceOfASyntaxError) {
  EXPECT_TRUE(contains(json_refusal("{\"a\": 1,\n oops}"), "line 2"));
  for (const char* text : {"", "{", "[1,]", "1 2", "nul", "\"\xFF\"", "{'a': 1}", "[1e999]"}) {
    EXPECT_TRUE(contains(json_refusal(text), "not valid JSON")) << text;
    EXPECT_FALSE(contains(json_refusal(text), "json.exception")) << text;
    EXPECT_TRUE(parse_json_or_null(text).is_null()) << text;
  }
}

TEST(JsonTest, AnObjectOfManyMembersTakesNoQuadraticTime) {
  constexpr int members = 40'000;
  std::string text = "{";
  for (int i = 0; i < members; ++i) {
    text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + R"(":{"s":[1,2],"t":"F32"})";
  }
  text += "}";
  // The limit is in processor time: tenths of a second are normal, and a quadratic parser takes
  // most of a minute.
  const std::clock_t start = std::clock();
  EXPECT_EQ(parse_json(text).size(), members);
  EXPECT_EQ(parse_ordered_json(text).size(), members);
  EXPECT_LT((std::clock() - start) / CLOCKS_PER_SEC, 10);
}

TEST(Json, ReadsPythonsNumbersAsTexts) {
  const nlohmann::json found = parse_json(
      R"({"limit": [0.0, Infinity], "low": -Infinity, "NaN": "a \"Infinity\"", "no": NaN})");
  EXPECT_EQ(found["limit"][1], "Infinity");
  EXPECT_EQ(found["low"], "-Infinity");
  EXPECT_EQ(found["NaN"], "a \"Infinity\"");
  EXPECT_EQ(found["no"], "NaN");
  EXPECT_THROW((void)parse_json("[Infinity"), Error);
}

}  // namespace
}  // namespace attnscope
