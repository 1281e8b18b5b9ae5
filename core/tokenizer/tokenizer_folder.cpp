// Reads the tokenizer in a model's folder from the files that exist.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/architecture/configuration/tokenizer_file.h"
#include "core/error.h"
#include "core/file/read_file.h"
#include "core/tokenizer/byte_pairs.h"
#include "core/tokenizer/canonical_text.h"
#include "core/tokenizer/sentence_piece_folder.h"
#include "core/tokenizer/stage_fields.h"
#include "core/tokenizer/tokenizer.h"
#include "core/tokenizer/tokenizer_neighbours.h"

namespace attnscope {

namespace {

using Path = std::filesystem::path;
using nlohmann::json;

std::shared_ptr<const Vocabulary> read_word_pieces(const Path& folder) {
  const Path file = folder / "vocab.txt";
  TokenizerNeighbours beside = read_tokenizer_neighbours(folder);
  const std::string name = beside.class_name("BertTokenizer");
  constexpr std::array like_bert = {"BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer",
                                    "MobileBertTokenizer", "ConvBertTokenizer"};
  if (std::find(like_bert.begin(), like_bert.end(), name) == like_bert.end()) {
    throw beside.refused("tokenizer_class", name_list(like_bert));
  }
  if (!beside.flag("do_basic_tokenize", true)) throw beside.refused("do_basic_tokenize", "true");
  if (beside.config.contains("never_split") && !beside.config["never_split"].is_null()) {
    throw beside.refused("never_split", "nothing");
  }
  TokenTable table;
  const std::vector<std::string> lines = read_lines(file);
  for (std::size_t i = 0; i < lines.size(); ++i) table.add(lines[i], static_cast<std::int64_t>(i));
  const auto special = [&](const std::string& key, const std::string& usual) {
    return beside.make_special(beside.text(key, usual), table, file);
  };
  TokenizerStages stages;
  BertNormalization settings;
  settings.lowercase = beside.flag("do_lower_case", true);
  settings.strip_accents = beside.flag("strip_accents", settings.lowercase);
  settings.space_chinese = beside.flag("tokenize_chinese_chars", true);
  stages.normalizer = bert_normalizer(settings);
  stages.pre_tokenizer = make_pre_tokenizer({{"type", "BertPreTokenizer"}});
  const std::int64_t cls = special("cls_token", "[CLS]"), sep = special("sep_token", "[SEP]");
  (void)special("unk_token", "[UNK]");
  for (const auto& [key, usual] : {std::pair("pad_token", "[PAD]"), {"mask_token", "[MASK]"}}) {
    const bool there = beside.config.contains(key) || table.find(usual);
    if (there) (void)special(key, usual);
  }
  stages.post_processor = bert_processor(cls, sep);
  WordPieceSettings word_piece;
  word_piece.unknown = beside.text("unk_token", "[UNK]");
  stages.model = make_word_piece(std::move(table), word_piece);
  stages.decoder = make_decoder(nullptr);
  stages.added = beside.added_tokens();
  return make_tokenizer(std::move(stages));
}

/// Default texts of special tokens of the byte-pair classes.
using SpecialTokens = std::map<std::string, std::string>;

const SpecialTokens& usual_tokens(const std::string& name) {
  static const SpecialTokens of_gpt2 = {{"bos_token", "<|endoftext|>"},
                                        {"eos_token", "<|endoftext|>"},
                                        {"unk_token", "<|endoftext|>"}};
  static const SpecialTokens of_roberta = {
      {"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"},  {"pad_token", "<pad>"},
      {"cls_token", "<s>"}, {"sep_token", "</s>"}, {"mask_token", "<mask>"}};
  static const SpecialTokens of_deberta = {{"bos_token", "[CLS]"},  {"eos_token", "[SEP]"},
                                           {"unk_token", "[UNK]"},  {"pad_token", "[PAD]"},
                                           {"cls_token", "[CLS]"},  {"sep_token", "[SEP]"},
                                           {"mask_token", "[MASK]"}};
  return name == "GPT2Tokenizer" ? of_gpt2 : name == "DebertaTokenizer" ? of_deberta : of_roberta;
}

/// Reads byte-pair files of GPT-2, RoBERTa, BART and DeBERTa. Other classes with such files split
/// words differently and are refused.
std::shared_ptr<const Vocabulary> read_byte_pair_files(const Path& folder) {
  constexpr std::array known = {"GPT2Tokenizer", "RobertaTokenizer", "BartTokenizer",
                                "DebertaTokenizer"};
  const Path file = folder / "vocab.json";
  TokenizerNeighbours beside = read_tokenizer_neighbours(folder);
  const std::string of_model = tokenizer_class_of_model(folder);
  const std::string name = beside.class_name(of_model.empty() ? "GPT2Tokenizer" : of_model);
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    if (!beside.config.contains("tokenizer_class")) beside.config["tokenizer_class"] = name;
    throw beside.refused("tokenizer_class", name_list(known));
  }
  TokenTable table = read_token_table(file);
  const SpecialTokens& usual = usual_tokens(name);
  const auto id = [&](const char* key) {
    return beside.make_special(beside.text(key, usual.at(key)), table, file);
  };
  for (const auto& [key, text] : usual) {
    const bool there = beside.config.contains(key) || table.find(beside.text(key, text));
    if (there) (void)id(key.c_str());
  }
  TokenizerStages stages;
  stages.normalizer = make_normalizer(nullptr);
  stages.pre_tokenizer = make_pre_tokenizer(
      {{"type", "ByteLevel"}, {"add_prefix_space", beside.flag("add_prefix_space", false)}});
  stages.decoder = make_decoder({{"type", "ByteLevel"}});
  stages.post_processor = make_post_processor(nullptr);
  if (name != "GPT2Tokenizer") {
    stages.post_processor = name == "DebertaTokenizer"
                                ? bert_processor(id("cls_token"), id("sep_token"))
                                : roberta_processor(id("cls_token"), id("sep_token"));
    beside.added[id("mask_token")].lstrip = true;  // default of the class
  } else if (beside.flag("add_bos_token", false)) {
    stages.post_processor = around({id("bos_token")}, {}, true);
  }
  stages.model = make_byte_pairs(std::move(table), read_merges(folder / "merges.txt"), {});
  stages.added = beside.added_tokens();
  return make_tokenizer(std::move(stages));
}

/// Refuses settings of tokenizer_config.json that contradict tokenizer.json. Old readers preferred
/// them, so the setting used in training is unknown.
void check_against_config(const json& tokenizer, const TokenizerNeighbours& beside) {
  const auto check = [&](const char* key, const json& stage, const char* type, const char* member) {
    if (!beside.config.contains(key) || beside.config[key].is_null()) return;
    if (!stage.is_object() || stage.value("type", "") != type || !stage.contains(member)) return;
    if (stage[member] != beside.config[key]) {
      throw beside.refused(key,
                           std::string("the value in tokenizer.json, ") + stage[member].dump());
    }
  };
  const json normalizer = tokenizer.value("normalizer", json());
  check("do_lower_case", normalizer, "BertNormalizer", "lowercase");
  check("tokenize_chinese_chars", normalizer, "BertNormalizer", "handle_chinese_chars");
  check("add_prefix_space", tokenizer.value("pre_tokenizer", json()), "ByteLevel",
        "add_prefix_space");
}

std::shared_ptr<const Vocabulary> read_json(const Path& folder) {
  const json object =
      read_json_file(folder / "tokenizer.json", largest_tokenizer_file, {64, 8'000'000});
  if (object.is_object()) check_against_config(object, read_tokenizer_neighbours(folder));
  return tokenizer_of_json(object, read_open_clip_cleaning(folder));
}

}  // namespace

std::shared_ptr<const Vocabulary> read_tokenizer(const Path& folder) {
  using Kind = TokenizerFile::Kind;
  const TokenizerFile file = find_tokenizer_file(folder);
  switch (file.kind) {
    case Kind::tokenizer_json:
      return with_file(file.path, [&] { return read_json(folder); });
    case Kind::word_pieces:
      return with_file(file.path, [&] { return read_word_pieces(folder); });
    case Kind::byte_pairs:
      return with_file(file.path, [&] { return read_byte_pair_files(folder); });
    case Kind::sentence_piece:
      return with_file(file.path, [&] { return read_sentence_piece_folder(file.path); });
    case Kind::none:
      break;
  }
  return nullptr;
}

}  // namespace attnscope
