// CLIP and SigLIP: a model of images and one of texts, each with a configuration of its own.
#include "core/architecture/configuration/hugging_face/model_type.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;
using Use = KeyUse;

constexpr ConfigKey kImageTowerKeys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"layer_norm_eps", Use::member, "norm_eps"},
    {"hidden_act", Use::activation},
    {"hidden_size", Use::fact, "width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"intermediate_size", Use::fact, "mlp_width"},
    {"num_channels", Use::fact, "channels"},
    {"image_size", Use::side, "image"},
    {"patch_size", Use::side, "patch"},
    {"projection_dim"},
};

constexpr ConfigKey kTextTowerKeys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"layer_norm_eps", Use::member, "norm_eps"},
    {"hidden_act", Use::activation},
    {"hidden_size", Use::fact, "width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"intermediate_size", Use::fact, "mlp_width"},
    {"vocab_size", Use::fact, "vocabulary"},
    {"max_position_embeddings", Use::fact, "context"},
    {"projection_dim"},
    {"projection_size"},
};

constexpr ConfigKey kTowersKeys[] = {
    {"projection_dim"},
    {"logit_scale_init_value"},
};

/// The member's value where the configuration leaves it out: that of its class.
void add_default(NeighbourConfig& config, const char* member, const char* value) {
  config.values.emplace(member, value);
}

/// What these models give is no list of classes, whatever their configuration inherits.
void forget_classes(NeighbourConfig& config) {
  config.values.erase("labels");
  config.classes = -1;
}

void read_clip_images(ConfigReader&, NeighbourConfig& config) {
  config.families = {"Hugging Face CLIP", "CLIP"};
  add_default(config, "heads", "12");
  add_default(config, "activation", "quick_gelu");
  add_default(config, "norm_eps", "1e-05");
  forget_classes(config);
}

/// Configurations before July 2023 say 2, which is no token's place: the greatest id is read.
void read_clip_texts(ConfigReader& reader, NeighbourConfig& config) {
  config.families = {"Hugging Face CLIP text", "CLIP text"};
  add_default(config, "heads", "8");
  add_default(config, "activation", "quick_gelu");
  add_default(config, "norm_eps", "1e-05");
  forget_classes(config);
  const json& end = reader.take_value("eos_token_id");
  if (end.is_null()) return;
  if (!end.is_number_integer() || end.get<std::int64_t>() < 0) {
    throw Error(ErrorKind::damaged, "the token that ends a text is the number of one")
        .about("eos_token_id")
        .expected("a whole number from 0 on")
        .found(json_text(end));
  }
  config.values["readout.end_token"] = end == 2 ? "-1" : end.dump();
}

void read_siglip_images(ConfigReader& reader, NeighbourConfig& config) {
  add_default(config, "heads", "12");
  add_default(config, "activation", "gelu_tanh");
  add_default(config, "norm_eps", "1e-06");
  forget_classes(config);
  // The tensors of the head say it too.
  (void)truth(reader.take_value("vision_use_head"), true, "vision_use_head");
}

/// Its padding is the tokenizer's, which comes before what is said here.
void read_siglip_texts(ConfigReader& reader, NeighbourConfig& config) {
  add_default(config, "heads", "12");
  add_default(config, "activation", "gelu_tanh");
  add_default(config, "norm_eps", "1e-06");
  forget_classes(config);
}

/// One tower of `kind`, whose configuration stands under `key`: that of KEY_dict, where it is
/// there, replaces it.
void read_tower(ConfigReader& reader, const char* key, const char* kind, NeighbourConfig& config) {
  const json& first = reader.take_value(key);
  const json& instead = reader.take_value(std::string(key) + "_dict");
  json object = instead.is_object() ? instead : first.is_object() ? first : json::object();
  const json stated = object.value("model_type", json(kind));
  if (stated != kind) {
    throw Error(ErrorKind::unsupported, "the tower is of another kind")
        .about(std::string(key) + ".model_type")
        .expected(kind)
        .found(json_text(stated));
  }
  object["model_type"] = kind;
  NeighbourConfig tower;
  tower.file = config.file;
  read_hugging_face_config(object, tower);
  for (auto& [name, value] : tower.unknown) name = std::string(key) + "." + name;
  config.families.insert(config.families.end(), tower.families.begin(), tower.families.end());
  config.towers.push_back(std::move(tower));
}

void read_clip(ConfigReader& reader, NeighbourConfig& config) {
  config.families.clear();
  read_tower(reader, "vision_config", "clip_vision_model", config);
  const json& padding = reader.take_value("pad_token_id");
  if (padding.is_number_unsigned()) config.values["padding"] = padding.dump();
  read_tower(reader, "text_config", "clip_text_model", config);
}

void read_siglip(ConfigReader& reader, NeighbourConfig& config) {
  config.families.clear();
  read_tower(reader, "vision_config", "siglip_vision_model", config);
  read_tower(reader, "text_config", "siglip_text_model", config);
}

constexpr ModelType kTypes[] = {
    {"clip", "Hugging Face CLIP", kTowersKeys, read_clip},
    {"clip_vision_model", "Hugging Face CLIP", kImageTowerKeys, read_clip_images},
    {"clip_text_model", "Hugging Face CLIP text", kTextTowerKeys, read_clip_texts},
    {"siglip", "Hugging Face SigLIP", kTowersKeys, read_siglip},
    {"siglip_vision_model", "Hugging Face SigLIP", kImageTowerKeys, read_siglip_images},
    {"siglip_text_model", "Hugging Face SigLIP text", kTextTowerKeys, read_siglip_texts},
};

}  // namespace

std::span<const ModelType> tower_model_types() { return kTypes; }

}  // namespace attnscope
