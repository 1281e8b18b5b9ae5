// Tokenizers that need far more work than their files and texts suggest, and large ones that do
// not.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "core/error.h"
#include "core/tokenizer/prefix_table.h"
#include "core/tokenizer/sentence_piece.h"
#include "core/tokenizer/split_pattern.h"
#include "core/tokenizer/tokenizer.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using nlohmann::json;

/// A tokenizer of the words "a" and "b" in which `changes` replaces members.
json small(json changes) {
  json object = {{"version", "1.0"},
                 {"added_tokens", json::array()},
                 {"normalizer", nullptr},
                 {"pre_tokenizer", {{"type", "Whitespace"}}},
                 {"post_processor", nullptr},
                 {"decoder", nullptr},
                 {"model",
                  {{"type", "WordLevel"},
                   {"vocab", {{"[UNK]", 0}, {"a", 1}, {"b", 2}}},
                   {"unk_token", "[UNK]"}}}};
  object.update(changes);
  return json::parse(object.dump());  // numbers are unsigned, like after reading a file
}

json replace_all(const char* kind, const std::string& pattern, const std::string& content) {
  return {{"type", "Replace"}, {"pattern", {{kind, pattern}}}, {"content", content}};
}

/// A sequence of thirty stages, each of which doubles the text.
json doublings(const char* list) {
  return {{"type", "Sequence"}, {list, json(30, replace_all("String", "a", "aa"))}};
}

TEST(HostileTokenizer, ANormalizerThatDoublesIsStopped) {
  const auto tokenizer = tokenizer_of_json(small({{"normalizer", doublings("normalizers")}}));
  EXPECT_EQ(tokenizer->encode("b"), std::vector<std::int64_t>{2});
  expect_refusal([&] { return tokenizer->encode("b a"); }, ErrorKind::unsupported,
                 "]: splitting the text into tokens takes too much work or memory", "");
  EXPECT_NE(error_of([&] { return tokenizer->encode("a"); }).find("normalizer.normalizers["),
            std::string::npos);
}

TEST(HostileTokenizer, ADecoderThatDoublesIsStopped) {
  const auto tokenizer = tokenizer_of_json(small({{"decoder", doublings("decoders")}}));
  EXPECT_EQ(tokenizer->text_of(2), "b");
  const std::string line = error_of([&] { return tokenizer->text_of(1); });
  EXPECT_NE(line.find("decoder.decoders["), std::string::npos) << line;
  EXPECT_NE(line.find("showing a token takes too much work or memory"), std::string::npos) << line;
}

TEST(HostileTokenizer, AnAddedTokenThatGrowsIsStopped) {
  const json token = {{"id", 1}, {"content", "a"}, {"normalized", true}};
  expect_refusal(
      [&] {
        return tokenizer_of_json(
            small({{"normalizer", doublings("normalizers")}, {"added_tokens", {token}}}));
      },
      ErrorKind::unsupported, "opening the tokenizer takes too much work or memory", "");
}

