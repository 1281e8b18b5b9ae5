// Tokenizers of stages compared with Hugging Face's library
// (tests/data/tokenizer/make_tokenizers.py).
#include "core/tokenizer/tokenizer.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file/read_file.h"
#include "core/tokenizer/charsmap.h"
#include "core/tokenizer/unicode.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using nlohmann::json;

const json& saved(const std::string& name) { return read_test_data("tokenizer/" + name + ".json"); }

std::shared_ptr<const Vocabulary> made(const std::string& name) {
  return tokenizer_of_json(saved(name).at("tokenizer"));
}

class SavedTokenizer : public testing::TestWithParam<const char*> {};

TEST_P(SavedTokenizer, GivesTheTokensOfTheLibrary) {
  const json file = saved(GetParam());
  const auto tokenizer = tokenizer_of_json(file.at("tokenizer"));
  ASSERT_GE(file.at("inputs").size(), 30U);
  for (const json& input : file.at("inputs")) {
    const auto texts = input.at("texts").get<std::vector<std::string>>();
    const Encoding encoding =
        tokenizer->encode_texts(texts.at(0), texts.size() > 1 ? &texts[1] : nullptr);
    EXPECT_EQ(json(encoding.ids), input.at("ids")) << input.at("texts");
    EXPECT_EQ(json(encoding.types), input.at("types")) << input.at("texts");
    for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
      const TokenPlace place = encoding.places[i];
      const std::int8_t source = encoding.sources[i];
      ASSERT_LE(place.begin, place.end);
      ASSERT_LE(place.end, source < 0 ? 0 : texts.at(static_cast<std::size_t>(source)).size());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfEveryKind, SavedTokenizer,
                         testing::Values("albert", "bert_cased", "bert_uncased", "clip", "falcon",
                                         "gemma", "gpt2", "llama2", "llama3", "roberta",
                                         "starcoder", "t5", "words_characters", "words_contiguous",
                                         "words_delimiter", "words_next", "words_previous",
                                         "words_punctuation", "words_removed", "words_whitespace",
                                         "xlm_r"),
                         [](const auto& kind) { return std::string(kind.param); });

/// The texts of all tokens of `text`, concatenated.
std::string texts_of_tokens(const Vocabulary& tokenizer, const std::string& text) {
  std::string all;
  for (const std::int64_t id : tokenizer.encode(text)) all += tokenizer.text_of(id);
  return all;
}

TEST(Tokenizer, TokensHaveTheirTexts) {
  const std::string text = "Hello ö 🥑\n 今日 x";
  EXPECT_EQ(texts_of_tokens(*made("gpt2"), text), text);
  EXPECT_EQ(texts_of_tokens(*made("roberta"), text), "<s> " + text + "</s>");
  EXPECT_EQ(texts_of_tokens(*made("llama2"), text), "<s> " + text);
  EXPECT_EQ(texts_of_tokens(*made("llama2"), "ab \x7f"), "<s> ab \x7f");
  const json pieces = saved("bert_uncased").at("tokenizer").at("model").at("vocab");
  EXPECT_EQ(made("bert_uncased")->text_of(pieces.at("##e")), "##e");
}

TEST(Tokenizer, PlacesAreThoseOfTheBytes) {
  const std::string text = "naïve 👍🏽  ﬁne!";
  for (const char* const name : {"gpt2", "llama2", "xlm_r", "bert_uncased", "albert"}) {
    const Encoding encoding = made(name)->encode_texts(text, nullptr);
    std::vector<bool> covered(text.size());
    for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
      const bool put_in = encoding.sources[i] < 0;
      EXPECT_TRUE(!put_in || encoding.places[i] == TokenPlace{}) << name;
      for (std::size_t b = encoding.places[i].begin; b < encoding.places[i].end; ++b) {
        covered[b] = true;
      }
    }
    for (std::size_t b = 0; b < text.size(); ++b) {
      EXPECT_TRUE(covered[b] || text[b] == ' ') << name << " " << b;
    }
  }
}

