#include "core/tokenizer/canonical_text.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file/read_file.h"
#include "core/tokenizer/unicode.h"

namespace attnscope {

namespace {

using nlohmann::json;

constexpr std::string_view kSpaceMark = "▁";

/// Python's white space, which includes four control characters.
bool is_python_space(char32_t c) { return is_white_space(c) || (c >= 0x1C && c <= 0x1F); }

bool is_ascii_punctuation(char32_t c) { return c < 128 && is_punctuation(c); }

char32_t plain_quote(char32_t c) {
  if (c == 0x02BC || (c >= 0x2018 && c <= 0x201B)) return '\'';
  return c >= 0x201C && c <= 0x201F ? U'"' : c;
}

/// Applies the per-character steps of the settings.
AlignedText changed(const AlignedText& text, const TextCleaning& settings) {
  AlignedText result;
  for_each_character(text.text(), [&](char32_t c, std::size_t begin, std::size_t end) {
    const std::string_view written = std::string_view(text.text()).substr(begin, end - begin);
    if (settings.spaces.find(written) != std::string::npos) {
      return result.append(" ", text.place(begin, end));
    }
    const char32_t plain = settings.plain_quotes ? plain_quote(c) : c;
    if (settings.without_punctuation && is_ascii_punctuation(plain)) return;
    const std::string by = settings.lower_case ? lower_case(plain) : utf8_of(plain);
    if (by == written) return result.append(text, begin, end);
    result.append(by, text.place(begin, end));
  });
  return result;
}

/// Replaces runs of white space by one space and removes it at both ends.
AlignedText single_spaced(const AlignedText& text) {
  AlignedText result;
  TokenPlace space{0, 0};
  bool waiting = false;
  for_each_character(text.text(), [&](char32_t c, std::size_t begin, std::size_t end) {
    if (is_python_space(c)) {
      const TokenPlace place = text.place(begin, end);
      space = waiting ? TokenPlace{space.begin, place.end} : place;
      waiting = true;
      return;
    }
    if (waiting && !result.empty()) result.append(" ", space);
    waiting = false;
    result.append(text, begin, end);
  });
  return result;
}

json text_tower_of(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "open_clip_config.json";
  constexpr std::size_t most = 1 << 20;
  if (!is_entry(file)) return json::object();
  json tower = read_json_file(file, most);
  for (const char* const key : {"model_cfg", "text_cfg"}) {
    tower = tower.is_object() ? tower.value(key, json::object()) : json::object();
  }
  return tower.is_object() ? tower : json::object();
}

/// Name of the cleaning: "canonicalize", "lower", "whitespace", or empty.
std::string cleaning_of(const json& tower) {
  const json arguments = tower.value("tokenizer_kwargs", json::object());
  std::string cleaning;
  if (!arguments.is_object() && !arguments.is_null()) {
    throw Error(ErrorKind::damaged, "the tokenizer's settings are not a JSON object")
        .about("model_cfg.text_cfg.tokenizer_kwargs");
  }
  for (const auto& [key, value] : arguments.items()) {
    const bool nothing = value.is_null() || value == false;
    if (key == "clean" && value.is_string()) {
      cleaning = value.get<std::string>();
    } else if (!nothing) {
      throw Error(ErrorKind::unsupported, "the tokenizer's setting is not supported")
          .about("model_cfg.text_cfg.tokenizer_kwargs." + key)
          .expected("only clean")
          .found(value.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 80));
    }
  }
  if (!cleaning.empty()) return cleaning;
  // Older SigLIP configurations do not name their tokenizer and are recognised by their tower.
  const bool siglip =
      tower.value("no_causal_mask", json()) == true && tower.value("pool_type", json()) == "last";
  if (tower.value("hf_tokenizer_name", json()).is_string()) return "whitespace";
  return siglip ? "canonicalize" : "";
}

}  // namespace

Normalizer clean_text(const TextCleaning& settings) {
  return [settings](const AlignedText& text) {
    AlignedText clean = changed(text, settings);
    const bool begins = text.empty() || text.place(0, 1).begin == 0;
    if (!settings.prefix.empty() && begins) clean = clean.with_prefix(settings.prefix);
    return single_spaced(clean);
  };
}

Normalizer siglip_text(bool lower_case) {
  TextCleaning settings;
  settings.spaces = kSpaceMark;
  settings.lower_case = lower_case;
  settings.prefix = kSpaceMark;
  settings.without_punctuation = true;
  return clean_text(settings);
}

Normalizer read_open_clip_cleaning(const std::filesystem::path& folder) {
  const std::string name = cleaning_of(text_tower_of(folder));
  if (name.empty()) return {};
  TextCleaning settings;
  settings.plain_quotes = true;
  settings.lower_case = name != "whitespace";
  settings.without_punctuation = name == "canonicalize";
  if (name == "canonicalize") settings.spaces = "_";
  if (name == "canonicalize" || name == "lower" || name == "whitespace")
    return clean_text(settings);
  throw Error(ErrorKind::unsupported, "the text cleaning is not supported")
      .in_file(folder / "open_clip_config.json")
      .about("model_cfg.text_cfg.tokenizer_kwargs.clean")
      .expected("canonicalize, lower or whitespace")
      .found(name);
}

}  // namespace attnscope
