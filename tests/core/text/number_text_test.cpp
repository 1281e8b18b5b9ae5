#include "core/text/number_text.h"

#include <clocale>
#include <gtest/gtest.h>
#include <limits>

namespace attnscope {
namespace {

/// A locale: C, or one with a decimal comma if it is installed.
class InALocale : public testing::TestWithParam<const char*> {
 protected:
  InALocale() : before_(std::setlocale(LC_ALL, nullptr)) {
    installed_ = std::setlocale(LC_ALL, GetParam()) != nullptr;
  }
  ~InALocale() override { std::setlocale(LC_ALL, before_.c_str()); }

  bool installed_ = false;

 private:
  std::string before_;
};

TEST_P(InALocale, NumbersAreWrittenAndReadAlike) {
  if (!installed_) GTEST_SKIP() << GetParam() << " is not installed";
  EXPECT_EQ(exact(0.9), "0.9");
  EXPECT_EQ(exact(0.9F), "0.9");
  EXPECT_EQ(exact(-1e300), "-1e+300");
  EXPECT_EQ(rounded_text(1234.5678), "1235");
  EXPECT_EQ(rounded_text(0.125, 2), "0.12");
  EXPECT_EQ(fixed_text(0.9, 2), "0.90");
  EXPECT_EQ(fixed_text(-1234.5, 0), "-1234");
  EXPECT_EQ(parse_number("0.9"), 0.9);
  EXPECT_EQ(parse_number("-1e-3"), -1e-3);
  EXPECT_EQ(parse_number("0,9"), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Locales, InALocale, testing::Values("C", "de_DE.UTF-8", "fr_FR.UTF-8"));

TEST(NumberText, NamesNonFiniteValues) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(exact(kInfinity), "inf");
  EXPECT_EQ(fixed_text(-kInfinity, 2), "-inf");
  EXPECT_EQ(rounded_text(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(NumberText, ExactReadsBack) {
  for (const double value : {0.1, 1.0 / 3, 5e-324, std::numeric_limits<double>::max(), -0.0}) {
    EXPECT_EQ(parse_number(exact(value)), value);
    EXPECT_FALSE(fixed_text(value, 17).empty());
  }
}

TEST(NumberText, RefusesAnythingElseThanANumber) {
  for (const char* text : {"", " 1", "1 ", "1x", "+1", "0x10", "one", "1e999"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
    EXPECT_EQ(parse_whole(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_whole("-12"), -12);
  EXPECT_EQ(parse_whole("1.0"), std::nullopt);
  EXPECT_EQ(parse_whole("9223372036854775808"), std::nullopt);
}

}  // namespace
}  // namespace attnscope
