// Configuration keys of BERT.
#include "core/architecture/configuration/hugging_face/model_type.h"

namespace attnscope {

namespace {

using Use = KeyUse;

constexpr ConfigKey kBertKeys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"layer_norm_eps", Use::member, "norm_eps"},
    {"hidden_act", Use::activation},
    {"position_embedding_type", Use::required, "\"absolute\""},
    {"hidden_size", Use::fact, "width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"intermediate_size", Use::fact, "mlp_width"},
    {"type_vocab_size", Use::fact, "input.token_types"},
    {"max_position_embeddings", Use::fact, "context"},
    {"vocab_size", Use::fact, "vocabulary"},
    {"directionality"},
    {"pooler_*"},
    {"gradient_checkpointing"},
};

constexpr ModelType kBertTypes[] = {{"bert", "hugging-face-bert", kBertKeys}};

}  // namespace

std::span<const ModelType> bert_model_types() { return kBertTypes; }

}  // namespace attnscope