TEST(Tokenizer, KnowsItsSpecialTokens) {
  const auto tokenizer = made("bert_uncased");
  const std::string second;
  const Encoding encoding = tokenizer->encode_texts("<mask>", &second);
  EXPECT_TRUE(tokenizer->is_special(encoding.ids.front()));
  EXPECT_TRUE(tokenizer->is_special(encoding.ids.back()));
  EXPECT_EQ(encoding.sources.back(), -1);
  EXPECT_EQ(std::count_if(encoding.ids.begin(), encoding.ids.end(),
                          [&](std::int64_t id) { return tokenizer->is_special(id); }),
            4);
  EXPECT_GT(tokenizer->size(), 100);
}

TEST(Tokenizer, SharesWhiteSpaceWithOneAddedTokenOnly) {
  json changed = saved("words_whitespace").at("tokenizer");
  changed["added_tokens"] = json::parse(R"([{"id": 0, "content": "<unk>", "lstrip": true,
      "rstrip": true, "single_word": false, "normalized": false, "special": false}])");
  const Encoding encoding = tokenizer_of_json(changed)->encode_texts("<unk>  <unk>", nullptr);
  EXPECT_EQ(encoding.ids, (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(encoding.places, (std::vector<TokenPlace>{{0, 7}, {7, 12}}));
}

/// Expects a tokenizer.json with one changed value to be refused.
void refused(const char* pointer, const json& value, ErrorKind kind, const std::string& named) {
  json changed = saved("xlm_r").at("tokenizer");
  changed[json::json_pointer(pointer)] = value;
  expect_refusal([&] { return tokenizer_of_json(changed); }, kind, named, "");
}

TEST(Tokenizer, NamesUnsupportedParts) {
  const auto unsupported = ErrorKind::unsupported;
  const auto damaged = ErrorKind::damaged;
  refused("/model/type", "Neural", unsupported, "Neural");
  refused("/model/extra", 1, unsupported, "model.extra");
  refused("/normalizer", {{"type", "Translit"}}, unsupported, "Translit");
  refused("/normalizer/normalizers/1/pattern", {{"Regex", "[a&&b]"}}, unsupported, "intersection");
  refused("/normalizer/normalizers/1/pattern", {{"Regex", "(?<n>a)"}}, unsupported, "(?<n");
  refused("/normalizer/normalizers/1/pattern", {{"Regex", "a{1,2}+"}}, unsupported, "{n,m}");
  refused("/normalizer/normalizers/1/pattern", {{"Regex", "\\h"}}, unsupported, "\\h");
  refused("/normalizer/normalizers/0/precompiled_charsmap", "AAAA", damaged, "charsmap");
  refused("/normalizer/normalizers/0/precompiled_charsmap", "A", damaged, "base64");
  refused("/pre_tokenizer", {{"type", "UnicodeScripts"}}, unsupported, "UnicodeScripts");
  refused("/pre_tokenizer/pretokenizers/1/prepend_scheme", "last", damaged, "prepend_scheme");
  refused("/post_processor", {{"type", "Magic"}}, unsupported, "Magic");
  refused("/post_processor/single/0/SpecialToken/id", "<x>", damaged, "special_tokens");
  refused("/decoder", {{"type", "Magic"}}, unsupported, "Magic");
  refused("/version", "2.0", damaged, "version");
  refused("/surprise", true, unsupported, "surprise");
  refused("/added_tokens/4/id", 9999U, unsupported, "<mask>");
  refused("/model/vocab/3", {1, 2}, damaged, "score");
  refused("/model/unk_id", 999999U, damaged, "unknown");
}

TEST(Tokenizer, DropoutIsRefused) {
  json changed = saved("gpt2").at("tokenizer");
  changed["model"]["dropout"] = 0.1;
  expect_refusal([&] { return tokenizer_of_json(changed); }, ErrorKind::damaged, "dropout", "");
}

TEST(TokenizerFolder, PrefersTokenizerJson) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_tokenizer(folder.path()), nullptr);
  (void)folder.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nfox\n##es\n!\n");
  EXPECT_EQ(read_tokenizer(folder.path())->encode("FOXES!"),
            (std::vector<std::int64_t>{2, 4, 5, 6, 3}));
  (void)folder.write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(read_tokenizer(folder.path())->encode("FOXES fox"),
            (std::vector<std::int64_t>{2, 1, 4, 3}));
  (void)folder.write("tokenizer_config.json", R"({"tokenizer_class": "BertJapaneseTokenizer"})");
  expect_refusal([&] { return read_tokenizer(folder.path()); }, ErrorKind::unsupported,
                 "BertJapaneseTokenizer", "tokenizer_config.json");
  (void)folder.write("tokenizer.json", saved("bert_uncased").at("tokenizer").dump());
  (void)folder.write("tokenizer_config.json", R"({"do_lower_case": true})");
  const std::string text = "the fox";
  EXPECT_EQ(read_tokenizer(folder.path())->encode(text), made("bert_uncased")->encode(text));
  (void)folder.write("tokenizer_config.json", R"({"do_lower_case": false})");
  expect_refusal([&] { return read_tokenizer(folder.path()); }, ErrorKind::unsupported,
                 "do_lower_case", "tokenizer_config.json");
}

