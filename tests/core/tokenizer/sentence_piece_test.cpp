// SentencePiece models compared with SentencePiece itself
// (tests/data/tokenizer/make_sentencepiece.py): as a file, in a folder and in GGUF's lists.
#include "core/tokenizer/sentence_piece.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file/read_file.h"
#include "core/tokenizer/gguf_tokenizer.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using nlohmann::json;

const std::filesystem::path kModels = source_folder() + "/tests/data/tokenizer/sentencepiece";

json saved_pieces(const std::string& name) {
  return read_test_data("tokenizer/sentencepiece/" + name + ".json");
}

json with_first(std::int64_t id, const json& ids) {
  json all = json::array({id});
  all.insert(all.end(), ids.begin(), ids.end());
  return all;
}

class SavedPieces : public testing::TestWithParam<const char*> {};

TEST_P(SavedPieces, GivesTheTokensOfSentencePiece) {
  const json saved = saved_pieces(GetParam());
  const SentencePiece model = read_sentence_piece(kModels / (std::string(GetParam()) + ".model"));
  ASSERT_EQ(model.pieces.texts.size(), saved["pieces"].size());
  for (std::size_t i = 0; i < model.pieces.texts.size(); ++i) {
    EXPECT_EQ(model.pieces.texts[i], saved["pieces"][i][0].get<std::string>());
    EXPECT_EQ(static_cast<int>(model.pieces.kinds[i]), saved["pieces"][i][2]) << i;
  }
  const auto tokenizer = make_tokenizer(sentence_piece_stages(model));
  ASSERT_GE(saved["inputs"].size(), 30U);
  for (const json& input : saved["inputs"]) {
    EXPECT_EQ(json(tokenizer->encode(input["text"])), input["ids"]) << input["text"];
  }
}

INSTANTIATE_TEST_SUITE_P(OfEveryKind, SavedPieces,
                         testing::Values("bpe_bytes", "bpe_rules", "unigram", "unigram_bytes",
                                         "siglip"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST(SentencePieceText, EqualsTheTextOfItsTokens) {
  const auto tokenizer =
      make_tokenizer(sentence_piece_stages(read_sentence_piece(kModels / "bpe_bytes.model")));
  std::string said;
  for (const std::int64_t id : tokenizer->encode("the fox ☃")) said += tokenizer->text_of(id);
  EXPECT_EQ(said, " the fox ☃");
}

TEST(SentencePieceFolder, AddsThePrefixOfItsClass) {
  const TemporaryFolder folder;
  const std::string bytes = read_file(kModels / "bpe_bytes.model", 1 << 20);
  (void)folder.write("tokenizer.model", bytes);
  expect_refusal([&] { return read_tokenizer(folder.path()); }, ErrorKind::unsupported,
                 "tokenizer_class", "tokenizer.model");
  (void)folder.write("tokenizer_config.json", R"({"tokenizer_class": "CamembertTokenizer"})");
  expect_refusal([&] { return read_tokenizer(folder.path()); }, ErrorKind::unsupported,
                 "CamembertTokenizer", "tokenizer_config.json");
  (void)folder.write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer"})");
  const auto tokenizer = read_tokenizer(folder.path());
  const json input = saved_pieces("bpe_bytes")["inputs"][0];
  EXPECT_EQ(json(tokenizer->encode(input["text"])), with_first(1, input["ids"]));
  EXPECT_TRUE(tokenizer->is_special(1));
  EXPECT_FALSE(tokenizer->is_special(3));  // <sep> is defined by the user
  const std::vector<std::int64_t> typed = tokenizer->encode("a</s>b");
  EXPECT_EQ(std::count(typed.begin(), typed.end(), 2), 1);
  (void)folder.write("tokenizer_config.json",
                     R"({"tokenizer_class": "LlamaTokenizerFast", "add_bos_token": false})");
  EXPECT_EQ(json(read_tokenizer(folder.path())->encode(input["text"])), input["ids"]);
}

TEST(SentencePieceFolder, CleansTheTextsOfSiglip) {
  const TemporaryFolder folder;
  (void)folder.write("spiece.model", read_file(kModels / "siglip.model", 1 << 20));
  (void)folder.write("tokenizer_config.json",
                     R"({"tokenizer_class": "SiglipTokenizer", "do_lower_case": true,
                         "sp_model_kwargs": {}, "pad_token": "</s>", "model_max_length": 64})");
  const auto tokenizer = read_tokenizer(folder.path());
  const json saved = read_test_data("tokenizer/sentencepiece/siglip_cleaned.json");
  ASSERT_GE(saved.size(), 30U);
  for (const json& input : saved) {
    EXPECT_EQ(json(tokenizer->encode(input["text"])), input["ids"]) << input["text"];
  }
  EXPECT_TRUE(tokenizer->is_special(2));
  const Encoding placed = tokenizer->encode_texts("A, Fox", nullptr);
  EXPECT_EQ(placed.places.front().begin, 0);
  EXPECT_EQ(placed.places[placed.places.size() - 2].end, 6);
  (void)folder.write("tokenizer_config.json",
                     R"({"tokenizer_class": "SiglipTokenizer", "do_lower_case": false})");
  EXPECT_NE(read_tokenizer(folder.path())->encode("FOX"), tokenizer->encode("FOX"));
  (void)folder.write("tokenizer_config.json",
                     R"({"tokenizer_class": "SiglipTokenizer", "sp_model_kwargs": {"alpha": 1}})");
  expect_refusal([&] { return read_tokenizer(folder.path()); }, ErrorKind::unsupported,
                 "sp_model_kwargs", "tokenizer_config.json");
}

