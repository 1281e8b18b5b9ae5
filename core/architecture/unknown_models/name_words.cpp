#include "core/architecture/unknown_models/name_words.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>

namespace attnscope {

namespace {

using Words = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view word, Words words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool has_one_of(std::string_view word, Words parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](auto part) { return word.find(part) != std::string_view::npos; });
}

/// Word without the parts that only mark a layer: "wquery", "to_q", "fc_q", "q_proj",
/// "query_layer".
std::string_view bare(std::string_view word) {
  for (const std::string_view before : Words{"linear", "lin", "proj", "to", "fc", "w"}) {
    if (word.size() > before.size() && word.starts_with(before)) {
      return word.substr(before.size());
    }
  }
  for (const std::string_view after :
       Words{"projection", "proj", "linear", "layer", "weights", "matrix", "fc", "w"}) {
    if (word.size() > after.size() && word.ends_with(after)) {
      return word.substr(0, word.size() - after.size());
    }
  }
  return word;
}

/// True if a word means the output projection of the heads, inside an attention or (`alone`)
/// directly in a block.
bool says_output(std::string_view word, bool alone) {
  if (is_one_of(bare(word), {"o", "out", "output", "unifyheads"})) return true;
  if (is_one_of(word, {"proj", "projection", "cproj", "projout", "headsproj"})) return true;
  return !alone && is_one_of(word, {"fc", "linear", "dense"});
}

}  // namespace

std::vector<std::string> segments_of(std::string_view name) {
  std::vector<std::string> segments;
  while (true) {
    const std::size_t dot = name.find('.');
    segments.emplace_back(name.substr(0, dot));
    if (dot == std::string_view::npos) return segments;
    name.remove_prefix(dot + 1);
  }
}

