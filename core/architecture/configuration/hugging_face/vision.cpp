// Configuration keys of ViT, DeiT, DINOv2, DINOv3, BEiT, data2vec-vision and Swin.
#include "core/architecture/configuration/hugging_face/model_type.h"

namespace attnscope {

namespace {

using Use = KeyUse;

/// Keys of vision transformers.
constexpr ConfigKey kVitKeys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"layer_norm_eps", Use::member, "norm_eps"},
    {"hidden_act", Use::activation},
    {"hidden_size", Use::fact, "width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"intermediate_size", Use::fact, "mlp_width"},
    {"num_channels", Use::fact, "channels"},
    {"image_size", Use::side, "image"},
    {"patch_size", Use::side, "patch"},
    {"position_embedding_type", Use::required, "\"absolute\""},
    {"qkv_bias"},
    {"encoder_stride"},
    {"pooler_*"},
    {"mask_ratio"},
    {"norm_pix_loss"},
    {"decoder_*"},
};

constexpr ConfigKey kDinov2Keys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"layer_norm_eps", Use::member, "norm_eps"},
    {"hidden_act", Use::activation},
    {"hidden_size", Use::fact, "width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"num_channels", Use::fact, "channels"},
    {"num_register_tokens", Use::fact, "register_tokens"},
    {"image_size", Use::side, "image"},
    {"patch_size", Use::side, "patch"},
    {"mlp_ratio"},
    {"qkv_bias"},
    {"layerscale_value"},
    {"use_mask_token"},
    {"apply_layernorm"},
    {"reshape_hidden_states"},
    {"out_features"},
    {"out_indices"},
    {"stage_names"},
};

constexpr ConfigKey kDinov3Keys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"layer_norm_eps", Use::member, "norm_eps"},
    {"hidden_act", Use::activation},
    {"rope_theta", Use::member, "layer.rotary.theta"},
    {"hidden_size", Use::fact, "width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"intermediate_size", Use::fact, "mlp_width"},
    {"num_channels", Use::fact, "channels"},
    {"num_register_tokens", Use::fact, "register_tokens"},
    {"image_size", Use::side, "image"},
    {"patch_size", Use::side, "patch"},
    {"*_bias"},
    {"layerscale_value"},
    {"pos_embed_*"},  // augmentations, only in training
    {"use_gated_mlp"},
    {"apply_layernorm"},
    {"reshape_hidden_states"},
    {"return_class_token"},
    {"out_features"},
    {"out_indices"},
    {"stage_names"},
};

constexpr ConfigKey kBeitKeys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"layer_norm_eps", Use::member, "norm_eps"},
    {"hidden_act", Use::activation},
    {"hidden_size", Use::fact, "width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"intermediate_size", Use::fact, "mlp_width"},
    {"num_channels", Use::fact, "channels"},
    {"image_size", Use::side, "image"},
    {"patch_size", Use::side, "patch"},
    {"vocab_size"},
    {"use_mask_token"},
    {"use_absolute_position_embeddings"},
    {"layer_scale_init_value"},
    {"semantic_*"},
    {"pool_scales"},
    {"use_auxiliary_head"},
    {"auxiliary_*"},
    {"add_fpn"},
    {"reshape_hidden_states"},
    {"out_features"},
    {"out_indices"},
    {"stage_names"},
};

/// Keys of Swin. Depths, heads and windows follow from the tensors.
constexpr ConfigKey kSwinKeys[] = {
    {"layer_norm_eps", Use::member, "norm_eps"},
    {"hidden_act", Use::activation},
    {"hidden_size", Use::fact, "width"},
    {"num_channels", Use::fact, "channels"},
    {"image_size", Use::side, "image"},
    {"patch_size", Use::side, "patch"},
    {"use_absolute_embeddings", Use::required, "false"},
    {"path_norm", Use::required, "false"},
    {"embed_dim"},
    {"depths"},
    {"num_heads"},
    {"num_layers"},
    {"window_size"},
    {"mlp_ratio"},
    {"qkv_bias"},
    {"encoder_stride"},
    {"use_mask_token"},
    {"out_features"},
    {"out_indices"},
    {"stage_names"},
};

/// Reads the tokens of the read-out, which determine the position of the norm, and whether relative
/// position tables are required.
void read_beit(ConfigReader& reader, NeighbourConfig& config) {
  const bool mean = reader.flag("use_mean_pooling", true);
  // The masked image model has neither pooling nor classes.
  config.families = {"hugging-face-beit-class-token"};
  if (mean) config.families.push_back("hugging-face-beit");
  for (const char* key : {"use_relative_position_bias", "use_shared_relative_position_bias"}) {
    if (!reader.flag(key, false)) continue;
    config.values["layer.scores.bias"] = "table";
    config.facts.insert("layer.scores.bias");
  }
}

/// Reads the MLP. A gated MLP uses SiLU regardless of hidden_act.
void read_dinov2_mlp(ConfigReader& reader, NeighbourConfig& config) {
  const bool gated = reader.flag("use_swiglu_ffn", false);
  config.values["mlp_form"] = gated ? "gated" : "plain";
  config.facts.insert("mlp_form");
  if (gated) config.values["activation"] = "silu";
}

constexpr ModelType kVisionTypes[] = {
    {"vit", "hugging-face-vit", kVitKeys},
    {"vit_msn", "hugging-face-vit", kVitKeys},
    {"vit_mae", "hugging-face-vit", kVitKeys},
    {"deit", "hugging-face-deit", kVitKeys},
    {"dinov2", "hugging-face-dinov2", kDinov2Keys, read_dinov2_mlp},
    {"dinov2_with_registers", "hugging-face-dinov2", kDinov2Keys, read_dinov2_mlp},
    {"dinov3_vit", "hugging-face-dinov3", kDinov3Keys},
    {"swin", "hugging-face-swin", kSwinKeys},
    {"beit", "hugging-face-beit", kBeitKeys, read_beit},
    {"data2vec-vision", "hugging-face-beit", kBeitKeys, read_beit},
};

}  // namespace

std::span<const ModelType> vision_model_types() { return kVisionTypes; }

}  // namespace attnscope