/// A folder with a saved model and its class, and SentencePiece's own results.
class PieceFolder : public testing::Test {
 protected:
  PieceFolder() {
    (void)folder_.write("spiece.model", read_file(kModels / "unigram.model", 1 << 20));
  }

  std::shared_ptr<const Vocabulary> of_class(const std::string& settings) const {
    (void)folder_.write("tokenizer_config.json", "{" + settings + "}");
    return read_tokenizer(folder_.path());
  }

  const TemporaryFolder folder_;
  const json saved_ = saved_pieces("unigram");
  const std::int64_t pieces_ = std::ssize(saved_["pieces"]);
};

// In fairseq's numbering, pieces from the fourth on are one higher, <unk> is 3, and <mask> is the
// last.
TEST_F(PieceFolder, NumbersXlmRsPiecesAsFairseqDoes) {
  const auto tokenizer = of_class(R"("tokenizer_class": "XLMRobertaTokenizerFast")");
  for (const json& input : saved_["inputs"]) {
    json expected = {0};
    for (const std::int64_t id : input["ids"]) expected.push_back(id == 0 ? 3 : id + 1);
    expected.push_back(2);
    EXPECT_EQ(json(tokenizer->encode(input["text"])), expected) << input["text"];
  }
  EXPECT_EQ(tokenizer->encode("the <mask>")[2], pieces_ + 1);
  EXPECT_TRUE(tokenizer->is_special(pieces_ + 1));
  EXPECT_EQ(tokenizer->text_of(3), "<unk>");
  const std::string second = "fox";
  const Encoding pair = tokenizer->encode_texts("the", &second);
  EXPECT_EQ(std::count(pair.ids.begin(), pair.ids.end(), 2), 3);
}

TEST_F(PieceFolder, PutsT5sSentinelsBehindThePieces) {
  (void)folder_.write("config.json", R"({"model_type": "t5"})");
  const auto tokenizer = of_class("");  // the model implies the class
  for (const json& input : saved_["inputs"]) {
    json expected = input["ids"];
    expected.push_back(2);
    EXPECT_EQ(json(tokenizer->encode(input["text"])), expected) << input["text"];
  }
  const std::vector<std::int64_t> filled = tokenizer->encode("the <extra_id_0> fox <extra_id_99>");
  EXPECT_EQ(std::count(filled.begin(), filled.end(), pieces_ + 99), 1);
  EXPECT_EQ(filled[filled.size() - 2], pieces_);
  EXPECT_EQ(of_class(R"("extra_ids": 3)")->encode("<extra_id_0>").front(), pieces_ + 2);
  const std::string second = "fox";
  const Encoding pair = tokenizer->encode_texts("the", &second);
  EXPECT_EQ(std::count(pair.ids.begin(), pair.ids.end(), 2), 2);
  EXPECT_EQ(std::count(pair.types.begin(), pair.types.end(), 1), 0);
  expect_refusal([&] { return of_class(R"("extra_ids": -1)"); }, ErrorKind::unsupported,
                 "extra_ids", "tokenizer_config.json");
  expect_refusal([&] { return of_class(R"("add_prefix_space": false)"); }, ErrorKind::unsupported,
                 "add_prefix_space", "tokenizer_config.json");
}

