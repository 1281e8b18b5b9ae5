#include "analysis/html/html_text.h"

#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

#include "analysis/html/html_document.h"

namespace attnscope {
namespace {

using Json = nlohmann::ordered_json;

TEST(HtmlText, EscapesMarkupAndQuotesAndShowsControlCharacters) {
  EXPECT_EQ(html_escaped("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
  EXPECT_EQ(html_escaped("tab\x1B[31m"), "tab\\x1B[31m");
  EXPECT_EQ(html_escaped("\xFF"), "\\xFF");
  EXPECT_EQ(html_escaped("ü ≥ 1"), "ü ≥ 1");
}

TEST(HtmlText, EncodesBase64AsRfc4648Does) {
  // RFC 4648, Section 10.
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string("\xFB\xFF\x00", 3)), "+/8A");
}

TEST(HtmlText, JsonInAScriptCannotEndTheScript) {
  const Json json = {{"label", "</script><script>alert(1)</script>"},
                     {"open", "<!-- & -->"},
                     {"bytes", std::string("a\xFFz")},
                     {"third", 1.0 / 3},
                     {"unknown", std::numeric_limits<double>::quiet_NaN()}};
  const std::string text = json_in_script(json);
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos) << text;
  const Json read = Json::parse(text);
  EXPECT_EQ(read.at("label"), json.at("label"));
  EXPECT_EQ(read.at("open"), json.at("open"));
  EXPECT_EQ(read.at("bytes"), "a\uFFFDz");
  EXPECT_EQ(read.at("third").get<double>(), 1.0 / 3);
  EXPECT_TRUE(read.at("unknown").is_null());
}

TEST(HtmlText, FillsInEachNameOnceAndRefusesUnknownOnes) {
  EXPECT_EQ(filled_in("<p>{{a}}-{{b}}-{{a}}</p>", {{"a", "{{b}}"}, {"b", "2"}}),
            "<p>{{b}}-2-{{b}}</p>");
  EXPECT_THROW((void)filled_in("{{c}}", {{"a", ""}}), std::logic_error);
}

TEST(HtmlDocument, AllowsOnlyItsOwnStyleAndScript) {
  const std::string page = html_of({.title = "</title><b>", .body = "<p>x</p>"}, theme_script());
  const std::string head = page.substr(0, page.find("<style>"));
  EXPECT_NE(head.find("default-src 'none'"), std::string::npos) << head;
  EXPECT_NE(head.find("script-src 'sha256-"), std::string::npos) << head;
  EXPECT_EQ(head.find("unsafe-inline"), std::string::npos) << head;
  EXPECT_NE(head.find("<title>&lt;/title&gt;&lt;b&gt;</title>"), std::string::npos) << head;
  // The hash of a script is of the text between its tags.
  EXPECT_NE(page.find("<script>" + std::string(theme_script().text) + "</script>"),
            std::string::npos);
  EXPECT_EQ(policy_source({"abc",
                           "ba7816bf8f01cfea414140de5dae2223"
                           "b00361a396177a9cb410ff61f20015ad"}),
            "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='");
}

TEST(HtmlDocument, NamesNoAddressOfTheNetwork) {
  for (const PageAsset* asset : {&page_style(), &trace_script(), &theme_script(), &trace_body()}) {
    std::string text(asset->text);
    const std::string of_svg = "http://www.w3.org/2000/svg";  // a namespace, which nothing loads
    if (const std::size_t at = text.find(of_svg); at != std::string::npos) {
      text.erase(at, of_svg.size());
    }
    EXPECT_EQ(text.find("://"), std::string::npos) << text.substr(0, 60);
    EXPECT_EQ(text.find("innerHTML"), std::string::npos) << text.substr(0, 60);
  }
}

}  // namespace
}  // namespace attnscope
