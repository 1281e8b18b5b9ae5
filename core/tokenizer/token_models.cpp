// The list of token models and their common functions.
#include <nlohmann/json.hpp>

#include "core/budget.h"
#include "core/tokenizer/byte_signs.h"
#include "core/tokenizer/stage_fields.h"
#include "core/tokenizer/token_model.h"

namespace attnscope {

namespace {

TokenTable table_in(StageFields& fields) {
  const nlohmann::json& vocabulary = fields.at("vocab");
  if (!vocabulary.is_object()) throw fields.refused("vocab", "tokens with their ids");
  TokenTable table;
  for (const auto& [text, id] : vocabulary.items()) {
    if (!id.is_number_unsigned()) throw fields.refused("vocab", "whole numbers");
    table.add(text, id.get<std::int64_t>());
  }
  return table;
}

/// A merge, given as "a b" or ["a", "b"].
std::pair<std::string, std::string> merge_of(const nlohmann::json& item, StageFields& fields) {
  if (item.is_array() && item.size() == 2 && item[0].is_string() && item[1].is_string()) {
    return {item[0].get<std::string>(), item[1].get<std::string>()};
  }
  const std::string line = item.is_string() ? item.get<std::string>() : std::string();
  const std::size_t space = line.find(' ');
  if (space == std::string::npos || line.find(' ', space + 1) != std::string::npos) {
    throw fields.refused("merges", "pairs").found(item.dump(-1, ' ', true).substr(0, 80));
  }
  return {line.substr(0, space), line.substr(space + 1)};
}

using MadeModel = std::shared_ptr<const TokenModel>;

MadeModel byte_pairs_in(StageFields& fields) {
  BytePairSettings settings;
  settings.unknown = fields.optional_text("unk_token");
  settings.fuse_unknown = fields.flag("fuse_unk", false);
  settings.byte_fallback = fields.flag("byte_fallback", false);
  settings.ignore_merges = fields.flag("ignore_merges", false);
  settings.continuing_prefix = fields.optional_text("continuing_subword_prefix").value_or("");
  settings.end_of_word = fields.optional_text("end_of_word_suffix").value_or("");
  const nlohmann::json* const dropout = fields.find("dropout");
  if (dropout && *dropout != 0.0)
    throw fields.refused("dropout", "null or 0, without random tokens");
  const nlohmann::json& list = fields.at("merges");
  if (!list.is_array()) throw fields.refused("merges", "a list");
  Merges merges;
  merges.reserve(list.size());
  for (const nlohmann::json& item : list) merges.push_back(merge_of(item, fields));
  return make_byte_pairs(table_in(fields), merges, settings);
}

MadeModel word_piece_in(StageFields& fields) {
  WordPieceSettings settings;
  settings.unknown = fields.text("unk_token");
  settings.continuing_prefix = fields.optional_text("continuing_subword_prefix").value_or("##");
  settings.longest_word = fields.whole("max_input_chars_per_word", 100);
  return make_word_piece(table_in(fields), settings);
}

MadeModel unigram_in(StageFields& fields) {
  const nlohmann::json& list = fields.at("vocab");
  if (!list.is_array()) throw fields.refused("vocab", "tokens with their scores");
  ScoredPieces pieces;
  for (const nlohmann::json& item : list) {
    if (!item.is_array() || item.size() != 2 || !item[0].is_string() || !item[1].is_number()) {
      throw fields.refused("vocab", "[token, score]").found(item.dump(-1, ' ', true).substr(0, 80));
    }
    pieces.texts.push_back(item[0].get<std::string>());
    pieces.scores.push_back(item[1].get<double>());
  }
  pieces.kinds.assign(pieces.texts.size(), PieceKind::normal);
  UnigramSettings settings;
  if (fields.find("unk_id")) settings.unknown = fields.whole("unk_id");
  settings.byte_fallback = fields.flag("byte_fallback", false);
  return make_unigram(pieces, settings);
}

class WordLevel final : public TokenModel {
 public:
  WordLevel(TokenTable table, const std::string& unknown)
      : TokenModel(std::move(table)), unknown_(this->table().find(unknown)) {}

  void tokenize(std::string_view word, std::vector<WordToken>& tokens) const override {
    const auto id = table().find(std::string(word));
    if (!id && !unknown_) refuse_unknown(word);
    tokens.push_back({id ? *id : *unknown_, 0, word.size()});
  }

 private:
  std::optional<std::int64_t> unknown_;
};

MadeModel word_level_in(StageFields& fields) {
  const std::string unknown = fields.text("unk_token");
  return std::make_shared<const WordLevel>(table_in(fields), unknown);
}

constexpr StageKind<MadeModel> model_kinds[] = {
    {"BPE", byte_pairs_in},
    {"Unigram", unigram_in},
    {"WordLevel", word_level_in},
    {"WordPiece", word_piece_in},
};

/// Type of a model in an old file without "type", inferred from its members.
std::string_view type_by_members(const nlohmann::json& object) {
  if (object.contains("merges")) return "BPE";
  if (object.contains("unk_id")) return "Unigram";
  return object.contains("continuing_subword_prefix") ? "WordPiece" : "WordLevel";
}

}  // namespace

std::shared_ptr<const TokenModel> make_token_model(const nlohmann::json& object) {
  if (!object.is_object() || object.contains("type"))
    return make_stage(model_kinds, object, "model");
  nlohmann::json named = object;
  named["type"] = type_by_members(object);
  return make_stage(model_kinds, named, "model");
}

void TokenTable::add(const std::string& text, std::int64_t id) {
  constexpr std::int64_t most = std::int64_t{1} << 24;
  if (id < 0 || id >= most) {
    throw Error(ErrorKind::damaged, "the token id is out of range")
        .about(text)
        .found(std::to_string(id));
  }
  ids_[text] = id;
  if (id >= size()) {
    const auto wanted = static_cast<std::size_t>(id) + 1;
    spend_work((wanted - texts_.size()) * sizeof(std::string));
    texts_.resize(wanted);
  }
  texts_[static_cast<std::size_t>(id)] = text;
}

std::optional<std::int64_t> TokenTable::find(const std::string& text) const {
  const auto found = ids_.find(text);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

const std::string& TokenTable::text(std::int64_t id) const {
  static const std::string none;
  return id < 0 || id >= size() ? none : texts_[static_cast<std::size_t>(id)];
}

std::string byte_token(unsigned char byte) {
  constexpr char digits[] = "0123456789ABCDEF";
  return std::string("<0x") + digits[byte >> 4] + digits[byte & 15] + ">";
}

void refuse_unknown(std::string_view part) {
  throw Error(ErrorKind::usage, "the vocabulary has no token for a part of the text")
      .found("'" + bytes_of_signs(part) + "'");
}

}  // namespace attnscope
