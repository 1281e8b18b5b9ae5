#include "core/tokenizer/tokenizer_neighbours.h"

#include <nlohmann/json.hpp>

#include "core/file/read_file.h"
#include "core/tokenizer/stage_fields.h"

namespace attnscope {

namespace {

using Path = std::filesystem::path;
using nlohmann::json;

json read_if_there(const Path& path) {
  return is_entry(path) ? read_json_file(path, largest_tokenizer_file, {64, 8'000'000})
                        : json::object();
}

}  // namespace

std::string TokenizerNeighbours::text(const std::string& key, const std::string& if_missing) const {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return if_missing;
  if (found->is_string()) return found->get<std::string>();
  if (found->is_object() && found->contains("content") && (*found)["content"].is_string()) {
    return (*found)["content"].get<std::string>();
  }
  throw refused(key, "a string");
}

bool TokenizerNeighbours::flag(const std::string& key, bool if_missing) const {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return if_missing;
  if (!found->is_boolean()) throw refused(key, "true or false");
  return found->get<bool>();
}

std::string TokenizerNeighbours::class_name(const std::string& if_missing) const {
  std::string name = text("tokenizer_class", if_missing);
  if (name.ends_with("Fast")) name.resize(name.size() - 4);
  return name;
}

Error TokenizerNeighbours::refused(const std::string& key, const std::string& expected) const {
  return Error(ErrorKind::unsupported, "the tokenizer's setting is not supported")
      .in_file(path)
      .about(key)
      .expected(expected)
      .found(config.value(key, json()).dump(-1, ' ', true).substr(0, 80))
      .remedy("put the model's tokenizer.json next to it");
}

std::int64_t TokenizerNeighbours::make_special(const std::string& text, const TokenTable& table,
                                               const Path& file) {
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

std::vector<AddedToken> TokenizerNeighbours::added_tokens() const {
  std::vector<AddedToken> list;
  list.reserve(added.size());
  for (const auto& [id, token] : added) list.push_back(token);
  return list;
}

TokenizerNeighbours read_tokenizer_neighbours(const Path& folder) {
  TokenizerNeighbours result;
  result.path = folder / "tokenizer_config.json";
  result.config = read_if_there(result.path);
  if (!result.config.is_object()) {
    throw Error(ErrorKind::damaged, "is not a JSON object").in_file(result.path);
  }
  const json numbers = read_if_there(folder / "added_tokens.json");
  for (const auto& [text, id] : numbers.items()) {
    if (!id.is_number_unsigned()) {
      throw Error(ErrorKind::damaged, "token ids must be whole numbers")
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
    if (!item.is_object() || id.empty() ||
        id.find_first_not_of("0123456789") != std::string::npos || id.size() > 8) {
      throw result.refused("added_tokens_decoder", "tokens by id");
    }
    StageFields fields(item, "added_tokens_decoder");
    const std::int64_t number = std::stoll(id);
    result.added[number] = read_added_token(fields, number, false);
  }
  return result;
}

}  // namespace attnscope
