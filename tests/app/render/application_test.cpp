// Numbers have a decimal point in every language. Run the test also with LC_ALL=de_DE.UTF-8.
#include "app/render/application.h"

#include <QLocale>
#include <clocale>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

namespace attnscope {
namespace {

TEST(Application, LeavesNumbersAlone) {
  const std::unique_ptr<Application> application = drawing_application();
  EXPECT_STREQ(std::setlocale(LC_NUMERIC, nullptr), "C");
  EXPECT_EQ(std::to_string(0.5), "0.500000");
  EXPECT_EQ(QLocale().toString(1234.5), "1234.5");
  EXPECT_EQ(QLocale().toString(1234567), "1234567");
  // If LC_ALL is set, that locale must be installed; otherwise this test would prove nothing.
  if (const char* const asked = std::getenv("LC_ALL"); asked != nullptr && *asked != '\0') {
    EXPECT_STREQ(std::setlocale(LC_TIME, nullptr), asked);
  }
}

}  // namespace
}  // namespace attnscope
