// Reads tokenizer.json of Hugging Face's tokenizers.
#include <nlohmann/json.hpp>

#include "core/tokenizer/stage_fields.h"
#include "core/tokenizer/tokenizer.h"

namespace attnscope {

namespace {

/// Reads the added tokens. Other readers number added tokens that the model lacks consecutively and
/// ignore their ids in the file. If the two differ, the embedding rows are ambiguous, so the file
/// is refused.
std::vector<AddedToken> added_tokens_in(StageFields& fields, const TokenTable& table) {
  std::vector<AddedToken> tokens;
  const nlohmann::json* const list = fields.find("added_tokens");
  if (!list) return tokens;
  if (!list->is_array()) throw fields.refused("added_tokens", "a list");
  std::int64_t next = table.count();
  std::unordered_map<std::string, std::int64_t> numbers;
  for (const nlohmann::json& item : *list) {
    StageFields described(item, "added_tokens");
    const std::int64_t id = described.whole("id");
    AddedToken token = read_added_token(described, id, true);
    if (token.content.empty()) continue;
    const auto known = table.find(token.content);
    const auto [place, is_new] = numbers.try_emplace(token.content, known ? *known : next);
    if (is_new && !known) ++next;
    if (place->second != token.id) {
      throw Error(ErrorKind::unsupported, "the added token's id does not match its position")
          .about(token.content)
          .expected(std::to_string(place->second))
          .found(std::to_string(token.id));
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

/// Approximate size of the value as JSON text, in bytes.
std::uint64_t bytes_of(const nlohmann::json& value) {
  constexpr std::uint64_t signs = 2;
  if (value.is_string()) return value.get_ref<const std::string&>().size() + signs;
  std::uint64_t bytes = signs;
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) bytes += key.size() + signs + bytes_of(item);
  } else if (value.is_array()) {
    for (const nlohmann::json& item : value) bytes += bytes_of(item);
  }
  return bytes;
}

}  // namespace

std::shared_ptr<const Vocabulary> tokenizer_of_json(const nlohmann::json& object,
                                                    Normalizer cleaning) {
  const ThreadBudget budget("opening the tokenizer", bytes_of(object), kTokenizerRates);
  const WorkRule rule("tokenizer.json");
  StageFields fields(object, "tokenizer.json");
  const auto stage = [&](const std::string& key) {
    const nlohmann::json* const found = fields.find(key);
    return found ? *found : nlohmann::json();
  };
  if (fields.optional_text("version").value_or("1.0") != "1.0") {
    throw fields.refused("version", "1.0");
  }
  (void)fields.find("truncation");  // readers replace both settings
  (void)fields.find("padding");
  TokenizerStages stages;
  stages.cleaning = std::move(cleaning);
  stages.model = make_token_model(fields.at("model"));
  stages.normalizer = make_normalizer(stage("normalizer"));
  stages.pre_tokenizer = make_pre_tokenizer(stage("pre_tokenizer"));
  stages.post_processor = make_post_processor(stage("post_processor"));
  stages.decoder = make_decoder(stage("decoder"));
  stages.added = added_tokens_in(fields, stages.model->table());
  fields.finish();
  return make_tokenizer(std::move(stages));
}

}  // namespace attnscope