TEST(TokenizerFolder, ReadsResiduesOfProteins) {
  const TemporaryFolder folder;
  (void)folder.write("vocab.txt", "<cls>\n<pad>\n<eos>\n<unk>\nL\nA\nG\nV\n.\n-\n<null_1>\n<mask>");
  (void)folder.write("config.json", R"({"model_type": "esm"})");
  using Ids = std::vector<std::int64_t>;
  const auto ids = [&](const char* text) { return read_tokenizer(folder.path())->encode(text); };
  EXPECT_EQ(ids("LAG V<mask>A<null_1>-."), (Ids{0, 4, 5, 6, 7, 11, 5, 10, 9, 8, 2}));
  // Letters without a token are one unknown token up to the next known one, or a space.
  EXPECT_EQ(ids("LzzA zL z z"), (Ids{0, 4, 3, 5, 3, 4, 3, 3, 2}));
  std::filesystem::remove(folder / "config.json");
  (void)folder.write("tokenizer_config.json", R"({"tokenizer_class": "EsmTokenizer"})");
  EXPECT_EQ(ids("LV"), (Ids{0, 4, 7, 2}));
  (void)folder.write("vocab.txt", "<cls>\n<unk>\nL\n");
  expect_refusal([&] { return read_tokenizer(folder.path()); }, ErrorKind::damaged, "<eos>",
                 "vocab.txt");
}

