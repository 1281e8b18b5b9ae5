#include "core/tokenizer/gguf_tokenizer.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text/name_list.h"
#include "core/tokenizer/sentence_piece.h"
#include "core/tokenizer/tokenizer.h"

namespace attnscope {

namespace {

using nlohmann::json;

json by_patterns(std::initializer_list<const char*> patterns) {
  json list = json::array();
  for (const char* const pattern : patterns) {
    list.push_back({{"type", "Split"},
                    {"pattern", {{"Regex", pattern}}},
                    {"behavior", "Isolated"},
                    {"invert", false}});
  }
  list.push_back({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}});
  return {{"type", "Sequence"}, {"pretokenizers", std::move(list)}};
}

json gpt2_split() { return {{"type", "ByteLevel"}, {"add_prefix_space", false}}; }

json digits_alone() {
  const json digits = {{"type", "Digits"}, {"individual_digits", true}};
  return {{"type", "Sequence"}, {"pretokenizers", {digits, gpt2_split()}}};
}

json llama3_split() {
  return by_patterns(
      {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"});
}

json qwen2_split() {
  return by_patterns(
      {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"});
}

json gpt4o_split() {
  return by_patterns(
      {R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"});
}

/// Letters with upper and lower case, as the tokenizers of DeepSeek's first models list them.
/// Characters that change when a text is normalised are given by their numbers.
constexpr const char* kDeepseekWords =
    R"(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿ)"
    R"(ᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝ\x{1F5F}-\x{1F7D}ᾀ-ᾴᾶ-ᾼ\x{1FBE})"
    R"(ῂ-ῄῆ-ῌῐ-\x{1FD3}ῖ-\x{1FDB}ῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\x{2126}ℨ\x{212A}-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)";

/// The vocabulary has no numbers of several digits, so that runs of digits are single ones again.
json deepseek_split() {
  return by_patterns({R"([\r\n])", kDeepseekWords, R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)", R"(\s+$)",
                      R"([一-龥ࠀ-一가-\x{D7FF}]+)", R"(\p{N}+)"});
}

json deepseek3_split() {
  return by_patterns(
      {R"(\p{N}{1,3})", "[一-龥぀-ゟ゠-ヿ]+",
       R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"});
}

/// The pre-tokenizer behind a value of tokenizer.ggml.pre, as in the tokenizer.json of its models.
struct Splitting {
  std::string_view name;
  json (*pre_tokenizer)();
  bool nfc, ignore_merges, add_bos;
};
constexpr Splitting splittings[] = {
    {"gpt-2", gpt2_split, false, false, false},
    {"phi-2", gpt2_split, false, false, false},
    {"starcoder", digits_alone, false, false, false},
    {"smollm", digits_alone, false, false, false},
    {"llama-bpe", llama3_split, false, true, true},
    {"qwen2", qwen2_split, true, false, false},
    {"deepseek-r1-qwen", qwen2_split, true, false, false},
    {"gpt-4o", gpt4o_split, false, false, false},
    {"deepseek-llm", deepseek_split, false, false, false},
    {"deepseek-v3", deepseek3_split, false, false, false},
};

const Splitting& splitting_of(const std::string& name) {
  for (const Splitting& known : splittings) {
    if (known.name == name) return known;
  }
  throw Error(ErrorKind::unsupported, "the pre-tokenizer is not implemented")
      .about("tokenizer.ggml.pre")
      .expected(name_list(splittings, &Splitting::name))
      .found(name.empty() ? "nothing" : name);
}

Error damaged_tokenizer(const char* key, const std::string& found) {
  return Error(ErrorKind::damaged, "the tokenizer's metadata is invalid").about(key).found(found);
}

std::vector<AddedToken> added_tokens(const GgufTokenizer& data) {
  constexpr std::int32_t control = 3, user_defined = 4;
  std::vector<AddedToken> added;
  for (std::size_t i = 0; i < data.tokens.size(); ++i) {
    if (data.types[i] != control && data.types[i] != user_defined) continue;
    AddedToken token;
    token.id = static_cast<std::int64_t>(i);
    token.content = data.tokens[i];
    token.special = data.types[i] == control;
    added.push_back(token);
  }
  return added;
}

Merges merges_of(const GgufTokenizer& data) {
  Merges merges;
  for (const std::string& line : data.merges) {
    const std::size_t space = line.find(' ', 1);
    if (space == std::string::npos)
      throw damaged_tokenizer("tokenizer.ggml.merges", line.substr(0, 60));
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

std::vector<std::int64_t> token_if(bool wanted, const std::optional<std::int64_t>& id,
                                   const GgufTokenizer& data, const char* key) {
  if (!wanted) return {};
  if (!id || *id < 0 || *id >= std::ssize(data.tokens)) {
    throw damaged_tokenizer(key, id ? std::to_string(*id) : "nothing");
  }
  return {*id};
}

/// Makes SentencePiece's byte-pair model from llama.cpp's pieces, scores and kinds.
std::shared_ptr<const Vocabulary> make_scored_pairs(const GgufTokenizer& data) {
  SentencePiece model;
  model.algorithm = SentencePiece::Algorithm::byte_pairs;
  model.pieces.texts = data.tokens;
  model.pieces.scores = data.scores;
  if (data.scores.size() != data.tokens.size()) {
    throw damaged_tokenizer("tokenizer.ggml.scores", std::to_string(data.scores.size()) + " for " +
                                                         std::to_string(data.tokens.size()) +
                                                         " tokens");
  }
  for (const std::int32_t type : data.types) {
    if (type < 1 || type > 6)
      throw damaged_tokenizer("tokenizer.ggml.token_type", std::to_string(type));
    model.pieces.kinds.push_back(static_cast<PieceKind>(type));
  }
  model.add_dummy_prefix = data.add_space_prefix;
  model.remove_extra_spaces = data.remove_extra_spaces;
  model.byte_fallback = true;
  TokenizerStages stages = sentence_piece_stages(model);
  stages.post_processor =
      around(token_if(data.add_bos.value_or(true), data.bos, data, "tokenizer.ggml.bos_token_id"),
             token_if(data.add_eos, data.eos, data, "tokenizer.ggml.eos_token_id"), true);
  return make_tokenizer(std::move(stages));
}

}  // namespace

GgufTokenizer gguf_tokenizer_of(const KeyValues& keys) {
  const auto key = [](const char* name) { return "tokenizer.ggml." + std::string(name); };
  GgufTokenizer data;
  data.model = keys.text(kGgufTokenizerKey).value_or("");
  data.pre = keys.text(key("pre")).value_or("");
  data.tokens = keys.texts(key("tokens")).value_or(std::vector<std::string>{});
  data.merges = keys.texts(key("merges")).value_or(std::vector<std::string>{});
  for (const std::int64_t type :
       keys.wholes(key("token_type")).value_or(std::vector<std::int64_t>{})) {
    data.types.push_back(static_cast<std::int32_t>(type));
  }
  data.bos = keys.whole(key("bos_token_id"));
  data.eos = keys.whole(key("eos_token_id"));
  data.add_bos = keys.truth(key("add_bos_token"));
  data.add_eos = keys.truth(key("add_eos_token")).value_or(false);
  data.scores = keys.numbers(key("scores")).value_or(std::vector<double>{});
  data.add_space_prefix = keys.truth(key("add_space_prefix")).value_or(true);
  data.remove_extra_spaces = keys.truth(key("remove_extra_whitespaces")).value_or(false);
  return data;
}

std::shared_ptr<const Vocabulary> make_gguf_tokenizer(const GgufTokenizer& data) {
  if (data.model != "gpt2" && data.model != "llama") {
    throw Error(ErrorKind::unsupported, "this kind of tokenizer is not implemented")
        .about("tokenizer.ggml.model")
        .expected("gpt2 (byte pairs) or llama (SentencePiece's)")
        .found(data.model);
  }
  if (data.types.size() != data.tokens.size()) {
    throw damaged_tokenizer("tokenizer.ggml.token_type",
                            std::to_string(data.types.size()) + " for " +
                                std::to_string(data.tokens.size()) + " tokens");
  }
  if (data.model == "llama") return make_scored_pairs(data);
  const Splitting& splitting = splitting_of(data.pre);
  TokenTable table;
  for (std::size_t i = 0; i < data.tokens.size(); ++i) {
    table.add(data.tokens[i], static_cast<std::int64_t>(i));
  }
  BytePairSettings settings;
  settings.ignore_merges = splitting.ignore_merges;
  TokenizerStages stages;
  stages.model = make_byte_pairs(std::move(table), merges_of(data), settings);
  stages.normalizer = make_normalizer(splitting.nfc ? json{{"type", "NFC"}} : json());
  stages.pre_tokenizer = make_pre_tokenizer(splitting.pre_tokenizer());
  stages.decoder = make_decoder({{"type", "ByteLevel"}});
  stages.added = added_tokens(data);
  stages.post_processor =
      around(token_if(data.add_bos.value_or(splitting.add_bos), data.bos, data,
                      "tokenizer.ggml.bos_token_id"),
             token_if(data.add_eos, data.eos, data, "tokenizer.ggml.eos_token_id"), true);
  return make_tokenizer(std::move(stages));
}

}  // namespace attnscope
