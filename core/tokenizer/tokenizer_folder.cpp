// Reads the tokenizer in a model's folder from the files that exist.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/architecture/configuration/tokenizer_file.h"
#include "core/error.h"
#include "core/file/read_file.h"
#include "core/tokenizer/byte_pairs.h"
#include "core/tokenizer/sentence_piece.h"
#include "core/tokenizer/stage_fields.h"
#include "core/tokenizer/stages.h"
#include "core/tokenizer/tokenizer.h"
#include "core/tokenizer/tokenizer_neighbours.h"
#include "core/tokenizer/unicode.h"
#include "core/tokenizer/vocabulary.h"

namespace attnscope {

namespace {

using Path = std::filesystem::path;
using nlohmann::json;

// ---- Cleaning of whole texts before tokenizers of CLIP-like models ----

/// Steps of cleaning. Per character: `spaces`, `plain_quotes`, `without_punctuation`, `lower_case`.
/// Then `prefix` is added, runs of white space become single spaces, and white space at both ends
/// is removed.
struct TextCleaning {
  std::string spaces;                ///< characters that become spaces
  bool plain_quotes = false;         ///< ‘ ’ “ ” and similar quotes become ' and " (ftfy)
  bool lower_case = false;           ///< lower case, per character
  std::string prefix;                ///< text put before the first part of a text
  bool without_punctuation = false;  ///< ASCII punctuation (Python's string.punctuation) is removed
};

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

Normalizer clean_text(const TextCleaning& settings) {
  return [settings](const AlignedText& text) {
    AlignedText clean = changed(text, settings);
    const bool begins = text.empty() || text.place(0, 1).begin == 0;
    if (!settings.prefix.empty() && begins) clean = clean.with_prefix(settings.prefix);
    return single_spaced(clean);
  };
}

/// Cleaning of SigLIP in transformers (SiglipTokenizer), applied to each part between special
/// tokens.
Normalizer siglip_text(bool lower_case) {
  TextCleaning settings;
  settings.spaces = kSpaceMark;
  settings.lower_case = lower_case;
  settings.prefix = kSpaceMark;
  settings.without_punctuation = true;
  return clean_text(settings);
}

/// Cleaning specified by open_clip_config.json in `folder`: `tokenizer_kwargs` of the text tower,
/// or SigLIP's default; null if there is none. Of ftfy's repairs only the quotes are implemented,
/// and HTML entities are kept. Throws Error(unsupported) naming an unknown key.
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

// ---- SentencePiece ----

// The ids of a model's pieces and the cleaning of texts are not stored in files but in the code of
// each tokenizer class. Upstream: huggingface/transformers, models/{llama,gemma,siglip,t5,albert,
// xlm_roberta}/tokenization_*.py; ALBERT follows convert_slow_tokenizer.py.

/// Reads the model unchanged. Throws Error(unsupported) if sp_model_kwargs is not empty.
SentencePiece read_own(const Path& file, const TokenizerNeighbours& neighbours) {
  const json arguments = neighbours.config.value("sp_model_kwargs", json());
  if (!arguments.is_null() && !arguments.empty())
    throw neighbours.refused("sp_model_kwargs", "none");
  return read_sentence_piece(file);
}

/// Adds a normaliser before the model's own.
void do_before(Normalizer first, TokenizerStages& stages) {
  stages.normalizer = [first = std::move(first), pieces = std::move(stages.normalizer)](
                          const AlignedText& given) { return pieces(first(given)); };
}

/// SigLIP: texts in lower case without punctuation, followed by an end token.
TokenizerStages siglip_stages(const Path& file, TokenizerNeighbours& neighbours) {
  SentencePiece model = read_own(file, neighbours);
  // The text's cleaning adds the ▁ instead.
  model.add_dummy_prefix = false;
  model.goes_on = true;
  const TokenTable table = table_of(model.pieces);
  std::int64_t end = 0;
  for (const auto& [key, usual] :
       {std::pair("unk_token", "<unk>"), {"pad_token", "</s>"}, {"eos_token", "</s>"}}) {
    const auto before = neighbours.added;
    end = neighbours.make_special(neighbours.text(key, usual), table, file);
    if (before.contains(end)) continue;
    neighbours.added[end].lstrip = neighbours.added[end].rstrip = true;  // default of the class
  }
  TokenizerStages stages = sentence_piece_stages(model);
  do_before(siglip_text(neighbours.flag("do_lower_case", true)), stages);
  stages.post_processor = around({}, {end}, true);
  return stages;
}

/// Llama and Gemma: optional tokens before and after the text.
TokenizerStages llama_stages(const Path& file, TokenizerNeighbours& neighbours, bool gemma) {
  SentencePiece model = read_sentence_piece(file);
  // Since transformers 4.31, "legacy": false continues a text after a special token without a
  // space.
  model.prefix_every_part = neighbours.flag("legacy", true);
  const TokenTable table = table_of(model.pieces);
  TokenizerStages stages = sentence_piece_stages(model);
  for (const AddedToken& token : stages.added) neighbours.added.try_emplace(token.id, token);
  const auto around_text = [&](const char* flag, bool usual, const char* key, const char* text) {
    std::vector<std::int64_t> ids;
    if (neighbours.flag(flag, usual)) {
      ids.push_back(neighbours.make_special(neighbours.text(key, text), table, file));
    }
    return ids;
  };
  stages.post_processor =
      around(around_text("add_bos_token", true, "bos_token", gemma ? "<bos>" : "<s>"),
             around_text("add_eos_token", false, "eos_token", gemma ? "<eos>" : "</s>"), true);
  return stages;
}

/// Ids of special tokens, with the class's default texts `usual` unless the files name others. Only
/// the first `needed` are required; others that the model lacks are left out.
std::vector<std::int64_t> special_ids(const std::vector<std::pair<const char*, const char*>>& usual,
                                      std::size_t needed, const TokenTable& table, const Path& file,
                                      TokenizerNeighbours& neighbours) {
  std::vector<std::int64_t> ids;
  for (const auto& [key, text] : usual) {
    const std::string own = neighbours.text(key, text);
    if (ids.size() >= needed && !table.find(own)) continue;
    ids.push_back(neighbours.make_special(own, table, file));
  }
  return ids;
}

/// T5: the pieces, followed by the sentinels in descending order; each text is followed by an end
/// token.
TokenizerStages t5_stages(const Path& file, TokenizerNeighbours& neighbours) {
  if (!neighbours.flag("add_prefix_space", true))
    throw neighbours.refused("add_prefix_space", "true");
  SentencePiece model = read_own(file, neighbours);
  model.prefix_every_part = neighbours.flag("legacy", true);
  const TokenTable table = table_of(model.pieces);
  const std::vector<std::int64_t> special =
      special_ids({{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}}, 2, table,
                  file, neighbours);
  constexpr std::int64_t most = 10'000;
  const json extra = neighbours.config.value("extra_ids", json(std::uint64_t{100}));
  if (!extra.is_number_unsigned() || extra.get<std::uint64_t>() > most) {
    throw neighbours.refused("extra_ids", "a whole number, at most " + std::to_string(most));
  }
  const auto count = extra.get<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t id = table.size() + count - 1 - i;
    AddedToken sentinel;
    sentinel.id = id;
    sentinel.content = "<extra_id_" + std::to_string(i) + ">";
    sentinel.lstrip = sentinel.rstrip = sentinel.special = true;
    neighbours.added.try_emplace(id, std::move(sentinel));
  }
  TokenizerStages stages = sentence_piece_stages(model);
  const json end = {{"SpecialToken", {{"id", "</s>"}, {"type_id", 0U}}}};
  const auto text = [](const char* which) -> json {
    return {{"Sequence", {{"id", which}, {"type_id", 0U}}}};
  };
  stages.post_processor =
      make_post_processor({{"type", "TemplateProcessing"},
                           {"single", {text("A"), end}},
                           {"pair", {text("A"), end, text("B"), end}},
                           {"special_tokens",
                            {{"</s>",
                              {{"id", "</s>"},
                               {"ids", {static_cast<std::uint64_t>(special.front())}},
                               {"tokens", {table.text(special.front())}}}}}}});
  return stages;
}

/// True if a piece ends with a digit and a comma, which ALBERT keeps as two tokens.
bool ends_as_number_and_comma(const std::string& piece) {
  if (!piece.ends_with(',')) return false;
  bool digit = false;
  for_each_character(std::string_view(piece).substr(0, piece.size() - 1),
                     [&](char32_t c, std::size_t, std::size_t) { digit = is_number(c); });
  return digit;
}

/// ALBERT: accents are stripped and texts lower-cased first, by default.
TokenizerStages albert_stages(const Path& file, TokenizerNeighbours& neighbours) {
  SentencePiece model = read_own(file, neighbours);
  constexpr double never = 100;
  for (std::size_t i = 0; i < model.pieces.texts.size(); ++i) {
    if (ends_as_number_and_comma(model.pieces.texts[i])) model.pieces.scores[i] -= never;
  }
  const TokenTable table = table_of(model.pieces);
  const std::vector<std::int64_t> special = special_ids({{"cls_token", "[CLS]"},
                                                         {"sep_token", "[SEP]"},
                                                         {"unk_token", "<unk>"},
                                                         {"pad_token", "<pad>"},
                                                         {"mask_token", "[MASK]"}},
                                                        3, table, file, neighbours);
  if (const auto mask = table.find(neighbours.text("mask_token", "[MASK]"))) {
    neighbours.added[*mask].lstrip = true;  // default of the class
  }
  TokenizerStages stages = sentence_piece_stages(model);
  json steps = json::array();
  for (const char* const quotes : {"``", "''"}) {
    steps.push_back({{"type", "Replace"}, {"pattern", {{"String", quotes}}}, {"content", "\""}});
  }
  if (!neighbours.flag("keep_accents", false)) {
    steps.push_back({{"type", "NFKD"}});
    steps.push_back({{"type", "StripAccents"}});
  }
  if (neighbours.flag("do_lower_case", true)) steps.push_back({{"type", "Lowercase"}});
  const Normalizer letters = make_normalizer({{"type", "Sequence"}, {"normalizers", steps}});
  const bool spaces = neighbours.flag("remove_space", true);
  do_before([letters, cleaned = clean_text({}),
             spaces](const AlignedText& text) { return letters(spaces ? cleaned(text) : text); },
            stages);
  stages.post_processor = bert_processor(special[0], special[1]);
  return stages;
}

/// XLM-R, with fairseq's ids: <s>, <pad>, </s>, <unk>, the pieces from the fourth on, and <mask>.
TokenizerStages xlm_roberta_stages(const Path& file, TokenizerNeighbours& neighbours) {
  SentencePiece model = read_own(file, neighbours);
  const ScoredPieces& from = model.pieces;
  constexpr std::size_t own = 3;
  if (from.texts.size() < own || from.texts[0] != "<unk>" || from.texts[1] != "<s>" ||
      from.texts[2] != "</s>") {
    throw Error(ErrorKind::damaged, "the pieces are not those of XLM-R")
        .in_file(file)
        .expected("<unk>, <s> and </s> first")
        .found(std::to_string(from.texts.size()) + " pieces that begin differently");
  }
  ScoredPieces renumbered;
  const auto put = [&](const std::string& text, double score, PieceKind kind) {
    renumbered.texts.push_back(text);
    renumbered.scores.push_back(score);
    renumbered.kinds.push_back(kind);
  };
  for (const char* const text : {"<s>", "<pad>", "</s>"}) put(text, 0, PieceKind::control);
  put("<unk>", 0, PieceKind::unknown);
  for (std::size_t i = own; i < from.texts.size(); ++i) {
    put(from.texts[i], from.scores[i], from.kinds[i]);
  }
  put("<mask>", 0, PieceKind::control);
  model.pieces = std::move(renumbered);
  const TokenTable table = table_of(model.pieces);
  const std::vector<std::int64_t> special = special_ids({{"cls_token", "<s>"},
                                                         {"sep_token", "</s>"},
                                                         {"unk_token", "<unk>"},
                                                         {"pad_token", "<pad>"},
                                                         {"mask_token", "<mask>"}},
                                                        5, table, file, neighbours);
  neighbours.added[special.back()].lstrip = true;  // default of the class
  TokenizerStages stages = sentence_piece_stages(model);
  stages.post_processor = roberta_processor(special[0], special[1]);
  return stages;
}

/// The tokenizer of `file`, as in transformers for the class named in tokenizer_config.json, or
/// config.json, next to it: Llama, Gemma, SigLIP, T5, ALBERT or XLM-R. Throws Error(unsupported)
/// naming another class or setting, Error(damaged).
std::shared_ptr<const Vocabulary> read_sentence_piece_folder(const Path& file) {
  constexpr const char* known =
      "LlamaTokenizer, GemmaTokenizer, SiglipTokenizer, T5Tokenizer, AlbertTokenizer or "
      "XLMRobertaTokenizer";
  TokenizerNeighbours neighbours = read_tokenizer_neighbours(file.parent_path());
  const std::string name = neighbours.class_name(tokenizer_class_of_model(file.parent_path()));
  if (name.empty()) {
    throw Error(ErrorKind::unsupported, "the class of the SentencePiece tokenizer is not known")
        .in_file(file)
        .about("tokenizer_class")
        .expected(std::string(known) + ", in tokenizer_config.json")
        .remedy("put the model's tokenizer.json or tokenizer_config.json next to it");
  }
  TokenizerStages stages;
  if (name == "SiglipTokenizer") {
    stages = siglip_stages(file, neighbours);
  } else if (name == "LlamaTokenizer" || name == "GemmaTokenizer") {
    stages = llama_stages(file, neighbours, name == "GemmaTokenizer");
  } else if (name == "T5Tokenizer") {
    stages = t5_stages(file, neighbours);
  } else if (name == "AlbertTokenizer") {
    stages = albert_stages(file, neighbours);
  } else if (name == "XLMRobertaTokenizer") {
    stages = xlm_roberta_stages(file, neighbours);
  } else {
    if (!neighbours.config.contains("tokenizer_class")) neighbours.config["tokenizer_class"] = name;
    throw neighbours.refused("tokenizer_class", known);
  }
  stages.added = neighbours.added_tokens();
  return make_tokenizer(std::move(stages));
}

// ---- the other files ----

/// ESM's tokenizer of proteins: each letter is a token, and so are the longer lines of its list.
std::shared_ptr<const Vocabulary> read_residues(const Path& file, TokenizerNeighbours& neighbours) {
  TokenTable table;
  const std::vector<std::string> lines = read_lines(file);
  for (std::size_t i = 0; i < lines.size(); ++i) table.add(lines[i], static_cast<std::int64_t>(i));
  for (const std::string& line : lines) {
    if (line.size() > 1) (void)neighbours.make_special(line, table, file);
  }
  const auto special = [&](const char* key, const char* usual) {
    return neighbours.make_special(neighbours.text(key, usual), table, file);
  };
  TokenizerStages stages;
  stages.normalizer = make_normalizer(nullptr);
  stages.pre_tokenizer = make_pre_tokenizer({{"type", "WhitespaceSplit"}});
  stages.post_processor =
      bert_processor(special("cls_token", "<cls>"), special("eos_token", "<eos>"));
  (void)special("unk_token", "<unk>");
  BytePairSettings letters;
  letters.unknown = neighbours.text("unk_token", "<unk>");
  letters.fuse_unknown = true;
  stages.model = make_byte_pairs(std::move(table), {}, letters);
  stages.decoder = make_decoder(nullptr);
  stages.added = neighbours.added_tokens();
  return make_tokenizer(std::move(stages));
}

std::shared_ptr<const Vocabulary> read_word_pieces(const Path& folder) {
  const Path file = folder / "vocab.txt";
  constexpr const char* residues = "EsmTokenizer";
  TokenizerNeighbours neighbours = read_tokenizer_neighbours(folder);
  const std::string name = neighbours.class_name(
      tokenizer_class_of_model(folder) == residues ? residues : "BertTokenizer");
  if (name == residues) return read_residues(file, neighbours);
  constexpr std::array like_bert = {"BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer",
                                    "MobileBertTokenizer", "ConvBertTokenizer"};
  if (std::find(like_bert.begin(), like_bert.end(), name) == like_bert.end()) {
    throw neighbours.refused("tokenizer_class", name_list(like_bert));
  }
  if (!neighbours.flag("do_basic_tokenize", true))
    throw neighbours.refused("do_basic_tokenize", "true");
  if (neighbours.config.contains("never_split") && !neighbours.config["never_split"].is_null()) {
    throw neighbours.refused("never_split", "nothing");
  }
  TokenTable table;
  const std::vector<std::string> lines = read_lines(file);
  for (std::size_t i = 0; i < lines.size(); ++i) table.add(lines[i], static_cast<std::int64_t>(i));
  const auto special = [&](const std::string& key, const std::string& usual) {
    return neighbours.make_special(neighbours.text(key, usual), table, file);
  };
  TokenizerStages stages;
  BertNormalization settings;
  settings.lowercase = neighbours.flag("do_lower_case", true);
  settings.strip_accents = neighbours.flag("strip_accents", settings.lowercase);
  settings.space_chinese = neighbours.flag("tokenize_chinese_chars", true);
  stages.normalizer = bert_normalizer(settings);
  stages.pre_tokenizer = make_pre_tokenizer({{"type", "BertPreTokenizer"}});
  const std::int64_t cls = special("cls_token", "[CLS]"), sep = special("sep_token", "[SEP]");
  (void)special("unk_token", "[UNK]");
  for (const auto& [key, usual] : {std::pair("pad_token", "[PAD]"), {"mask_token", "[MASK]"}}) {
    const bool there = neighbours.config.contains(key) || table.find(usual);
    if (there) (void)special(key, usual);
  }
  stages.post_processor = bert_processor(cls, sep);
  WordPieceSettings word_piece;
  word_piece.unknown = neighbours.text("unk_token", "[UNK]");
  stages.model = make_word_piece(std::move(table), word_piece);
  stages.decoder = make_decoder(nullptr);
  stages.added = neighbours.added_tokens();
  return make_tokenizer(std::move(stages));
}

/// Default texts of special tokens of the byte-pair classes.
using NamedTokens = std::map<std::string, std::string>;

const NamedTokens& usual_tokens(const std::string& name) {
  static const NamedTokens of_gpt2 = {{"bos_token", "<|endoftext|>"},
                                      {"eos_token", "<|endoftext|>"},
                                      {"unk_token", "<|endoftext|>"}};
  static const NamedTokens of_roberta = {
      {"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"},  {"pad_token", "<pad>"},
      {"cls_token", "<s>"}, {"sep_token", "</s>"}, {"mask_token", "<mask>"}};
  static const NamedTokens of_deberta = {{"bos_token", "[CLS]"},  {"eos_token", "[SEP]"},
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
  TokenizerNeighbours neighbours = read_tokenizer_neighbours(folder);
  const std::string of_model = tokenizer_class_of_model(folder);
  const std::string name = neighbours.class_name(of_model.empty() ? "GPT2Tokenizer" : of_model);
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    if (!neighbours.config.contains("tokenizer_class")) neighbours.config["tokenizer_class"] = name;
    throw neighbours.refused("tokenizer_class", name_list(known));
  }
  TokenTable table = read_token_table(file);
  const NamedTokens& usual = usual_tokens(name);
  const auto id = [&](const char* key) {
    return neighbours.make_special(neighbours.text(key, usual.at(key)), table, file);
  };
  for (const auto& [key, text] : usual) {
    const bool there = neighbours.config.contains(key) || table.find(neighbours.text(key, text));
    if (there) (void)id(key.c_str());
  }
  TokenizerStages stages;
  stages.normalizer = make_normalizer(nullptr);
  stages.pre_tokenizer = make_pre_tokenizer(
      {{"type", "ByteLevel"}, {"add_prefix_space", neighbours.flag("add_prefix_space", false)}});
  stages.decoder = make_decoder({{"type", "ByteLevel"}});
  stages.post_processor = make_post_processor(nullptr);
  if (name != "GPT2Tokenizer") {
    stages.post_processor = name == "DebertaTokenizer"
                                ? bert_processor(id("cls_token"), id("sep_token"))
                                : roberta_processor(id("cls_token"), id("sep_token"));
    neighbours.added[id("mask_token")].lstrip = true;  // default of the class
  } else if (neighbours.flag("add_bos_token", false)) {
    stages.post_processor = around({id("bos_token")}, {}, true);
  }
  stages.model = make_byte_pairs(std::move(table), read_merges(folder / "merges.txt"), {});
  stages.added = neighbours.added_tokens();
  return make_tokenizer(std::move(stages));
}

/// Refuses settings of tokenizer_config.json that contradict tokenizer.json. Old readers preferred
/// them, so the setting used in training is unknown.
void check_against_config(const json& tokenizer, const TokenizerNeighbours& neighbours) {
  const auto check = [&](const char* key, const json& stage, const char* type, const char* member) {
    if (!neighbours.config.contains(key) || neighbours.config[key].is_null()) return;
    if (!stage.is_object() || stage.value("type", "") != type || !stage.contains(member)) return;
    if (stage[member] != neighbours.config[key]) {
      throw neighbours.refused(key,
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