TEST(TokenizerFolder, ReadsBytePairFiles) {
  const TemporaryFolder folder;
  const json model = saved("roberta").at("tokenizer").at("model");
  (void)folder.write("vocab.json", model.at("vocab").dump());
  std::string merges = "#version: 0.2\n";
  for (const json& merge : model.at("merges")) {
    merges += merge[0].get<std::string>() + " " + merge[1].get<std::string>() + "\n";
  }
  (void)folder.write("merges.txt", merges);
  (void)folder.write("tokenizer_config.json",
                     R"({"tokenizer_class": "RobertaTokenizer", "add_prefix_space": true})");
  const auto read = read_tokenizer(folder.path());
  for (const json& input : saved("roberta").at("inputs")) {
    const auto texts = input.at("texts").get<std::vector<std::string>>();
    const std::string* const second = texts.size() > 1 ? &texts[1] : nullptr;
    EXPECT_EQ(json(read->encode_texts(texts[0], second).ids), input.at("ids")) << texts[0];
  }
  (void)folder.write("tokenizer_config.json", R"({"tokenizer_class": "WhisperTokenizer"})");
  expect_refusal([&] { return read_tokenizer(folder.path()); }, ErrorKind::unsupported,
                 "WhisperTokenizer", "tokenizer_config.json");
  // Without tokenizer_config.json the configuration of the model determines the class.
  std::filesystem::remove(folder / "tokenizer_config.json");
  const auto ids = [&] {
    const std::string second = "fox";
    return read_tokenizer(folder.path())->encode_texts("fox", &second).ids;
  };
  const std::int64_t begin = model.at("vocab").at("<s>"), end = model.at("vocab").at("</s>");
  EXPECT_NE(ids().front(), begin);
  (void)folder.write("config.json", R"({"model_type": "roberta"})");
  const std::vector<std::int64_t> pair = ids();
  EXPECT_EQ(pair.front(), begin);
  EXPECT_EQ(std::count(pair.begin(), pair.end(), end), 3);
  (void)folder.write("config.json", R"({"model_type": "deberta"})");
  expect_refusal([&] { return read_tokenizer(folder.path()); }, ErrorKind::damaged,
                 "lacks a special token", "vocab.json");
  (void)folder.write("config.json", R"({"model_type": "clip"})");
  expect_refusal([&] { return read_tokenizer(folder.path()); }, ErrorKind::unsupported,
                 "CLIPTokenizer", "tokenizer_config.json");
}

TEST(TokenizerFolder, NamesAFolderWithOnlyASentencePieceModel) {
  const TemporaryFolder folder;
  (void)folder.write("spiece.model", "x");
  expect_refusal([&] { return read_tokenizer(folder.path()); }, ErrorKind::unsupported,
                 "tokenizer.json", "spiece.model");  // sentence_piece_test reads valid ones
}

TEST(Charsmap, RefusesIndicesOutsideItsTable) {
  const std::string unit("\xFF\xFF\xFF\x7F", 4);
  const Charsmap map(std::string("\x04\0\0\0", 4) + unit);
  EXPECT_FALSE(map.longest("abc").has_value());
  expect_refusal([] { return Charsmap(std::string("\x08\0\0\0abcd", 8)); }, ErrorKind::damaged,
                 "8 bytes", "");
}

TEST(Charsmap, CutsNoCharacters) {
  // Unit c, which is that of byte c because the root has no offset, leads to unit c ^ 1, which has
  // the text.
  const auto replacing = [](unsigned char c, const std::string& by) {
    std::string bytes = std::string("\0\4\0\0", 4) + std::string(1024, '\0');
    const std::array<char, 4> leads = {static_cast<char>(c), 5, 0, 0}, first = {0, 0, 0, '\x80'};
    std::copy(leads.begin(), leads.end(), bytes.begin() + 4 + 4 * c);
    std::copy(first.begin(), first.end(), bytes.begin() + 4 + 4 * (c ^ 1));
    return Charsmap(bytes + by + '\0');
  };
  EXPECT_EQ(replacing('a', "ä").shortest("ab")->by, "ä");
  expect_refusal([&] { return replacing('a', "\xFF").shortest("ab").has_value(); },
                 ErrorKind::damaged, "an incomplete character", "");
  expect_refusal([&] { return replacing(0xC3, "a").shortest("ä").has_value(); }, ErrorKind::damaged,
                 "an incomplete character", "");
}

TEST(Base64, DecodesValidTexts) {
  EXPECT_EQ(decode_base64("YWJjZA=="), "abcd");
  EXPECT_EQ(decode_base64("YWJj"), "abc");
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_FALSE(decode_base64("YWJ").has_value());
  EXPECT_FALSE(decode_base64("Y*Jj").has_value());
}

TEST(Unicode, LowerCaseIgnoresNeighbours) {
  EXPECT_EQ(lower_case(U'İ'), "i\u0307");
  EXPECT_EQ(lower_case(U'Σ'), "σ");
  EXPECT_EQ(lower_case(U'A'), "a");
}

}  // namespace
}  // namespace attnscope
