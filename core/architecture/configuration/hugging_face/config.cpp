// Reads config.json of Hugging Face's transformers: the keys of each kind of model and their
// effect.
#include <algorithm>
#include <cctype>

#include "core/architecture/architecture.h"
#include "core/architecture/configuration/config_reader.h"
#include "core/architecture/configuration/hugging_face/model_type.h"
#include "core/error.h"
#include "core/text/pattern.h"

namespace attnscope {

namespace {

using nlohmann::json;
using Use = KeyUse;

/// Keys of every kind of model: text generation, training, saving.
constexpr ConfigKey kGeneralKeys[] = {
    {"_*"},
    {"architectures"},
    {"auto_map"},
    {"bad_words_ids"},
    {"begin_suppress_tokens"},
    {"*_token_id"},
    {"chunk_size_feed_forward"},
    {"custom_pipelines"},
    {"diversity_penalty"},
    {"do_sample"},
    {"dtype"},
    {"early_stopping"},
    {"encoder_no_repeat_ngram_size"},
    {"exponential_decay_length_penalty"},
    {"finetuning_task"},
    {"gradient_checkpointing"},
    {"initializer_*"},
    {"label2id"},
    {"length_penalty"},
    {"license"},
    {"max_length"},
    {"min_length"},
    {"model_type"},
    {"no_repeat_ngram_size"},
    {"num_beam_groups"},
    {"num_beams"},
    {"num_return_sequences"},
    {"output_attentions"},
    {"output_hidden_states"},
    {"output_scores"},
    {"prefix"},
    {"problem_type"},
    {"remove_invalid_values"},
    {"repetition_penalty"},
    {"return_dict"},
    {"return_dict_in_generate"},
    {"suppress_tokens"},
    {"task_specific_params"},
    {"temperature"},
    {"tf_legacy_loss"},
    {"tie_encoder_decoder"},
    {"tokenizer_class"},
    {"top_k"},
    {"top_p"},
    {"torch_dtype"},
    {"torchscript"},
    {"transformers_version"},
    {"typical_p"},
    {"use_bfloat16"},
    {"use_cache"},
    {"*dropout*"},
    {"*_pdrop"},
    {"drop_path_rate"},
    {"is_encoder_decoder", Use::required, "false"},
    {"add_cross_attention", Use::required, "false"},
    {"is_decoder", Use::required, "false"},
    {"pruned_heads", Use::required, "{}"},
};

/// Keys that are read from configurations without a kind, under the names of several libraries.
constexpr ConfigKey kAnyKeys[] = {
    {"num_attention_heads", Use::optional, "heads"},
    {"n_head", Use::optional, "heads"},
    {"n_heads", Use::optional, "heads"},
    {"layer_norm_eps", Use::optional, "norm_eps"},
    {"layer_norm_epsilon", Use::optional, "norm_eps"},
    {"rescale_value", Use::optional, "importance_scale"},
    {"hidden_act", Use::activation},
    {"activation_function", Use::activation},
    {"position_embedding_type", Use::required, "\"absolute\""},
};

/// All kinds of model from all files.
const std::vector<ModelType>& model_types() {
  static const std::vector<ModelType> list = [] {
    std::vector<ModelType> all;
    for (const auto types :
         {vision_model_types(), tower_model_types(), gpt2_model_types(), llama_model_types(),
          gemma_model_types(), phi_model_types(), eleuther_model_types(), opt_model_types(),
          bloom_model_types(), bert_model_types(), encoder_model_types(), deberta_model_types(),
          modernbert_model_types(), nomic_model_types(), t5_model_types(), bart_model_types(),
          whisper_model_types()}) {
      all.insert(all.end(), types.begin(), types.end());
    }
    return all;
  }();
  return list;
}

const ModelType* find_type(std::string_view name) {
  for (const ModelType& type : model_types()) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

/// Common kinds of model with parts that are not supported.
struct OtherKind {
  std::string_view name;  ///< kind, with * for any characters
  const char* what;
};
constexpr OtherKind kOtherKinds[] = {
    {"granitemoehybrid",
     "a mixture of experts, with recurrent layers between those with attention"},
    {"*moe*", "a mixture of experts"},
    {"minimax_m2", "a mixture of experts"},
    {"dots1", "a mixture of experts"},
    {"longcat_flash", "a mixture of experts with compressed keys and values"},
    {"mixtral", "a mixture of experts"},
    {"gpt_oss", "a mixture of experts"},
    {"dbrx", "a mixture of experts"},
    {"switch_transformers", "a mixture of experts"},
    {"llama4*", "a mixture of experts"},
    {"grok*", "a mixture of experts"},
    {"arctic", "a mixture of experts"},
    {"deepseek_v*", "a mixture of experts with compressed keys and values"},
    {"kimi_k2", "a mixture of experts with compressed keys and values"},
    {"minicpm3", "compressed keys and values"},
    {"qwen3_next", "a mixture of experts, with recurrent layers between those with attention"},
    {"qwen3_5*", "recurrent layers between those with attention"},
    {"minimax*", "a mixture of experts, with recurrent layers between those with attention"},
    {"jamba", "a mixture of experts, with recurrent layers between those with attention"},
    {"bamba", "recurrent layers between those with attention"},
    {"zamba*", "recurrent layers between those with attention"},
    {"nemotron_h", "recurrent layers between those with attention"},
    {"falcon_h1", "recurrence and attention in parallel"},
    {"recurrent_gemma", "recurrent layers between those with attention"},
    {"lfm2", "convolutional layers between those with attention"},
    {"*mamba*", "a recurrence in place of attention"},
    {"rwkv*", "a recurrence in place of attention"},
    {"xlstm", "a recurrence in place of attention"},
    {"retnet", "a recurrence in place of attention"},
    {"gemma3", "a language model with an image tower"},
    {"gemma3n*", "layers whose streams are mixed, and caches that layers share"},
    {"*llava*", "a language model with an image tower"},
    {"*_vl*", "a language model with an image tower"},
    {"paligemma", "a language model with an image tower"},
    {"idefics*", "a language model with an image tower"},
    {"mllama", "a language model with an image tower"},
    {"funnel", "an encoder whose layers pool their tokens"},
    {"*longformer*", "windows with tokens that see all"},
    {"big_bird", "random blocks of tokens"},
    {"reformer", "attention within hash buckets, in reversible layers"},
    {"xlnet", "two streams of attention with memories"},
    {"swinv2", "cosines of queries and keys, and position biases from a network"},
    {"umt5", "an encoder and a decoder"},
    {"longt5", "an encoder and a decoder"},
    {"*bart", "an encoder and a decoder"},
    {"pegasus_x", "an encoder and a decoder"},
    {"m2m_100", "an encoder and a decoder"},
    {"blenderbot*", "an encoder and a decoder"},
    {"led", "an encoder and a decoder"},
    {"encoder-decoder", "an encoder and a decoder"},
    {"whisper", "an encoder and a decoder"},
};

/// Description of a known kind: ": a mixture of experts"; otherwise empty.
std::string what_it_is(const std::string& kind) {
  for (const OtherKind& other : kOtherKinds) {
    if (matches_pattern(other.name, kind)) return std::string(": ") + other.what;
  }
  return {};
}

/// Reads Fastformer-LM's window per layer.
void read_windows(const json& windows, NeighbourConfig& config) {
  if (!windows.is_array()) return;
  json list = json::array();
  for (const json& window : windows) {
    if (!window.is_number_integer() || window.get<std::int64_t>() < 1) {
      throw Error(ErrorKind::damaged, "a window must hold at least one token")
          .about("window_sizes")
          .expected("whole numbers from 1 on")
          .found(window.dump());
    }
    list.push_back({{"name", "additive"}, {"parameters", {{"causal", true}, {"window", window}}}});
  }
  config.values["layer_mechanisms"] = list.dump();
}

void read_labels(const json& labels, NeighbourConfig& config) {
  json list = json::array();
  for (std::size_t i = 0; labels.is_object() && i < labels.size(); ++i) {
    const auto label = labels.find(std::to_string(i));
    if (label == labels.end() || !label->is_string()) return;
    list.push_back(*label);
  }
  if (list.empty()) return;
  config.values["labels"] = list.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Reads is_causal: false for a decoder whose tokens also see later ones (models that embed texts).
void read_is_causal(ConfigReader& reader, NeighbourConfig& config) {
  if (reader.flag("is_causal", true)) return;
  const auto differences = config.values.find("differences");
  if (config.values.contains("layer.scores.window") ||
      (differences != config.values.end() && differences->second != "[]")) {
    throw Error(ErrorKind::unsupported, "windows of layers that see later tokens are not supported")
        .about("is_causal")
        .expected("true, or layers without windows")
        .found("false");
  }
  config.values["layer.scores.causal"] = "false";
  config.overruling.insert("layer.scores.causal");
}

/// Letters and digits in lower case ("gptneox"), since kinds and classes are spelled differently.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

/// Kind of model of a class in architectures: "LlamaForCausalLM" is a "llama". Null if there is
/// none.
const ModelType* type_of_class(const std::string& name) {
  constexpr std::string_view endings[] = {"for",     "model",        "lmhead",      "doubleheads",
                                          "mtmodel", "encodermodel", "visionmodel", "textmodel"};
  const std::string letters = plain(name);
  const ModelType* best = nullptr;
  for (const ModelType& type : model_types()) {
    const std::string kind = plain(type.name);
    if (!letters.starts_with(kind) || (best && plain(best->name).size() > kind.size())) continue;
    const std::string rest = letters.substr(kind.size());
    const bool ends = std::ranges::any_of(
        endings, [&](std::string_view ending) { return rest.starts_with(ending); });
    if (ends || rest.empty()) best = &type;
  }
  return best;
}

/// Reads `object` as a configuration of `type`; keys may be missing.
void read_keys(const ModelType& type, const json& object, NeighbourConfig& config) {
  ConfigReader reader(object, config);
  read_labels(reader.take_value("id2label"), config);
  config.kind = type.name;
  config.families = {type.family};
  const bool tied = reader.flag("tie_word_embeddings", false);
  if (reader.has("tie_word_embeddings") && !config.free_head) config.ties_head = tied;
  reader.take(type.keys);
  reader.take(kGeneralKeys);
  const json& labels = reader.take_value("num_labels");
  if (labels.is_number_integer()) config.classes = labels.get<std::int64_t>();
  const json& own_code = reader.take_value("auto_map");
  if (own_code.is_object() && !own_code.empty()) config.own_code = json_text(own_code);
  if (type.read) type.read(reader, config);
  read_is_causal(reader, config);
  reader.finish();
}

/// Marks members of `config` that differ from `said`, or that only `config` has, as defaults of the
/// class.
void mark_defaults(const NeighbourConfig& said, NeighbourConfig& config) {
  for (const auto& [member, value] : config.values) {
    const auto found = said.values.find(member);
    if (found == said.values.end() || found->second != value) config.defaults.insert(member);
  }
  for (std::size_t i = 0; i < config.towers.size() && i < said.towers.size(); ++i) {
    mark_defaults(said.towers[i], config.towers[i]);
  }
}

/// Reads `object` as a configuration of `type`, with the defaults of its class for missing keys.
void read_whole_kind(const ModelType& type, const json& object, NeighbourConfig& config) {
  NeighbourConfig said = config;
  read_keys(type, with_class_defaults(object, type.name), config);
  try {
    read_keys(type, object, said);
  } catch (const Error&) {
    return;  // a missing key is required
  }
  mark_defaults(said, config);
}

/// Reads the keys that do not depend on the kind of model; the others are listed as unread.
void read_without_kind(const json& object, NeighbourConfig& config) {
  ConfigReader reader(object, config);
  reader.take(kAnyKeys);
  read_windows(reader.take_value("window_sizes"), config);
  read_score_scale(reader, config);
  read_labels(reader.take_value("id2label"), config);
  const json& labels = reader.take_value("num_labels");
  if (labels.is_number_integer()) config.classes = labels.get<std::int64_t>();
  for (const ConfigKey& key : kGeneralKeys) {
    if (key.use == Use::harmless) reader.take({&key, 1});
  }
  (void)reader.take_value("tie_word_embeddings");
  reader.finish();
  for (auto& [key, value] : config.unknown) config.unread.push_back(std::move(key));
  config.unknown.clear();
}

/// Configuration read as one kind of model.
struct Reading {
  const ModelType* type = nullptr;
  NeighbourConfig said;   ///< settings from given keys
  NeighbourConfig whole;  ///< settings with the defaults of the class

  [[nodiscard]] std::size_t unknown(std::string_view family) const {
    const NeighbourConfig& own = whole.of(family);
    return whole.unknown.size() + (&own == &whole ? 0 : own.unknown.size());
  }
};

/// Readings as every kind of model of `family`, limited to those that know most of its keys. Empty
/// if there is no such kind. Throws the first kind's error if none can be read.
std::vector<Reading> readings_of(const json& object, const NeighbourConfig& config,
                                 std::string_view family) {
  std::vector<Reading> readings;
  std::optional<Error> fault;
  for (const ModelType& type : model_types()) {
    NeighbourConfig empty;
    empty.file = config.file;
    empty.free_head = config.free_head;
    Reading reading{&type, empty, empty};
    try {
      read_whole_kind(type, object, reading.whole);
    } catch (const Error& error) {
      if (type.family == family && !fault) fault = error;
      continue;
    }
    if (!reading.whole.allows(family)) continue;
    try {
      read_keys(type, object, reading.said);
    } catch (const Error&) {
      reading.said = reading.whole;
    }
    readings.push_back(std::move(reading));
  }
  if (readings.empty() && fault) throw Error(*fault);
  std::size_t fewest = std::string::npos;
  for (const Reading& each : readings) fewest = std::min(fewest, each.unknown(family));
  std::erase_if(readings, [&](const Reading& each) { return each.unknown(family) > fewest; });
  return readings;
}

/// Value of a member; empty if it is missing or an empty list of differences.
std::string said_of(const NeighbourConfig& config, const std::string& member) {
  const auto found = config.values.find(member);
  return found == config.values.end() || found->second == "[]" ? "" : found->second;
}

[[noreturn]] void refuse_kinds(const std::vector<Reading>& readings, std::string_view family,
                               const std::string& member) {
  std::string kinds, found;
  for (const Reading& each : readings) {
    const std::string value = said_of(each.said.of(family), member);
    kinds += (kinds.empty() ? "" : ", ") + std::string(each.type->name);
    found += (found.empty() ? "" : ", ") + (value.empty() ? "none" : value) + " as " +
             std::string(each.type->name);
  }
  throw Error(
      ErrorKind::unsupported,
      "the configuration does not give the model type, on which the meaning of its keys depends")
      .about("model_type")
      .expected("one of " + kinds)
      .found(member + " " + found)
      .remedy("write \"model_type\" into the file");
}

/// Throws Error(unsupported) for a member whose given keys mean different values to different
/// kinds.
void check_agreement(const std::vector<Reading>& readings, std::string_view family) {
  const NeighbourConfig& first = readings.front().said.of(family);
  for (const Reading& each : readings) {
    const NeighbourConfig& other = each.said.of(family);
    for (const auto* const list : {&first.values, &other.values}) {
      for (const auto& [member, value] : *list) {
        if (said_of(first, member) != said_of(other, member)) {
          refuse_kinds(readings, family, member);
        }
      }
    }
  }
}

}  // namespace

void read_hugging_face_config(const json& object, NeighbourConfig& config) {
  const json name = object.value("model_type", json());
  const std::string kind = name.is_string() ? name.get<std::string>() : std::string();
  const ModelType* type = find_type(kind);
  if (!kind.empty() && type == nullptr) {
    std::string known;
    for (const ModelType& each : model_types())
      known += (known.empty() ? "" : ", ") + std::string(each.name);
    throw Error(ErrorKind::unsupported, "models of this type are not supported" + what_it_is(kind))
        .about("model_type")
        .expected(known)
        .found(kind)
        .remedy(
            "give an architecture description, or --option ignore=config if it is not of this "
            "file");
  }
  const json classes = object.value("architectures", json());
  if (type == nullptr && classes.is_array() && classes.size() == 1 && classes[0].is_string()) {
    type = type_of_class(classes[0].get<std::string>());
    if (type == nullptr) config.class_name = classes[0].get<std::string>();
  }
  if (type != nullptr) {
    read_whole_kind(*type, object, config);
    return;
  }
  config.unnamed = object.dump();
  read_without_kind(object, config);
}

NeighbourConfig as_of_family(const NeighbourConfig& config, std::string_view family) {
  if (config.unnamed.empty()) return config.of(family);
  return with_file(config.file, [&] {
    const std::vector<Reading> readings = readings_of(json::parse(config.unnamed), config, family);
    if (readings.empty()) return config;
    if (!config.class_name.empty()) {
      const auto shown =
          std::ranges::find(architecture_families(), family, &ArchitectureFamily::id);
      throw Error(ErrorKind::unsupported, "models of this class are not supported")
          .about("architectures")
          .expected("a class of " + shown->name)
          .found(config.class_name)
          .remedy("--option ignore=config.architectures if its layers are those of " + shown->name);
    }
    check_agreement(readings, family);
    NeighbourConfig result = readings.front().whole.of(family);
    result.kind.clear();
    for (const Reading& each : readings) {
      const NeighbourConfig& other = each.whole.of(family);
      // Defaults that differ between classes are dropped.
      std::erase_if(result.values, [&](const auto& entry) {
        return result.defaults.contains(entry.first) &&
               said_of(result, entry.first) != said_of(other, entry.first);
      });
      if (result.ties_head != other.ties_head) result.ties_head.reset();
    }
    const auto& outer = readings.front().whole.unknown;
    if (&readings.front().whole != &readings.front().whole.of(family)) {
      result.unknown.insert(result.unknown.end(), outer.begin(), outer.end());
    }
    result.values.insert(config.values.begin(), config.values.end());
    result.facts.insert(config.facts.begin(), config.facts.end());
    return result;
  });
}

}  // namespace attnscope
