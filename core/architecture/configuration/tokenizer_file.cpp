#include "core/architecture/configuration/tokenizer_file.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/architecture/architecture.h"
#include "core/file/read_file.h"
#include "core/text/json.h"

namespace attnscope {

TokenizerFile find_tokenizer_file(const std::filesystem::path& folder) {
  using Kind = TokenizerFile::Kind;
  constexpr std::pair<std::string_view, Kind> names[] = {
      {"tokenizer.json", Kind::tokenizer_json},
      {"vocab.txt", Kind::word_pieces},
      {"vocab.json", Kind::byte_pairs},
      {"tokenizer.model", Kind::sentence_piece},
      {"spiece.model", Kind::sentence_piece},
      {"spm.model", Kind::sentence_piece},
      {"sentencepiece.bpe.model", Kind::sentence_piece},
  };
  const auto there = [&](std::string_view name) { return is_entry(folder / name); };
  for (const auto& [name, kind] : names) {
    if (!there(name) || (kind == Kind::byte_pairs && !there("merges.txt"))) continue;
    return {kind, folder / name};
  }
  return {};
}

namespace {

using nlohmann::json;

/// JSON object in a file; empty if the file does not exist or contains something else.
json object_in(const std::filesystem::path& file) {
  constexpr std::size_t most = std::size_t{64} << 20;
  if (!is_entry(file)) return json::object();
  json object = read_json_file(file, most);
  return object.is_object() ? object : json::object();
}

/// Text of a token: "</s>", or {"content": "</s>"}; empty for any other form.
std::string content_of(const json& token) {
  const json text = token.is_object() ? token.value("content", json()) : token;
  return text.is_string() ? text.get<std::string>() : std::string();
}

/// Class of tokenizer that transformers uses for models of this model_type whose files do not name
/// one; empty if unknown.
std::string class_of_model_type(const std::string& model_type) {
  static const json names = parse_json(shared_configuration_text()).at("tokenizers");
  return names.value(model_type, std::string());
}

}  // namespace

std::string tokenizer_class_of_model(const std::filesystem::path& folder) {
  const json config = object_in(folder / "config.json");
  const json named = config.value("tokenizer_class", json());
  if (named.is_string()) return named.get<std::string>();
  const json type = config.value("model_type", json());
  return type.is_string() ? class_of_model_type(type.get<std::string>()) : std::string();
}

std::optional<std::int64_t> padding_token(const std::filesystem::path& folder) {
  const json config = object_in(folder / "tokenizer_config.json");
  const std::string padding = content_of(config.value("pad_token", json()));
  const json numbered = config.value("added_tokens_decoder", json::object());
  if (padding.empty() || !numbered.is_object()) return std::nullopt;
  for (const auto& [number, token] : numbered.items()) {
    std::int64_t id = 0;
    const char* const end = number.data() + number.size();
    const auto [stop, problem] = std::from_chars(number.data(), end, id);
    if (problem == std::errc() && stop == end && content_of(token) == padding) return id;
  }
  return std::nullopt;
}

}  // namespace attnscope
