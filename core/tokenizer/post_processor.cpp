#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/budget.h"
#include "core/tokenizer/stage_fields.h"
#include "core/tokenizer/stages.h"

namespace attnscope {

namespace {

/// A slot of a template: one of the texts, or inserted tokens.
struct Slot {
  int text = -1;  ///< index of the text, 0 or 1; -1: tokens
  std::vector<std::int64_t> tokens;
  std::int64_t type = 0;
};

// Bytes of a token in an Encoding and in its copy.
constexpr std::size_t kTokenBytes = 64;

std::vector<Encoding> filled(const std::vector<Slot>& slots, std::vector<Encoding> texts) {
  std::vector<Encoding> result;
  for (const Slot& slot : slots) {
    Encoding part;
    if (slot.text >= 0) {
      spend_work(kTokenBytes * texts.at(static_cast<std::size_t>(slot.text)).ids.size());
      part = texts.at(static_cast<std::size_t>(slot.text));
      part.types.assign(part.ids.size(), slot.type);
    }
    spend_work(kTokenBytes * (slot.tokens.size() + 1));
    for (const std::int64_t id : slot.tokens) part.add(id, slot.type, {}, -1);
    result.push_back(std::move(part));
  }
  return result;
}

PostProcessor template_of(std::vector<Slot> single, std::vector<Slot> pair) {
  return [single = std::move(single), pair = std::move(pair)](std::vector<Encoding> texts) {
    const bool two = texts.size() == 2;
    return filled(two ? pair : single, std::move(texts));
  };
}

std::vector<std::int64_t> ids_of(StageFields& token, const std::string& key) {
  std::vector<std::int64_t> ids;
  const nlohmann::json& list = token.at(key);
  if (!list.is_array()) throw token.refused(key, "a list");
  for (const nlohmann::json& id : list) {
    if (!id.is_number_unsigned()) throw token.refused(key, "whole numbers");
    ids.push_back(id.get<std::int64_t>());
  }
  return ids;
}

using SpecialTokens = std::map<std::string, std::vector<std::int64_t>>;

SpecialTokens special_tokens_in(StageFields& fields) {
  SpecialTokens tokens;
  const nlohmann::json& object = fields.at("special_tokens");
  if (!object.is_object()) throw fields.refused("special_tokens", "token ids by name");
  for (const auto& [name, item] : object.items()) {
    StageFields token(item, fields.place_of("special_tokens") + "." + name);
    (void)token.find("id");
    (void)token.find("tokens");
    tokens[name] = ids_of(token, "ids");
    token.finish();
  }
  return tokens;
}

Slot slot_of(const nlohmann::json& item, const SpecialTokens& tokens, const std::string& place) {
  if (!item.is_object() || item.size() != 1) {
    throw Error(ErrorKind::damaged, "a template item is not an object with one key").about(place);
  }
  const std::string kind = item.begin().key();
  StageFields fields(item.begin().value(), place + "." + kind);
  Slot slot;
  slot.type = fields.whole("type_id");
  const std::string id = fields.text("id");
  fields.finish();
  if (kind == "Sequence" && (id == "A" || id == "B")) {
    slot.text = id == "A" ? 0 : 1;
  } else if (kind == "SpecialToken" && tokens.contains(id)) {
    const std::vector<std::int64_t>& ids = tokens.at(id);
    spend_work(sizeof(Slot) + ids.size() * sizeof(std::int64_t));
    slot.tokens = ids;
  } else {
    throw fields.refused("id", kind == "SpecialToken" ? "one of special_tokens" : "A or B");
  }
  return slot;
}

std::vector<Slot> slots_in(StageFields& fields, const std::string& key,
                           const SpecialTokens& tokens) {
  const nlohmann::json& list = fields.at(key);
  if (!list.is_array()) throw fields.refused(key, "a list");
  std::vector<Slot> slots;
  for (const nlohmann::json& item : list) {
    slots.push_back(slot_of(item, tokens, fields.place_of(key)));
    if (key == "single" && slots.back().text == 1) throw fields.refused(key, "only sequence A");
  }
  return slots;
}

PostProcessor template_processor(StageFields& fields) {
  const SpecialTokens tokens = special_tokens_in(fields);
  auto single = slots_in(fields, "single", tokens);
  auto pair = slots_in(fields, "pair", tokens);
  return template_of(std::move(single), std::move(pair));
}

/// The id of a member such as ["[SEP]", 102].
std::int64_t named_token(StageFields& fields, const std::string& key) {
  const nlohmann::json& value = fields.at(key);
  if (!value.is_array() || value.size() != 2 || !value[1].is_number_unsigned()) {
    throw fields.refused(key, "[token, id]");
  }
  return value[1].get<std::int64_t>();
}

PostProcessor bert_pair(StageFields& fields) {
  return bert_processor(named_token(fields, "cls"), named_token(fields, "sep"));
}

PostProcessor roberta_pair(StageFields& fields) {
  (void)fields.flag("trim_offsets", true);
  (void)fields.flag("add_prefix_space", true);
  return roberta_processor(named_token(fields, "cls"), named_token(fields, "sep"));
}

PostProcessor nothing() {
  return [](std::vector<Encoding> texts) { return texts; };
}

/// ByteLevel only trims byte ranges, which is not implemented because ids do not depend on it.
PostProcessor byte_level_processor(StageFields& fields) {
  for (const char* const key : {"add_prefix_space", "trim_offsets", "use_regex"}) {
    (void)fields.flag(key, true);
  }
  return nothing();
}

PostProcessor sequence_processor(StageFields& fields) {
  const std::vector<PostProcessor> list = make_stages(fields, "processors", make_post_processor);
  int adding = 0;
  for (const nlohmann::json& item : fields.at("processors")) {
    adding += item.value("type", "") == "ByteLevel" ? 0 : 1;
  }
  if (adding > 1) {
    throw Error(ErrorKind::unsupported, "two processors of a tokenizer both add tokens")
        .about(fields.place_of("processors"));
  }
  return [list](std::vector<Encoding> texts) {
    for (const PostProcessor& each : list) texts = each(std::move(texts));
    return texts;
  };
}

constexpr StageKind<PostProcessor> processor_kinds[] = {
    {"BertProcessing", bert_pair},
    {"ByteLevel", byte_level_processor},
    {"RobertaProcessing", roberta_pair},
    {"Sequence", sequence_processor},
    {"TemplateProcessing", template_processor},
};

}  // namespace

PostProcessor make_post_processor(const nlohmann::json& object, const std::string& place) {
  return object.is_null() ? nothing() : make_stage(processor_kinds, object, place);
}

PostProcessor bert_processor(std::int64_t cls, std::int64_t sep) {
  return around({cls}, {sep}, false);
}

PostProcessor roberta_processor(std::int64_t cls, std::int64_t sep) {
  const Slot begin{-1, {cls}, 0}, end{-1, {sep}, 0}, between{-1, {sep, sep}, 0};
  return template_of({begin, {0, {}, 0}, end}, {begin, {0, {}, 0}, between, {1, {}, 0}, end});
}

PostProcessor around(const std::vector<std::int64_t>& before,
                     const std::vector<std::int64_t>& after, bool between_too) {
  const Slot begin{-1, before, 0}, end{-1, after, 0}, last{-1, after, 1};
  std::vector<Slot> pair{begin, {0, {}, 0}, end};
  if (between_too) pair.push_back({-1, before, 1});
  pair.push_back({1, {}, 1});
  pair.push_back(last);
  return template_of({begin, {0, {}, 0}, end}, std::move(pair));
}

}  // namespace attnscope
