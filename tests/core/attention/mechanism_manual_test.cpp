#include "core/attention/mechanism_manual.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "core/attention/mechanism.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

std::string manual_text(const std::string& file) {
  std::ifstream stream(source_folder() + "/" + file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

TEST(MechanismManual, HasEveryMechanismSettingAndTensor) {
  const std::string manual = mechanisms_as_markdown() + mechanism_settings_as_markdown();
  for (const MechanismEntry& entry : mechanisms()) {
    EXPECT_THAT(manual, testing::HasSubstr("| `" + std::string(entry.name) + "` | "));
    for (const ParameterDescription& parameter : entry.parameters) {
      EXPECT_THAT(manual, testing::HasSubstr(range_of(parameter)));
      EXPECT_THAT(manual, testing::HasSubstr(parameter.explanation));
    }
    for (const TensorDescription& tensor : entry.tensors) {
      EXPECT_THAT(manual, testing::HasSubstr(std::string(tensor.explanation)));
    }
  }
}

TEST(MechanismManual, ItsTablesHaveAsManyColumnsAsTheirHeads) {
  std::istringstream lines(mechanisms_as_markdown() + "\n" + mechanism_settings_as_markdown());
  std::ptrdiff_t columns = 0, rows = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::ptrdiff_t bars = std::ranges::count(line, '|');
    if (bars == 0) columns = 0;
    if (columns == 0) columns = bars;
    EXPECT_EQ(bars, columns) << line;
    if (bars > 2) ++rows;
  }
  EXPECT_GT(rows, std::ssize(mechanisms())) << "a head and a row of each";
}

TEST(MechanismManual, ThePageHasPlaceholdersForTheTables) {
  const std::string page = manual_text("assets/manual/mechanisms.md");
  EXPECT_THAT(page, testing::HasSubstr("\n{{mechanisms}}\n"));
  EXPECT_THAT(page, testing::HasSubstr("\n{{mechanism settings}}\n"));
}

TEST(MechanismManual, TheExampleOfANewMechanismIsItsCode) {
  const std::string page = manual_text("docs/adding-a-mechanism.md");
  for (const char* const file :
       {"core/attention/softmax_sink.cpp", "tests/support/naive_softmax_sink.cpp"}) {
    const std::string code = "```cpp\n" + manual_text(file) + "```\n";
    EXPECT_NE(page.find(code), std::string::npos) << file << " changed: copy it into the page";
  }
}

TEST(MechanismManual, TheReadmeNamesEveryMechanism) {
  std::string readme = manual_text("README.md");
  std::ranges::transform(readme, readme.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const MechanismEntry& entry : mechanisms()) {
    std::string name(entry.name.substr(0, entry.name.find('-')));
    if (name == "hash") name = "hashed";
    EXPECT_THAT(readme, testing::HasSubstr(name));
  }
}

}  // namespace
}  // namespace attnscope
