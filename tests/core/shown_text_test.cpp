#include "core/shown_text.h"

#include <gtest/gtest.h>
#include <string>

#include "core/error.h"
#include "core/text/table_cell.h"

namespace attnscope {
namespace {

TEST(ShownTextTest, PlainTextStays) {
  for (const char* text : {"", "blocks.0.attn.qkv.weight", "Größe", "日本語", "😀", "C:\\new",
                           "a  b", "שלום", "e\u0301"}) {
    EXPECT_EQ(shown_text(text), text);
  }
}

TEST(ShownTextTest, ShowsHiddenCharacters) {
  EXPECT_EQ(shown_text("a\x1B[2Jb"), "a\\x1B[2Jb");
  EXPECT_EQ(shown_text("one\ntwo\tthree\r"), "one\\ntwo\\tthree\\r");
  EXPECT_EQ(shown_text(std::string("\0\x7F", 2)), "\\x00\\x7F");
  EXPECT_EQ(shown_text("\u0085\u009B"), "\\u0085\\u009B");
  EXPECT_EQ(shown_text("a\u202Egpj.exe"), "a\\u202Egpj.exe");
  EXPECT_EQ(shown_text("\u200F\u2066\u2069\u061C\u2028\uFEFF\uFFFE"),
            "\\u200F\\u2066\\u2069\\u061C\\u2028\\uFEFF\\uFFFE");
}

TEST(ShownTextTest, ShowsBytesThatAreNotUtf8) {
  EXPECT_EQ(shown_text("\xFF"), "\\xFF");
  EXPECT_EQ(shown_text("\xC0\xAF"), "\\xC0\\xAF");           // overlong
  EXPECT_EQ(shown_text("\xED\xA0\x80"), "\\xED\\xA0\\x80");  // a surrogate
  EXPECT_EQ(shown_text("\xF4\x90\x80\x80"), "\\xF4\\x90\\x80\\x80");
  EXPECT_EQ(shown_text("ok\xE2\x82"), "ok\\xE2\\x82");  // truncated
}

TEST(ShownTextTest, IsTheSameTheSecondTime) {
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  const std::string once = shown_text(every + "\u202E\u2028");
  EXPECT_EQ(shown_text(once), once);
  EXPECT_EQ(shown_lines(once), once);
}

TEST(ShownTextTest, LinesMayStay) { EXPECT_EQ(shown_lines("a\nb\x1B\r"), "a\nb\\x1B\\r"); }

TEST(ShownTextTest, ErrorsShowNothingHidden) {
  const Error error = Error(ErrorKind::damaged, "broken")
                          .in_file("a\x1B]0;owned\x07.pt")
                          .about("\u202Ename\n")
                          .found("\xFF");
  EXPECT_STREQ(error.what(), "a\\x1B]0;owned\\x07.pt: \\u202Ename : broken (found \\xFF)");
}

TEST(ShownTextTest, LongQuotationsEndBetweenCharacters) {
  std::string text(999, 'a');
  text += "äöü";
  EXPECT_EQ(std::string(Error(ErrorKind::damaged, text).what()), std::string(999, 'a') + "…");
}

TEST(CsvFieldTest, QuotesOnlyWhereRequired) {
  EXPECT_EQ(csv_field("softmax"), "softmax");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"no\"\n"), "\"say \"\"no\"\"\n\"");
}

TEST(CsvFieldTest, FormulasAreText) {
  EXPECT_EQ(csv_field("=HYPERLINK(\"http://x\")"), "\"'=HYPERLINK(\"\"http://x\"\")\"");
  EXPECT_EQ(csv_field("+1+cmd|' /C calc'!A0"), "'+1+cmd|' /C calc'!A0");
  EXPECT_EQ(csv_field("-2+3"), "'-2+3");
  EXPECT_EQ(csv_field("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(csv_field("\t=1"), "'\t=1");
  for (const char* number : {"-3.5", "+2", "-1e-7", "-inf", "0"}) {
    EXPECT_EQ(csv_field(number), number);
  }
}

}  // namespace
}  // namespace attnscope
