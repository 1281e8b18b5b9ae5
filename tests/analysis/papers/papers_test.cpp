#include "analysis/papers/papers.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

TEST(Papers, ShowEachItemOrSayWhyItIsLeftOut) {
  ASSERT_EQ(papers().size(), 5U);
  for (const Paper& paper : papers()) {
    std::set<std::string> places;
    for (const PaperItem& item : paper.items) {
      EXPECT_TRUE(places.insert(item.place).second) << paper.name << ": " << item.place;
      EXPECT_FALSE(item.title.empty()) << item.place;
      EXPECT_FALSE(item.commands.empty() && item.left_out.empty()) << item.place;
      EXPECT_TRUE(!item.in_gallery || item.commands.at(0).starts_with("attnscope figure "))
          << item.place;
      for (const std::string& remark : {item.takes, item.differs, item.left_out, item.found}) {
        EXPECT_FALSE(remark.ends_with(".")) << remark;
      }
    }
  }
  EXPECT_EQ(find_paper("adder-appendix").place, "Adder, appendix ");
  EXPECT_THROW((void)find_paper("adders"), Error);
}

// An unknown key would be ignored silently.
TEST(Papers, HaveOnlyKeysThatAreRead) {
  const std::set<std::string> known = {"place",   "title", "commands", "takes",
                                       "differs", "found", "left_out", "gallery"};
  const std::set<std::string> known_choices = {"family",      "family_title",     "compares",
                                               "input",       "without_subjects", "model",
                                               "most_models", "trained",          "even_layers"};
  for (const auto& file : std::filesystem::directory_iterator(source_folder() + "/assets/papers")) {
    const nlohmann::json json = nlohmann::json::parse(read_bytes(file.path()));
    for (const nlohmann::json& item : json.at("items")) {
      for (const auto& [key, value] : item.items()) EXPECT_TRUE(known.contains(key)) << key;
      if (!item.contains("gallery")) continue;
      for (const auto& [key, value] : item.at("gallery").items()) {
        EXPECT_TRUE(known_choices.contains(key)) << key;
      }
    }
  }
}

TEST(Papers, AreAPageOfTheManual) {
  const std::string page = papers_as_markdown();
  for (const Paper& paper : papers()) {
    EXPECT_NE(page.find("## " + paper.name + "\n\n" + paper.title), std::string::npos);
  }
  EXPECT_NE(page.find("    attnscope energy --paper adder:1\n"), std::string::npos);
  EXPECT_NE(page.find("Measured here: "), std::string::npos);
}

}  // namespace
}  // namespace attnscope