TEST(HostileTokenizer, ATemplateOfManyLongTokensIsRefused) {
  json ids = json::array();
  for (int i = 0; i < 50'000; ++i) ids.push_back(1u);
  const json slot = {{"SpecialToken", {{"id", "x"}, {"type_id", 0u}}}};
  const auto of_slots = [&](std::size_t count) {
    return small({{"post_processor",
                   {{"type", "TemplateProcessing"},
                    {"single", json(count, slot)},
                    {"pair", json(1, slot)},
                    {"special_tokens", {{"x", {{"id", "x"}, {"ids", ids}, {"tokens", {"x"}}}}}}}}});
  };
  expect_refusal([&] { return tokenizer_of_json(of_slots(1000)); }, ErrorKind::unsupported,
                 "post_processor: opening the tokenizer takes too much", "");
  const auto few = tokenizer_of_json(of_slots(3));
  expect_refusal([&] { return few->encode("a"); }, ErrorKind::unsupported,
                 "post_processor: splitting the text into tokens takes too much", "");
}

TEST(HostileTokenizer, AnExpressionThatTakesManyStepsIsStopped) {
  // The text ends in the last character of the expressions. Without it, the search would end at
  // once.
  const std::string text = std::string(4'800, 'a') + '\0';
  for (const char* const pattern : {R"((?:(?:.|.){17}\x{0})|.)", R"((?:.|.){17}\x{0})"}) {
    const auto tokenizer =
        tokenizer_of_json(small({{"normalizer", replace_all("Regex", pattern, "a")}}));
    expect_refusal([&] { return tokenizer->encode(text); }, ErrorKind::unsupported,
                   "normalizer: splitting the text into tokens takes too much", "");
  }
}

TEST(HostileTokenizer, PlacesThatTakeMoreStepsAreMatchedAsOthers) {
  // Each 'a' is tried in 2^k ways before its position fails, and a small number of steps is enough
  // for none of them.
  const SplitPattern pattern = SplitPattern::regular_expression(R"((?:a|a){10}c|ab)");
  const std::string text = "xaaaaaaaaaaab aaaaaaaaaaaac ab";
  std::vector<std::string> found;
  for (const SplitPattern::Part& part : pattern.parts(text)) {
    if (part.matches) found.push_back(text.substr(part.begin, part.end - part.begin));
  }
  EXPECT_EQ(found, (std::vector<std::string>{"ab", "aaaaaaaaaac", "ab"}));
}

TEST(HostileTokenizer, ReadsLongRunsOfSpaces) {
  const auto tokenizer = tokenizer_of_json(
      small({{"pre_tokenizer",
              {{"type", "Split"},
               {"pattern",
                {{"Regex", R"('s|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|\s*[\r\n]+|\s+(?!\S)|\s+)"}}},
               {"behavior", "Isolated"},
               {"invert", false}}}}));
  std::string text;
  for (int line = 0; line < 300; ++line) text += std::string(3'000, ' ') + "a\n";
  EXPECT_EQ(tokenizer->encode(text).size(), 900U);
}

TEST(HostileTokenizer, MarksWithoutEndAreStopped) {
  const auto tokenizer = tokenizer_of_json(small({{"normalizer", {{"type", "NFC"}}}}));
  std::string marks = "a";
  for (int i = 0; i < 20; ++i) marks += "\u0301\u0323";
  EXPECT_EQ(tokenizer->encode(marks).size(), 1U);
  for (int i = 0; i < 20'000; ++i) marks += "\u0301\u0323";
  expect_refusal([&] { return tokenizer->encode(marks); }, ErrorKind::unsupported,
                 "normalizer: splitting the text into tokens takes too much", "");
}

TEST(HostileTokenizer, RefusesAnIdFarBeyondTheOthers) {
  json object = small(json::object());
  object["model"]["vocab"]["c"] = (1u << 24) - 1;
  expect_refusal([&] { return tokenizer_of_json(object); }, ErrorKind::unsupported,
                 "model: opening the tokenizer takes too much", "");
}

TEST(HostileTokenizer, ManyAddedTokensAreLookedForAtOnce) {
  json added = json::array();
  constexpr std::uint64_t count = 60'000;
  for (std::uint64_t i = 0; i < count; ++i) {
    added.push_back(
        {{"id", i + 3}, {"content", "<x" + std::to_string(i) + ">"}, {"normalized", false}});
  }
  const auto tokenizer = tokenizer_of_json(small({{"added_tokens", added}}));
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "<x";
  EXPECT_EQ(tokenizer->encode(text + "<x59999>").back(), 60'002);
}

TEST(PrefixTable, FindsTheLongestBeginning) {
  const PrefixTable table({"a", "", "abc", "ab\xFF", "b", "abc"});
  const auto found = [&](std::string_view text) {
    const auto one = table.longest(text);
    return one ? std::pair(one->place, one->length) : std::pair<std::size_t, std::size_t>(99, 0);
  };
  EXPECT_EQ(found("abcd"), std::pair(std::size_t{2}, std::size_t{3}));
  EXPECT_EQ(found("abd"), std::pair(std::size_t{0}, std::size_t{1}));
  EXPECT_EQ(found("ab\xFF"), std::pair(std::size_t{3}, std::size_t{3}));
  EXPECT_EQ(found("c"), std::pair(std::size_t{99}, std::size_t{0}));
  EXPECT_EQ(found(""), std::pair(std::size_t{99}, std::size_t{0}));
  EXPECT_FALSE(PrefixTable().longest("a"));
}

/// All words of two letters up to the length `longest`: every split of a word is a merge.
ScoredPieces all_words(std::size_t longest) {
  ScoredPieces pieces;
  pieces.texts = {"a", "b"};
  for (std::size_t from = 0, length = 1; length < longest; ++length) {
    const std::size_t end = pieces.texts.size();
    for (; from < end; ++from) {
      const std::string before = pieces.texts[from];
      for (const char* const letter : {"a", "b"}) pieces.texts.push_back(before + letter);
    }
  }
  pieces.scores.assign(pieces.texts.size(), 0);
  pieces.kinds.assign(pieces.texts.size(), PieceKind::normal);
  return pieces;
}

TEST(HostileSentencePiece, MergesOfEveryCutAreRefused) {
  SentencePiece model;
  model.algorithm = SentencePiece::Algorithm::byte_pairs;
  model.pieces = all_words(16);
  expect_refusal([&] { return sentence_piece_stages(model); }, ErrorKind::unsupported,
                 "merges of the pieces: opening the tokenizer takes too much", "");
}

TEST(HostileSentencePiece, PiecesOfNothingAreRefused) {
  const TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; i < 1'000'000; ++i) bytes.append("\x0A\x00", 2);
  const auto file = folder.write("empty.model", bytes);
  expect_refusal([&] { return read_sentence_piece(file); }, ErrorKind::unsupported,
                 "pieces: opening the tokenizer takes too much", "");
}

/// `count` merges, made like in training: each joins two earlier pieces.
std::vector<std::pair<std::string, std::string>> many_merges(std::size_t count) {
  std::vector<std::string> texts;
  for (char c = 'a'; c <= 'z'; ++c) texts.emplace_back(1, c);
  std::set<std::string> known(texts.begin(), texts.end());
  std::vector<std::pair<std::string, std::string>> merges;
  std::mt19937 random(1);
  while (merges.size() < count) {
    // Short pieces are chosen more often.
    const auto any = [&]() -> const std::string& {
      return texts[random() % (1 + random() % texts.size())];
    };
    std::string left = any(), right = any();
    if (left.size() + right.size() > 16 || !known.insert(left + right).second) continue;
    texts.push_back(left + right);
    merges.emplace_back(std::move(left), std::move(right));
  }
  return merges;
}

TEST(LargeTokenizer, SentencePiecesOfFourMegabytesAreFine) {
  SentencePiece model;
  model.algorithm = SentencePiece::Algorithm::byte_pairs;
  for (char c = 'a'; c <= 'z'; ++c) model.pieces.texts.emplace_back(1, c);
  for (const auto& [left, right] : many_merges(256'000)) model.pieces.texts.push_back(left + right);
  model.pieces.texts.emplace_back("▁");
  for (std::size_t i = 0; i < model.pieces.texts.size(); ++i) {
    model.pieces.scores.push_back(-static_cast<double>(i));
  }
  model.pieces.kinds.assign(model.pieces.texts.size(), PieceKind::normal);
  const auto tokenizer = make_tokenizer(sentence_piece_stages(model));
  std::string text;
  for (int i = 0; i < 2'000; ++i) text += "the quick brown fox jumps over the lazy dog ";
  EXPECT_GT(tokenizer->encode(text).size(), 5'000U);
}

TEST(LargeTokenizer, AJsonOfSeventeenMegabytesIsFine) {
  json vocabulary = json::object(), merges = json::array(), added = json::array();
  std::uint64_t id = 0;
  for (char c = 'a'; c <= 'z'; ++c) vocabulary[std::string(1, c)] = id++;
  for (const auto& [left, right] : many_merges(256'000)) {
    vocabulary[left + right] = id++;
    merges.push_back(json::array({left, right}));
  }
  for (int i = 0; i < 7'000; ++i) {
    added.push_back(
        {{"id", id++}, {"content", "<unused" + std::to_string(i) + ">"}, {"special", true}});
  }
  const auto tokenizer = tokenizer_of_json(small(
      {{"added_tokens", added},
       {"normalizer",
        {{"type", "Sequence"}, {"normalizers", {{{"type", "NFKC"}}, {{"type", "Lowercase"}}}}}},
       {"decoder", replace_all("String", "q", " ")},
       {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", merges}}}}));
  std::string text;
  for (int i = 0; i < 2'000; ++i) text += "The quick brown fox jumps over the lazy dog ";
  const std::vector<std::int64_t> ids = tokenizer->encode(text + "<unused6999>");
  EXPECT_EQ(ids.back(), static_cast<std::int64_t>(id - 1));
  std::string said;
  for (const std::int64_t one : ids) said += tokenizer->text_of(one);
  EXPECT_EQ(said.substr(0, 8), "the uick") << "q is shown as a space; words have none between";
}

}  // namespace
}  // namespace attnscope
