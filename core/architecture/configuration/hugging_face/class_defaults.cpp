// Defaults of the configuration classes of transformers.
#include "core/architecture/configuration/hugging_face/model_type.h"

namespace attnscope {

namespace {

using nlohmann::json;

struct ClassDefaults {
  std::string_view kind;  ///< model_type
  /// JSON object. A key with | has several names, of which a configuration has one; if it has none,
  /// the first is set. Sizes are omitted, since the tensors show them.
  const char* keys;
};

constexpr ClassDefaults kClassDefaults[] = {
    {"albert", R"({"num_attention_heads": 64, "num_hidden_layers": 12, "hidden_act": "gelu_new",
                   "layer_norm_eps": 1e-12, "tie_word_embeddings": true})"},
    {"bart", R"({"encoder_attention_heads": 16, "decoder_attention_heads": 16,
                 "activation_function": "gelu", "decoder_start_token_id": 2,
                 "tie_word_embeddings": true})"},
    {"beit", R"({"num_attention_heads": 12, "hidden_act": "gelu", "layer_norm_eps": 1e-12})"},
    {"bert", R"({"num_attention_heads": 12, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
                 "tie_word_embeddings": true})"},
    {"bloom", R"({"n_head|num_attention_heads": 8, "layer_norm_epsilon": 1e-05,
                  "tie_word_embeddings": true})"},
    {"camembert", R"({"pad_token_id": 1, "num_attention_heads": 12, "layer_norm_eps": 1e-12,
                      "tie_word_embeddings": true})"},
    {"clip_text_model", R"({"num_attention_heads": 8, "hidden_act": "quick_gelu",
                            "layer_norm_eps": 1e-05})"},
    {"clip_vision_model", R"({"num_attention_heads": 12, "hidden_act": "quick_gelu",
                              "layer_norm_eps": 1e-05})"},
    {"data2vec-vision", R"({"num_attention_heads": 12, "hidden_act": "gelu",
                            "layer_norm_eps": 1e-12})"},
    {"deberta", R"({"num_attention_heads": 12, "hidden_act": "gelu", "layer_norm_eps": 1e-07,
                    "pooler_hidden_act": "gelu", "tie_word_embeddings": true})"},
    {"deberta-v2", R"({"num_attention_heads": 24, "hidden_act": "gelu", "layer_norm_eps": 1e-07,
                       "pooler_hidden_act": "gelu", "tie_word_embeddings": true})"},
    {"deit", R"({"num_attention_heads": 12, "hidden_act": "gelu", "layer_norm_eps": 1e-12})"},
    {"dinov2", R"({"num_attention_heads": 12, "hidden_act": "gelu", "layer_norm_eps": 1e-06})"},
    {"dinov2_with_registers", R"({"num_attention_heads": 12, "hidden_act": "gelu",
                                  "layer_norm_eps": 1e-06})"},
    {"dinov3_vit", R"({"num_attention_heads": 6, "hidden_act": "gelu", "layer_norm_eps": 1e-05,
                       "rope_theta": 100.0})"},
    {"distilbert", R"({"n_heads": 12, "activation": "gelu", "tie_word_embeddings": true})"},
    {"electra", R"({"num_attention_heads": 4, "layer_norm_eps": 1e-12,
                    "tie_word_embeddings": true})"},
    {"gemma", R"({"num_attention_heads": 16, "head_dim": 256, "rms_norm_eps": 1e-06,
                  "hidden_activation|hidden_act": "gelu_pytorch_tanh", "rope_theta": 10000.0,
                  "tie_word_embeddings": true})"},
    {"gemma2", R"({"num_attention_heads": 8, "head_dim": 256, "rms_norm_eps": 1e-06,
                   "hidden_activation": "gelu_pytorch_tanh", "rope_theta": 10000.0,
                   "query_pre_attn_scalar": 256, "sliding_window": 4096,
                   "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0,
                   "tie_word_embeddings": true})"},
    {"gemma3_text", R"({"num_attention_heads": 8, "head_dim": 256, "rms_norm_eps": 1e-06,
                        "hidden_activation": "gelu_pytorch_tanh", "rope_theta": 1000000.0,
                        "rope_local_base_freq": 10000.0, "query_pre_attn_scalar": 256,
                        "sliding_window": 4096, "sliding_window_pattern": 6,
                        "attn_logit_softcapping": null, "final_logit_softcapping": null,
                        "tie_word_embeddings": true})"},
    {"gpt2", R"({"n_head": 12, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-05,
                 "tie_word_embeddings": true})"},
    {"gpt_neox", R"({"num_attention_heads": 64, "hidden_act": "gelu", "layer_norm_eps": 1e-05,
                     "use_parallel_residual": true, "rotary_emb_base|rope_theta": 10000.0,
                     "rotary_pct": 0.25, "tie_word_embeddings": false})"},
    {"gptj", R"({"n_head": 16, "rotary_dim": 64, "activation_function": "gelu_new",
                 "layer_norm_epsilon": 1e-05, "n_positions": 2048,
                 "tie_word_embeddings": false})"},
    {"llama", R"({"num_attention_heads": 32, "rms_norm_eps": 1e-06, "hidden_act": "silu",
                  "rope_theta": 10000.0, "tie_word_embeddings": false})"},
    {"marian", R"({"encoder_attention_heads": 16, "decoder_attention_heads": 16,
                   "activation_function": "gelu", "decoder_start_token_id": 58100,
                   "tie_word_embeddings": true})"},
    {"mbart", R"({"encoder_attention_heads": 16, "decoder_attention_heads": 16,
                  "activation_function": "gelu", "tie_word_embeddings": true})"},
    {"mistral", R"({"num_attention_heads": 32, "rms_norm_eps": 1e-06, "hidden_act": "silu",
                    "rope_theta": 10000.0, "sliding_window": 4096,
                    "tie_word_embeddings": false})"},
    {"modernbert", R"({"num_attention_heads": 12, "norm_eps": 1e-05, "local_attention": 128,
                       "global_attn_every_n_layers": 3, "global_rope_theta": 160000.0,
                       "local_rope_theta": 10000.0, "tie_word_embeddings": true})"},
    {"mpnet", R"({"num_attention_heads": 12, "layer_norm_eps": 1e-12,
                  "tie_word_embeddings": true})"},
    // Versions of transformers differ: the head is tied in 5, not in 4.
    {"mt5", R"({"num_heads": 6, "d_kv": 64, "layer_norm_epsilon": 1e-06,
                "relative_attention_max_distance": 128, "feed_forward_proj": "gated-gelu",
                "decoder_start_token_id": 0})"},
    {"olmo2", R"({"num_attention_heads": 32, "rms_norm_eps": 1e-05, "hidden_act": "silu",
                  "rope_theta": 10000.0, "tie_word_embeddings": false})"},
    {"opt", R"({"num_attention_heads": 12, "activation_function": "relu",
                "tie_word_embeddings": true})"},
    {"pegasus", R"({"encoder_attention_heads": 16, "decoder_attention_heads": 16,
                    "activation_function": "gelu", "decoder_start_token_id": 0,
                    "tie_word_embeddings": true})"},
    {"phi", R"({"num_attention_heads": 32, "layer_norm_eps": 1e-05, "hidden_act": "gelu_new",
                "rope_theta": 10000.0, "partial_rotary_factor": 0.5,
                "tie_word_embeddings": false})"},
    {"phi3", R"({"num_attention_heads": 32, "rms_norm_eps": 1e-05, "hidden_act": "silu",
                 "rope_theta": 10000.0, "original_max_position_embeddings": 4096,
                 "tie_word_embeddings": false})"},
    {"qwen2", R"({"num_attention_heads": 32, "rms_norm_eps": 1e-06, "hidden_act": "silu",
                  "rope_theta": 10000.0, "sliding_window": 4096, "max_window_layers": 28,
                  "tie_word_embeddings": false})"},
    {"qwen3", R"({"num_attention_heads": 32, "head_dim": 128, "rms_norm_eps": 1e-06,
                  "hidden_act": "silu", "rope_theta": 10000.0, "sliding_window": 4096,
                  "max_window_layers": 28, "tie_word_embeddings": false})"},
    {"roberta", R"({"pad_token_id": 1, "num_attention_heads": 12, "layer_norm_eps": 1e-12,
                    "tie_word_embeddings": true})"},
    {"sam_vision_model", R"({"num_attention_heads": 12, "hidden_act": "gelu",
                             "layer_norm_eps": 1e-06, "window_size": 14,
                             "global_attn_indexes": [2, 5, 8, 11]})"},
    {"siglip_text_model", R"({"num_attention_heads": 12, "hidden_act": "gelu_pytorch_tanh",
                              "layer_norm_eps": 1e-06, "pad_token_id": 1})"},
    {"siglip_vision_model", R"({"num_attention_heads": 12, "hidden_act": "gelu_pytorch_tanh",
                                "layer_norm_eps": 1e-06})"},
    {"swin", R"({"hidden_act": "gelu", "layer_norm_eps": 1e-05})"},
    {"t5", R"({"num_heads": 8, "d_kv": 64, "layer_norm_epsilon": 1e-06,
               "relative_attention_max_distance": 128, "feed_forward_proj": "relu",
               "tie_word_embeddings": true})"},
    {"vit", R"({"num_attention_heads": 12, "hidden_act": "gelu", "layer_norm_eps": 1e-12})"},
    {"vit_mae", R"({"num_attention_heads": 12, "hidden_act": "gelu", "layer_norm_eps": 1e-12})"},
    {"vit_msn", R"({"num_attention_heads": 12, "hidden_act": "gelu", "layer_norm_eps": 1e-06})"},
    {"whisper", R"({"encoder_attention_heads": 6, "activation_function": "gelu"})"},
    {"xlm-roberta", R"({"pad_token_id": 1, "num_attention_heads": 12, "layer_norm_eps": 1e-12,
                        "tie_word_embeddings": true})"},
};

/// First of the names in `keys`; empty if `object` has one of them.
std::string missing_name(const json& object, std::string_view keys) {
  const std::string first(keys.substr(0, keys.find('|')));
  while (!keys.empty()) {
    const std::size_t end = std::min(keys.find('|'), keys.size());
    if (object.contains(std::string(keys.substr(0, end)))) return {};
    keys.remove_prefix(std::min(end + 1, keys.size()));
  }
  return first;
}

}  // namespace

json with_class_defaults(const json& object, std::string_view kind) {
  json all = object;
  for (const ClassDefaults& defaults : kClassDefaults) {
    if (defaults.kind != kind) continue;
    const json keys = json::parse(defaults.keys);
    for (const auto& [names, value] : keys.items()) {
      const std::string missing = missing_name(object, names);
      if (!missing.empty()) all[missing] = value;
    }
  }
  return all;
}

}  // namespace attnscope
