#include "core/attention/token_groups.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TokenLayout text_of(std::vector<std::string> texts, std::vector<std::int64_t> special = {}) {
  return {.texts = std::move(texts), .special = std::move(special)};
}

std::vector<std::string> characters(const std::string& text) {
  std::vector<std::string> list;
  for (const char c : text) list.emplace_back(1, c);
  return list;
}

std::vector<std::string> names(const TokenGroups& groups) {
  std::vector<std::string> list;
  for (const TokenGroup& group : groups) list.push_back(group.name);
  return list;
}

TokenGroups groups_of(const TokenLayout& layout, std::string_view written) {
  return token_groups(layout, std::ssize(layout.texts), written);
}

TokenGroups groups_of_grid(std::string_view written) {
  return token_groups({.prefix = 3, .rows = 2, .columns = 4, .registers = 2}, 11, written);
}

TEST(TokenGroups, WordsKeepTheSpaceBeforeThem) {
  const TokenGroups words = groups_of(text_of(characters("To be,\nor ")), "words");
  EXPECT_THAT(names(words), ElementsAre("To", "be,", "or"));
  EXPECT_THAT(words[0].tokens, ElementsAre(0, 1));
  EXPECT_THAT(words[1].tokens, ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(words[2].tokens, ElementsAre(6, 7, 8, 9));
}

TEST(TokenGroups, WordsJoinSubwords) {
  const auto tokens_of_second = [](const TokenLayout& layout) {
    return groups_of(layout, "words").at(1).tokens;
  };
  EXPECT_THAT(tokens_of_second(text_of({"The", " token", "ization", " works"})), ElementsAre(1, 2));
  EXPECT_THAT(tokens_of_second(text_of({"the ", "token", "ization ", "works "})),
              ElementsAre(1, 2));
  const TokenLayout pieces =
      text_of({"[CLS]", "the", "token", "##ization", "works", ".", "[SEP]"}, {0, 6});
  EXPECT_THAT(names(groups_of(pieces, "words")),
              ElementsAre("special tokens", "the", "tokenization", "works."));
  EXPECT_THAT(groups_of(pieces, "words")[0].tokens, ElementsAre(0, 6));
  EXPECT_TRUE(groups_of(pieces, "words")[0].special);
  EXPECT_THAT(error_of([] {
                return groups_of(text_of({"token", "ization"}), "words");
              }),
              HasSubstr("show no ends of words"));
}

TEST(TokenGroups, SentencesEndBeforeWhiteSpace) {
  const std::string text = "It is 3.5 m. \"Is it?\" Yes!\n\nNo end";
  EXPECT_THAT(names(groups_of(text_of(characters(text)), "sentences")),
              ElementsAre("It is 3.5 m.", "\"Is it?\"", "Yes!", "No end"));
  EXPECT_EQ(groups_of(text_of(characters("One \n line.")), "sentences").at(0).name, "One line.");
  // A token may hold the end of one sentence and the white space before the next.
  EXPECT_THAT(groups_of(text_of({"A", ".\n\n", "B", ".", " C"}), "sentences").at(1).tokens,
              ElementsAre(2, 3));
  EXPECT_THAT(names(groups_of(text_of({"你", "好", "。", "再", "见", " "}), "sentences")),
              ElementsAre("你好。", "再见"));
}

TEST(TokenGroups, SentencesOfWordPieceKeepNumbersTogether) {
  const TokenLayout layout =
      text_of({"[CLS]", "3", ".", "5", "m", ".", "so", "[SEP]", "end", ".", "[SEP]"}, {0, 7, 10});
  EXPECT_THAT(names(groups_of(layout, "sentences")),
              ElementsAre("special tokens", "3. 5 m.", "so", "end."));
  EXPECT_THAT(names(groups_of(layout, "parts")),
              ElementsAre("special tokens", "3. 5 m. so", "end."));
}

TEST(TokenGroups, RolesFollowFromTheLayout) {
  const TokenGroups roles = groups_of_grid("roles");
  EXPECT_THAT(names(roles), ElementsAre("class token", "registers", "patches"));
  EXPECT_THAT(roles[1].tokens, ElementsAre(1, 2));
  EXPECT_EQ(roles[2].tokens.size(), 8U);
  EXPECT_THAT(names(groups_of(text_of({"<s>", "a"}, {0}), "roles")),
              ElementsAre("special tokens", "text"));
  EXPECT_EQ(groups_of_grid("auto"), roles);
  EXPECT_THAT(names(groups_of(text_of(characters("A. B")), "auto")), ElementsAre("A.", "B"));
}

TEST(TokenGroups, AreGivenByHandWithRangesRectanglesAndTheRest) {
  const TokenGroups groups = groups_of_grid("a = 0+2-3, \"b, c\"=(0,2)-(1,3), others=rest");
  EXPECT_THAT(names(groups), ElementsAre("a", "b, c", "others"));
  EXPECT_THAT(groups[0].tokens, ElementsAre(0, 2, 3));
  EXPECT_THAT(groups[1].tokens, ElementsAre(5, 6, 9, 10));
  EXPECT_THAT(groups[2].tokens, ElementsAre(1, 4, 7, 8));
  EXPECT_THAT(groups_of_grid("end=8-").at(0).tokens, ElementsAre(8, 9, 10));
  EXPECT_EQ(groups_as_text(groups), "a=0+2-3,\"b, c\"=5-6+9-10,others=1+4+7-8");
  EXPECT_EQ(groups_of_grid(groups_as_text(groups)), groups);
}

TEST(TokenGroups, HaveOneForEachPictureOfAText) {
  TokenLayout layout = text_of({"Is", "p", "p", " like", "p", "p", "p", "p", "?"});
  layout.pictures = {{1, 1, 2}};
  EXPECT_THAT(names(groups_of(layout, "roles")), ElementsAre("picture", "text"));
  layout.pictures.push_back({4, 2, 2});
  const TokenGroups roles = groups_of(layout, "roles");
  EXPECT_THAT(names(roles), ElementsAre("picture 1", "picture 2", "text"));
  EXPECT_THAT(roles[1].tokens, ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(roles[2].tokens, ElementsAre(0, 3, 8));
  const TokenGroups hand = groups_of(layout, "a=(0,0)-(0,1),b=2(0,1)-(1,1)+0,c=rest");
  EXPECT_THAT(hand[0].tokens, ElementsAre(1, 2));
  EXPECT_THAT(hand[1].tokens, ElementsAre(0, 5, 7));
  const Error error = refusal_of([&] { (void)groups_of(layout, "a=3(0,0),b=rest"); });
  EXPECT_THAT(error.what(), HasSubstr("no such picture"));
}

TEST(TokenGroups, AreReadFromAFile) {
  const TemporaryFolder folder;
  const std::string file = (folder / "groups.json").string();
  std::ofstream(file) << R"json({"a": [2, 0], "b": "(0,0)-(0,1)", "c": "rest"})json";
  const TokenGroups groups = groups_of_grid(file);
  EXPECT_THAT(groups.at(0).tokens, ElementsAre(0, 2));
  EXPECT_THAT(groups.at(1).tokens, ElementsAre(3, 4));
  EXPECT_EQ(groups.at(2).tokens.size(), 7U);
  std::ofstream(file) << R"({"a": [11]})";
  EXPECT_THAT(error_of([&] { return groups_of_grid(file); }), HasSubstr("positions below 11"));
}

TEST(TokenGroups, RefusesWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"sentence", "did you mean sentences?"},
      {"words", "only a text has words"},
      {"a=3-5,b=5", "a token is in one group at most"},
      {"a=1,a=2", "a group is given once"},
      {"a=rest,b=rest", "a group is given once"},
      {"a=0-,b=rest", "no token is left"},
      {"a=5-3", "a name and positions"},
      {"a=", "a name and positions"},
      {"=1", "a name and positions"},
      {"\"a=1", "a name and positions"},
      {"a=1;b=2", "a name and positions"},
      {"a=11", "expected below 11, found 11"},
      {"a=(2,0)", "expected below 2, found 2"},
      {"a=99999999999999999999", "a name and positions"}};
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(error_of([&] { return groups_of_grid(text); }), HasSubstr(message)) << text;
  }
  EXPECT_THAT(error_of([] {
                return groups_of(text_of({"a", " b"}), "a=(0,0)");
              }),
              HasSubstr("no grid of patches"));
}

TEST(TokenGroups, AreInOrderIfEachIsBeforeTheNext) {
  EXPECT_TRUE(in_order(groups_of_grid("a=0-2,b=4-5")));
  EXPECT_FALSE(in_order(groups_of_grid("a=0+2,b=1")));
  EXPECT_FALSE(in_order(groups_of_grid("a=4,b=1")));
  EXPECT_TRUE(in_order({{"special tokens", {0, 5}, true}, {"a", {1, 2}}, {"b", {3}}}));
  EXPECT_THAT(group_of_tokens(groups_of_grid("a=0+2,b=1"), 4), ElementsAre(0, 1, 0, -1));
}

}  // namespace
}  // namespace attnscope