bool is_number(std::string_view segment) {
  return !segment.empty() &&
         std::all_of(segment.begin(), segment.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string plain_word(std::string_view segment) {
  std::string word;
  for (const char c : segment) {
    if (c != '_' && c != '-')
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return word;
}

PartWord part_word(std::string_view word) {
  const std::string_view base = bare(word);
  if (is_one_of(base, {"q", "qs", "query", "queries", "querys"})) return PartWord::query;
  if (is_one_of(base, {"k", "ks", "key", "keys"})) return PartWord::key;
  if (is_one_of(base, {"v", "vs", "value", "values"})) return PartWord::value;
  // "qkv_proj" is excluded: a well-known course stores the three parts per head under this name.
  if (is_one_of(word, {"qkv", "toqkv", "wqkv", "cattn", "inproj", "inputprojection"})) {
    return PartWord::qkv;
  }
  if (is_one_of(word, {"mask", "tril", "triu", "causalmask", "attnmask", "attentionmask"})) {
    return PartWord::mask;
  }
  if (has_one_of(word, {"cross", "encdec", "encoderatt", "encatt", "srcatt"})) {
    return PartWord::other_attention;
  }
  if (has_one_of(word, {"attn", "attention", "mha", "mhsa", "saheads", "selfatt", "multihead"}) ||
      is_one_of(word, {"sa", "msa", "att", "sahead", "heads"})) {
    return PartWord::attention;
  }
  if (has_one_of(word, {"mlp", "ffn", "feedf", "ffwd", "feedforward"}) ||
      is_one_of(word, {"ff", "ffd", "ffnet", "pwff", "fforward"})) {
    return PartWord::mlp;
  }
  return PartWord::none;
}

bool says_norm(std::string_view word) {
  return word.find("norm") != std::string_view::npos || word.starts_with("ln");
}

int norm_number(std::string_view word) {
  if (is_one_of(word,
                {"ln1", "lnorm1", "norm1", "layernorm1", "attnnorm", "attentionnorm", "normattn",
                 "lnattn", "lnsa", "normattention", "inputlayernorm", "layernormbefore"})) {
    return 1;
  }
  if (is_one_of(word, {"ln2", "lnorm2", "norm2", "layernorm2", "mlpnorm", "ffnnorm", "ffnorm",
                       "lnmlp", "lnff", "lnffn", "normmlp", "normff", "normffn",
                       "postattentionlayernorm", "layernormafter"})) {
    return 2;
  }
  return is_one_of(word, {"ln3", "lnorm3", "norm3", "layernorm3"}) ? 3 : 0;
}

int mlp_number(std::string_view word) {
  if (is_one_of(word, {"fc1", "linear1", "lin1", "l1", "dense1", "layer1", "cfc", "fcin", "up",
                       "upproj", "intermediate", "expand", "proj1"})) {
    return 1;
  }
  if (is_one_of(word, {"fc2", "linear2", "lin2", "l2", "dense2", "layer2", "cproj", "fcout", "down",
                       "downproj", "output", "contract", "proj2"})) {
    return 2;
  }
  return is_one_of(word, {"gate", "gateproj"}) ? 3 : 0;
}

BlockName read_block_name(const std::vector<std::string>& words, bool decoder) {
  BlockName name;
  name.last = words.back();
  for (std::size_t i = words.size(); i-- > 1 && is_number(name.last);) name.last = words[i - 1];
  name.word = part_word(name.last);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const PartWord word = part_word(words[i]);
    name.cross =
        name.cross || word == PartWord::other_attention || (decoder && words[i] == kTorchCross);
    if (i + 1 == words.size() && !is_number(words[i])) break;
    name.attention = name.attention || word == PartWord::attention || (decoder && name.cross);
    name.mlp = name.mlp || word == PartWord::mlp;
  }
  const auto part = [&] {
    if (name.word == PartWord::mask) return BlockPart::mask;
    if (says_norm(name.last)) return BlockPart::norm;
    // Layers of an MLP may be called keys and values, too.
    if (name.mlp) return BlockPart::mlp;
    if (name.word == PartWord::query) return BlockPart::query;
    if (name.word == PartWord::key) return BlockPart::key;
    if (name.word == PartWord::value) return BlockPart::value;
    if (name.word == PartWord::qkv) return BlockPart::qkv;
    const bool of_mlp = mlp_number(name.last) != 0;
    if (of_mlp && !name.attention) return BlockPart::mlp;
    if (says_output(name.last, !name.attention)) return BlockPart::out;
    return of_mlp || name.word == PartWord::mlp ? BlockPart::mlp : BlockPart::none;
  };
  name.part = part();
  return name;
}

OuterWord outer_word(std::string_view name) {
  const std::size_t dot = name.find('.');
  const std::string_view first = name.substr(0, dot);
  if (has_one_of(name, {"segment", "type", "rel", "rope", "rotary", "mask"})) {
    return OuterWord::none;
  }
  if (has_one_of(name, {"pos"}) || name == "pe" || name.ends_with(".pe") || first == "wpe" ||
      name.ends_with("wpe.weight")) {
    // Names such as "positional_encoding.cls_token" mean a class token.
    return has_one_of(name, {"clstoken", "classtoken"}) ? OuterWord::class_token
                                                        : OuterWord::positions;
  }
  if (has_one_of(name, {"clstoken", "classtoken"}) || name == "cls" || name.ends_with(".cls")) {
    return OuterWord::class_token;
  }
  if (has_one_of(name, {"patch"})) return OuterWord::patch;
  if (has_one_of(name, {"tokenemb", "tokemb", "embtoken", "embeddingtoken", "embedtoken", "wte",
                        "wordemb", "srcemb"})) {
    return OuterWord::tokens;
  }
  if (has_one_of(first,
                 {"head", "classif", "regress", "predict", "generator", "logits", "output"}) ||
      first.starts_with("fc") ||
      is_one_of(first, {"decoder", "linear", "mlp", "out", "outproj", "finalfc", "tagger", "crf",
                        "hidden2tag", "score"})) {
    return OuterWord::head;
  }
  if (has_one_of(name, {"head", "classifier", "projtovocab"})) return OuterWord::head;
  return has_one_of(name, {"emb", "input", "inproj"}) ? OuterWord::input : OuterWord::none;
}

bool says_final(std::string_view word) {
  return is_one_of(
      word, {"lnf", "norm", "normf", "finalnorm", "normfinal", "lnfinal", "lnout", "normout", "ln",
             "finallayernorm", "layernormfinal", "finalln", "outnorm"});
}

}  // namespace attnscope
