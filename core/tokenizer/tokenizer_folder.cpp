// The tokenizer that lies beside a model, from whichever files there are.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file/read_file.h"
#include "core/tokenizer/byte_pairs.h"
#include "core/tokenizer/stage_fields.h"
#include "core/tokenizer/tokenizer.h"

namespace attnscope {

namespace {

using Path = std::filesystem::path;
using nlohmann::json;

constexpr std::size_t kLargest = std::size_t{256} << 20;  // bytes

json read_if_there(const Path& path) {
  return exists(path) ? read_json_file(path, kLargest, {64, 8'000'000}) : json::object();
}

/// What the files beside a vocabulary say of it.
struct Neighbours {
  json config;                               // tokenizer_config.json
  std::map<std::int64_t, AddedToken> added;  // by number
  Path path;                                 // of the configuration

  [[nodiscard]] std::string text(const std::string& key, const std::string& if_missing) const {
    const auto found = config.find(key);
    if (found == config.end() || found->is_null()) return if_missing;
    if (found->is_string()) return found->get<std::string>();
    if (found->is_object() && found->contains("content") && (*found)["content"].is_string()) {
      return (*found)["content"].get<std::string>();
    }
    throw refused(key, "a text");
  }

  [[nodiscard]] bool flag(const std::string& key, bool if_missing) const {
    const auto found = config.find(key);
    if (found == config.end() || found->is_null()) return if_missing;
    if (!found->is_boolean()) throw refused(key, "true or false");
    return found->get<bool>();
  }

