// Configuration keys of CLIP and SigLIP, each an image and a text model with its own configuration,
// and of SAM, whose encoder also has its own.
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

constexpr ConfigKey kSamKeys[] = {
    {"mask_decoder_config"},
    {"prompt_encoder_config"},
};

constexpr ConfigKey kSamImageKeys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"layer_norm_eps", Use::member, "norm_eps"},
    {"hidden_act", Use::activation},
    {"hidden_size", Use::fact, "width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"mlp_dim", Use::fact, "mlp_width"},
    {"num_channels", Use::fact, "channels"},
    {"image_size", Use::side, "image"},
    {"patch_size", Use::side, "patch"},
    {"qkv_bias"},
    // These keys have no effect on the encoder.
    {"intermediate_size"},
    {"mlp_ratio"},
    {"num_pos_feats"},
    {"output_channels"},
    {"projection_dim"},
};

/// Removes labels and classes, which these models do not have even if their configuration inherits
/// them.
void forget_classes(NeighbourConfig& config) {
  config.values.erase("labels");
  config.classes = -1;
}

void read_clip_images(ConfigReader&, NeighbourConfig& config) {
  config.families = {"hugging-face-clip", "clip"};
  forget_classes(config);
}

/// Reads CLIP's text tower. Configurations before July 2023 give the wrong eos_token_id 2; the
/// largest id is read instead.
void read_clip_texts(ConfigReader& reader, NeighbourConfig& config) {
  config.families = {"hugging-face-clip-text", "clip-text"};
  forget_classes(config);
  const json& end = reader.take_value("eos_token_id");
  if (end.is_null()) return;
  if (!end.is_number_integer() || end.get<std::int64_t>() < 0) {
    throw Error(ErrorKind::damaged, "the id of the end token is not valid")
        .about("eos_token_id")
        .expected("a whole number from 0 on")
        .found(json_text(end));
  }
  config.values["readout.end_token"] = end == 2 ? "-1" : end.dump();
}

void read_siglip_images(ConfigReader& reader, NeighbourConfig& config) {
  forget_classes(config);
  // The tensors of the head show it too.
  (void)reader.flag("vision_use_head", true);
}

/// Reads SigLIP's text tower. The tokenizer's padding token takes precedence over this one.
void read_siglip_texts(ConfigReader& reader, NeighbourConfig& config) {
  forget_classes(config);
  const json& padding = reader.take_value("pad_token_id");
  if (padding.is_number_unsigned()) config.values["padding"] = padding.dump();
}

/// Reads one tower of `kind` from the configuration under `key`, or from KEY_dict if present.
void read_tower(ConfigReader& reader, const char* key, const char* kind, NeighbourConfig& config) {
  const json& first = reader.take_value(key);
  const json& instead = reader.take_value(std::string(key) + "_dict");
  json object = instead.is_object() ? instead : first.is_object() ? first : json::object();
  const json stated = object.value("model_type", json(kind));
  // NOLINTNEXTLINE(readability-container-size-empty): empty() of a JSON text is false
  if (stated != kind && stated != "") {
    throw Error(ErrorKind::unsupported, "the tower has a different type than the model")
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
  read_tower(reader, "text_config", "clip_text_model", config);
}

void read_siglip(ConfigReader& reader, NeighbourConfig& config) {
  config.families.clear();
  read_tower(reader, "vision_config", "siglip_vision_model", config);
  read_tower(reader, "text_config", "siglip_text_model", config);
}

/// Reads SAM's windows, which all layers have except for those in a list.
void read_sam_windows(ConfigReader& reader, NeighbourConfig& config) {
  const json& window = reader.take_value("window_size");
  const json& whole = reader.take_value("global_attn_indexes");
  if (window.is_null() && whole.is_null()) return;
  if (!window.is_number_integer() || window <= 0 || !whole.is_array()) {
    throw Error(ErrorKind::unsupported, "the configuration does not give the windows of the layers")
        .about(window.is_number_integer() && window > 0 ? "global_attn_indexes" : "window_size")
        .expected("a number of patches, and a list of the layers without windows")
        .found(json_text(window) + ", " + json_text(whole));
  }
  config.values["layer.scores.window"] = window.dump();
  config.values["differences"] = "[]";
  if (!whole.empty()) {
    const json difference = {{"layers", whole}, {"scores", {{"window", 0}}}};
    config.values["differences"] = json::array({difference}).dump();
  }
  config.facts.insert({"layer.scores.window", "differences"});
}

void read_sam_images(ConfigReader& reader, NeighbourConfig& config) {
  forget_classes(config);
  for (const char* key : {"use_abs_pos", "use_rel_pos"}) {
    if (reader.flag(key, true)) continue;
    throw Error(ErrorKind::unsupported, "an encoder without these positions is not supported")
        .about(key)
        .expected("true")
        .found("false");
  }
  read_sam_windows(reader, config);
}

/// Reads SAM's encoder; prompts and masks are not run.
void read_sam(ConfigReader& reader, NeighbourConfig& config) {
  config.families.clear();
  read_tower(reader, "vision_config", "sam_vision_model", config);
}

constexpr ModelType kTowerTypes[] = {
    {"sam", "hugging-face-sam", kSamKeys, read_sam},
    {"sam_vision_model", "hugging-face-sam", kSamImageKeys, read_sam_images},
    {"clip", "hugging-face-clip", kTowersKeys, read_clip},
    {"clip_vision_model", "hugging-face-clip", kImageTowerKeys, read_clip_images},
    {"clip_text_model", "hugging-face-clip-text", kTextTowerKeys, read_clip_texts},
    {"siglip", "hugging-face-siglip", kTowersKeys, read_siglip},
    {"siglip_vision_model", "hugging-face-siglip", kImageTowerKeys, read_siglip_images},
    {"siglip_text_model", "hugging-face-siglip-text", kTextTowerKeys, read_siglip_texts},
};

}  // namespace

std::span<const ModelType> tower_model_types() { return kTowerTypes; }

}  // namespace attnscope
