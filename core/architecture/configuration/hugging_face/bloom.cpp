// Configuration keys of BLOOM.
#include "core/architecture/configuration/hugging_face/model_type.h"

namespace attnscope {

namespace {

using Use = KeyUse;

constexpr ConfigKey kBloomKeys[] = {
    {"n_head", Use::member, "heads"},
    {"num_attention_heads", Use::member, "heads"},
    {"layer_norm_epsilon", Use::member, "norm_eps"},
    {"n_embed", Use::fact, "width"},
    {"hidden_size", Use::fact, "width"},
    {"n_layer", Use::fact, "layers"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"vocab_size", Use::fact, "vocabulary"},
    {"apply_residual_connection_post_layernorm", Use::required, "false"},
    {"alibi", Use::required, "true"},  // its code has no other positions
    {"n_inner"},                       // always four times the width
    {"seq_length"},                    // length in training; ALiBi has no limit
    {"offset_alibi"},
    {"pretraining_tp"},  // same result with a different order of rounding
    {"slow_but_exact"},
    {"attention_softmax_in_fp32"},
    {"masked_softmax_fusion"},
    {"bias_dropout_fusion"},
    {"skip_bias_add*"},
};

constexpr ModelType kBloomTypes[] = {{"bloom", "hugging-face-bloom", kBloomKeys}};

}  // namespace

std::span<const ModelType> bloom_model_types() { return kBloomTypes; }

}  // namespace attnscope