  [[nodiscard]] Error refused(const std::string& key, const std::string& expected) const {
    return Error(ErrorKind::unsupported, "the tokenizer's setting is not supported")
        .in_file(path)
        .about(key)
        .expected(expected)
        .found(config.value(key, json()).dump(-1, ' ', true).substr(0, 80))
        .remedy("put the model's tokenizer.json beside it");
  }
};

Neighbours read_neighbours(const Path& folder) {
  Neighbours result;
  result.path = folder / "tokenizer_config.json";
  result.config = read_if_there(result.path);
  if (!result.config.is_object()) {
    throw Error(ErrorKind::damaged, "is no JSON object").in_file(result.path);
  }
  const json numbers = read_if_there(folder / "added_tokens.json");
  for (const auto& [text, id] : numbers.items()) {
    if (!id.is_number_unsigned()) {
      throw Error(ErrorKind::damaged, "tokens must have whole numbers")
          .in_file(folder / "added_tokens.json")
          .about(text);
    }
    AddedToken token;
    token.id = id.get<std::int64_t>();
    token.content = text;
    result.added[token.id] = token;
  }
  const json described = result.config.value("added_tokens_decoder", json::object());
  for (const auto& [id, item] : described.items()) {
    json numbered = item;
    if (!numbered.is_object() || id.empty() ||
        id.find_first_not_of("0123456789") != std::string::npos || id.size() > 8) {
      throw result.refused("added_tokens_decoder", "tokens by number");
    }
    StageFields fields(numbered, "added_tokens_decoder");
    AddedToken token;
    token.id = std::stoll(id);
    token.content = fields.text("content");
    token.single_word = fields.flag("single_word", false);
    token.lstrip = fields.flag("lstrip", false);
    token.rstrip = fields.flag("rstrip", false);
    token.normalized = fields.flag("normalized", false);
    token.special = fields.flag("special", false);
    fields.finish();
    result.added[token.id] = token;
  }
  return result;
}

std::vector<AddedToken> list_of(const std::map<std::int64_t, AddedToken>& tokens) {
  std::vector<AddedToken> list;
  list.reserve(tokens.size());
  for (const auto& [id, token] : tokens) list.push_back(token);
  return list;
}

/// The number of a special token, which is then looked for in texts, too.
std::int64_t special_token(const std::string& text, const TokenTable& table,
                           std::map<std::int64_t, AddedToken>& added, const Path& file) {
  for (auto& [id, token] : added) {
    if (token.content == text) {
      token.special = true;
      return id;
    }
  }
  const auto id = table.find(text);
  if (!id) {
    throw Error(ErrorKind::damaged, "the vocabulary lacks a special token")
        .in_file(file)
        .about(text);
  }
  AddedToken token;
  token.id = *id;
  token.content = text;
  token.special = true;
  added[*id] = token;
  return *id;
}

/// Classes are named with and without "Fast".
std::string class_of(const Neighbours& beside, const std::string& if_missing) {
  std::string name = beside.text("tokenizer_class", if_missing);
  if (name.ends_with("Fast")) name.resize(name.size() - 4);
  return name;
}

[[noreturn]] void refuse_class(const Neighbours& beside, const std::string& known) {
  throw beside.refused("tokenizer_class", known);
}

std::shared_ptr<const Vocabulary> read_word_pieces(const Path& folder) {
  const Path file = folder / "vocab.txt";
  Neighbours beside = read_neighbours(folder);
  const std::string name = class_of(beside, "BertTokenizer");
  constexpr std::array like_bert = {"BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer",
                                    "MobileBertTokenizer", "ConvBertTokenizer"};
  if (std::find(like_bert.begin(), like_bert.end(), name) == like_bert.end()) {
    refuse_class(beside, name_list(like_bert));
  }
  if (!beside.flag("do_basic_tokenize", true)) throw beside.refused("do_basic_tokenize", "true");
  if (beside.config.contains("never_split") && !beside.config["never_split"].is_null()) {
    throw beside.refused("never_split", "nothing");
  }
  TokenTable table;
  const std::vector<std::string> lines = read_lines(file);
  for (std::size_t i = 0; i < lines.size(); ++i) table.add(lines[i], static_cast<std::int64_t>(i));
  const auto special = [&](const std::string& key, const std::string& usual) {
    return special_token(beside.text(key, usual), table, beside.added, file);
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
  stages.added = list_of(beside.added);
  return make_tokenizer(std::move(stages));
}

/// GPT-2's and RoBERTa's; others with such files differ in their words and are refused by name.
std::shared_ptr<const Vocabulary> read_byte_pair_files(const Path& folder) {
  const Path file = folder / "vocab.json";
  Neighbours beside = read_neighbours(folder);
  const std::string name = class_of(beside, "GPT2Tokenizer");
  const bool roberta = name == "RobertaTokenizer" || name == "BartTokenizer";
  if (!roberta && name != "GPT2Tokenizer") {
    refuse_class(beside, "GPT2Tokenizer, RobertaTokenizer, BartTokenizer");
  }
  TokenTable table = read_token_table(file);
  const std::vector<std::string> keys =
      roberta ? std::vector<std::string>{"bos_token", "eos_token", "unk_token", "pad_token"}
              : std::vector<std::string>{"bos_token", "eos_token", "unk_token"};
  const std::map<std::string, std::string> usual =
      roberta ? std::map<std::string, std::string>{{"bos_token", "<s>"},
                                                   {"eos_token", "</s>"},
                                                   {"unk_token", "<unk>"},
                                                   {"pad_token", "<pad>"}}
              : std::map<std::string, std::string>{};
  for (const std::string& key : keys) {
    const auto found = usual.find(key);
    const std::string text =
        beside.text(key, found == usual.end() ? "<|endoftext|>" : found->second);
    if (beside.config.contains(key) || table.find(text)) {
      (void)special_token(text, table, beside.added, file);
    }
  }
  TokenizerStages stages;
  stages.normalizer = make_normalizer(nullptr);
  stages.pre_tokenizer = make_pre_tokenizer(
      {{"type", "ByteLevel"}, {"add_prefix_space", beside.flag("add_prefix_space", false)}});
  stages.decoder = make_decoder({{"type", "ByteLevel"}});
  stages.post_processor = make_post_processor(nullptr);
  if (roberta) {
    const auto id = [&](const char* key, const char* text) {
      return special_token(beside.text(key, text), table, beside.added, file);
    };
    stages.post_processor = roberta_processor(id("cls_token", "<s>"), id("sep_token", "</s>"));
    const std::int64_t mask = id("mask_token", "<mask>");
    beside.added[mask].lstrip = true;  // as its class has it
  } else if (beside.flag("add_bos_token", false)) {
    const std::int64_t bos =
        special_token(beside.text("bos_token", "<|endoftext|>"), table, beside.added, file);
    stages.post_processor = around({bos}, {}, true);
  }
  stages.model = make_byte_pairs(std::move(table), read_merges(folder / "merges.txt"), {});
  stages.added = list_of(beside.added);
  return make_tokenizer(std::move(stages));
}

/// Settings of tokenizer_config.json that old readers laid over tokenizer.json: where they differ
/// from it, nobody can tell which the model was trained with.
void check_against_config(const json& tokenizer, const Neighbours& beside) {
  const auto check = [&](const char* key, const json& stage, const char* type, const char* member) {
    if (!beside.config.contains(key) || beside.config[key].is_null()) return;
    if (!stage.is_object() || stage.value("type", "") != type || !stage.contains(member)) return;
    if (stage[member] != beside.config[key]) {
      throw beside.refused(key, std::string("as tokenizer.json says, ") + stage[member].dump());
    }
  };
  const json normalizer = tokenizer.value("normalizer", json());
  check("do_lower_case", normalizer, "BertNormalizer", "lowercase");
  check("tokenize_chinese_chars", normalizer, "BertNormalizer", "handle_chinese_chars");
  check("add_prefix_space", tokenizer.value("pre_tokenizer", json()), "ByteLevel",
        "add_prefix_space");
}

std::shared_ptr<const Vocabulary> read_json(const Path& folder) {
  const json object = read_json_file(folder / "tokenizer.json", kLargest, {64, 8'000'000});
  if (object.is_object()) check_against_config(object, read_neighbours(folder));
  return tokenizer_of_json(object);
}

std::shared_ptr<const Vocabulary> with_file(const Path& file, const auto& read) {
  try {
    return read();
  } catch (Error& error) {
    if (error.file().empty()) error.in_file(file);
    throw;
  }
}

}  // namespace

std::shared_ptr<const Vocabulary> read_tokenizer(const Path& folder) {
  if (exists(folder / "tokenizer.json")) {
    return with_file(folder / "tokenizer.json", [&] { return read_json(folder); });
  }
  if (exists(folder / "vocab.txt")) {
    return with_file(folder / "vocab.txt", [&] { return read_word_pieces(folder); });
  }
  if (exists(folder / "vocab.json") && exists(folder / "merges.txt")) {
    return with_file(folder / "vocab.json", [&] { return read_byte_pair_files(folder); });
  }
  for (const char* const name :
       {"tokenizer.model", "spiece.model", "spm.model", "sentencepiece.bpe.model"}) {
    const Path file = folder / name;
    if (!exists(file)) continue;
    throw Error(ErrorKind::unsupported, "a SentencePiece model alone is not read")
        .in_file(file)
        .remedy("put the model's tokenizer.json beside it");
  }
  return nullptr;
}

}  // namespace attnscope
