// Texts to tokens and back, and GPT-2's byte pairs compared with Python's
// (tests/data/language/make_reference.py).
#include "core/tokenizer/vocabulary.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/architecture/configuration/tokenizer_file.h"
#include "core/attention/token_layout.h"
#include "core/error.h"
#include "core/tokenizer/byte_pairs.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

TEST(BytePairs, AreThoseOfPython) {
  const auto vocabulary = read_byte_pairs(test_data("language/byte_pairs"), 1000);
  const nlohmann::json examples = read_test_data("language/byte_pairs/expected.json");
  ASSERT_GE(examples.size(), 10U);
  for (const auto& example : examples) {
    const std::string text = example.at("text");
    const std::vector<std::int64_t> ids = vocabulary->encode(text);
    EXPECT_EQ(ids, example.at("ids").get<std::vector<std::int64_t>>()) << text;
    std::string back;
    for (const std::int64_t id : ids) back += vocabulary->text_of(id);
    EXPECT_EQ(back, text);
  }
}

TEST(BytePairs, DamagedFilesAreNamed) {
  const TemporaryFolder folder;
  using Kind = TokenizerFile::Kind;
  EXPECT_EQ(find_tokenizer_file(folder.path()).kind, Kind::none);
  (void)folder.write("vocab.json", R"({"a": 0, "b": 7})");
  (void)folder.write("merges.txt", "#version: 0.2\na b\n");
  EXPECT_EQ(find_tokenizer_file(folder.path()).kind, Kind::byte_pairs);
  expect_refusal([&] { return read_byte_pairs(folder.path(), 5); }, ErrorKind::damaged, "0 to 4",
                 "vocab.json");
  (void)folder.write("merges.txt", "a b c\n");
  expect_refusal([&] { return read_byte_pairs(folder.path(), 8); }, ErrorKind::damaged, "line 1",
                 "merges.txt");
  (void)folder.write("merges.txt", "");
  const auto vocabulary = read_byte_pairs(folder.path(), 8);
  EXPECT_EQ(vocabulary->encode("ab"), (std::vector<std::int64_t>{0, 7}));
  EXPECT_NE(error_of([&] { return vocabulary->encode("abc"); }).find("'c'"), std::string::npos);
  EXPECT_NE(error_of([&] { return vocabulary->encode("\xff"); }).find("UTF-8"), std::string::npos);
}

ModelSpec tokenizer_spec(Tokenizer tokenizer, std::vector<std::string> labels,
                         std::int64_t vocabulary) {
  ModelSpec spec;
  spec.input.kind = InputKind::tokens;
  spec.readout.kind = Readout::next_token;
  spec.input.tokenizer = tokenizer;
  spec.labels = std::move(labels);
  spec.input.vocabulary = vocabulary;
  spec.input.context = 6;
  return spec;
}

TEST(Vocabulary, NamesMissingCharactersAndTheirPlace) {
  const ModelSpec spec = tokenizer_spec(Tokenizer::characters, {"\n", " ", "a", "ö"}, 4);
  const auto vocabulary = make_vocabulary(spec, {});
  EXPECT_EQ(tokenize({"ö a\n", {}}, spec, *vocabulary).ids,
            (std::vector<std::int64_t>{3, 1, 2, 0}));
  const std::string line = error_of([&] { return tokenize({"a\naé", {}}, spec, *vocabulary); });
  EXPECT_NE(line.find("U+00E9 'é' in line 2, column 2"), std::string::npos) << line;
  EXPECT_NE(error_of([&] {
              return tokenize({"a\xc3", {}}, spec, *vocabulary);
            }).find("UTF-8"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              return tokenize({"aaaaaaa", {}}, spec, *vocabulary);
            }).find("at most 6"),
            std::string::npos);
  EXPECT_EQ(tokenize({"aaaaaaa", {}}, spec, *vocabulary, true).ids.size(), 7U);
}

TEST(Vocabulary, HandlesBytesAndIds) {
  const ModelSpec bytes = tokenizer_spec(Tokenizer::bytes, {}, 258);
  const auto vocabulary = make_vocabulary(bytes, {});
  const TokenizedText text = tokenize({"ö!", {}}, bytes, *vocabulary);
  EXPECT_EQ(text.ids, (std::vector<std::int64_t>{0xC3, 0xB6, 33}));
  EXPECT_EQ(text.texts, (std::vector<std::string>{"\xC3", "\xB6", "!"}));
  EXPECT_EQ(vocabulary->text_of(257), "<257>");
  const ModelSpec ids = tokenizer_spec(Tokenizer::ids, {}, 3);
  EXPECT_NE(error_of([&] {
              return tokenize({{}, {0, 3}}, ids, *make_vocabulary(ids, {}));
            }).find("token 1"),
            std::string::npos);
}

TEST(VisibleText, ShowsSpacesLinesAndBrokenBytes) {
  EXPECT_EQ(visible_text(" be\n"), "␣be↵");
  EXPECT_EQ(visible_text("\xC3"), "\\xC3");
  EXPECT_EQ(visible_text("ö\t"), "ö⇥");
}

}  // namespace
}  // namespace attnscope
