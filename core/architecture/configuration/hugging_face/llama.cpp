// Llama and those that share its layers and names.
#include "core/architecture/configuration/hugging_face/model_type.h"

namespace attnscope {

namespace {

using Use = KeyUse;

constexpr ConfigKey kLlamaKeys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"num_key_value_heads", Use::fact, "layer.attention.key_heads"},
    {"head_dim", Use::member, "head_width"},
    {"rms_norm_eps", Use::member, "norm_eps"},
    {"hidden_act", Use::activation},
    {"hidden_size", Use::fact, "width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"intermediate_size", Use::fact, "mlp_width"},
    {"vocab_size", Use::fact, "vocabulary"},
    {"attention_bias"},
    {"mlp_bias"},
    {"pretraining_tp", Use::required, "1"},
};

constexpr ModelType kTypes[] = {{"llama", "Hugging Face Llama", kLlamaKeys, read_rotary}};

}  // namespace

std::span<const ModelType> llama_model_types() { return kTypes; }

}  // namespace attnscope