// Only ALBERT's preprocessing of texts is tested here. Other tests compare the model with
// SentencePiece.
TEST_F(PieceFolder, TakesAccentsAndCaseOfAlbertsTexts) {
  const std::string tokens = R"("tokenizer_class": "AlbertTokenizer", "cls_token": "<s>",
                                "sep_token": "</s>", "mask_token": "<sep>")";
  const auto plain =
      make_tokenizer(sentence_piece_stages(read_sentence_piece(kModels / "unigram.model")));
  const auto around = [&](const char* text) {
    std::vector<std::int64_t> ids = plain->encode(text);
    ids.insert(ids.begin(), 1);
    ids.push_back(2);
    return ids;
  };
  const auto tokenizer = of_class(tokens);
  EXPECT_EQ(tokenizer->encode("THE Quíck ``fóx\'\'  \n jumps "),
            around(R"(the quick "fox" jumps)"));
  EXPECT_EQ(tokenizer->encode("é"), around("e"));
  EXPECT_EQ(of_class(tokens + R"(, "keep_accents": true)")->encode("É"), around("é"));
  EXPECT_EQ(of_class(tokens + R"(, "do_lower_case": false)")->encode("The"), around("The"));
  const std::string second = "fox";
  const Encoding pair = tokenizer->encode_texts("the", &second);
  EXPECT_EQ(pair.types.back(), 1);
  EXPECT_EQ(pair.types.front(), 0);
  expect_refusal([&] { return of_class(R"("tokenizer_class": "AlbertTokenizer")"); },
                 ErrorKind::damaged, "[CLS]", "spiece.model");
}

TEST(OpenClipFolder, CleansTextsAsConfigured) {
  const TemporaryFolder folder;
  // Every character is a token, so that the tokens show the remaining text.
  json pieces;
  for (const char c : std::string("?_abcCDe ,.'<>&-")) pieces[std::string(1, c)] = pieces.size();
  const json words = {{"type", "WordLevel"}, {"vocab", pieces}, {"unk_token", "?"}};
  const json characters = {{"type", "Split"},
                           {"pattern", {{"Regex", "[\\s\\S]"}}},
                           {"behavior", "Isolated"},
                           {"invert", false}};
  (void)folder.write("tokenizer.json",
                     json({{"model", words}, {"pre_tokenizer", characters}}).dump());
  const auto cleaned = [&](const char* more) {
    (void)folder.write("open_clip_config.json",
                       std::string(R"({"model_cfg": {"text_cfg": {)") + more + "}}}");
    std::string text;
    const auto tokenizer = read_tokenizer(folder.path());
    for (const std::int64_t id : tokenizer->encode(" a_b,  C-D’e. ")) {
      text += tokenizer->text_of(id);
    }
    return text;
  };
  EXPECT_EQ(cleaned(""), " a_b,  C-D?e. ");
  EXPECT_EQ(cleaned(R"("hf_tokenizer_name": "x")"), "a_b, C-D'e.");
  EXPECT_EQ(cleaned(R"("hf_tokenizer_name": "x", "tokenizer_kwargs": {"clean": "canonicalize"})"),
            "a b c?e");
  EXPECT_EQ(cleaned(R"("no_causal_mask": true, "pool_type": "last")"), "a b c?e");
  EXPECT_EQ(cleaned(R"("tokenizer_kwargs": {"clean": "lower", "strip_sep_token": false})"),
            "a_b, c-?'e.");
  expect_refusal([&] { return cleaned(R"("tokenizer_kwargs": {"clean": "fully"})"); },
                 ErrorKind::unsupported, "clean", "open_clip_config.json");
  expect_refusal([&] { return cleaned(R"("tokenizer_kwargs": {"strip_sep_token": true})"); },
                 ErrorKind::unsupported, "strip_sep_token", "");
}

TEST(SentencePieceFile, CutOffIsRefusedOrAnotherModel) {
  const TemporaryFolder folder;
  const std::string bytes = read_file(kModels / "unigram.model", 1 << 20);
  std::size_t refused = 0;
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    const auto path = folder.write("cut.model", bytes.substr(0, size));
    try {
      (void)make_tokenizer(sentence_piece_stages(read_sentence_piece(path)))->encode("a fox");
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, bytes.size() / 7 / 2);
  expect_refusal([&] { return read_sentence_piece(folder.write("empty.model", "")); },
                 ErrorKind::damaged, "no pieces", "empty.model");
}

TEST(GgufTokenizer, WithScoresGivesTheTokensOfSentencePiece) {
  const json saved = saved_pieces("bpe_bytes");
  GgufTokenizer data;
  data.model = "llama";
  for (const json& piece : saved["pieces"]) {
    data.tokens.push_back(piece[0]);
    data.scores.push_back(piece[1]);
    data.types.push_back(piece[2]);
  }
  data.bos = 1;
  const auto tokenizer = make_gguf_tokenizer(data);
  for (const json& input : saved["inputs"]) {
    EXPECT_EQ(json(tokenizer->encode(input["text"])), with_first(1, input["ids"])) << input["text"];
  }
  data.scores.pop_back();
  expect_refusal([&] { return make_gguf_tokenizer(data); }, ErrorKind::damaged, "scores", "");
}

}  // namespace
}  // namespace attnscope
