// Configuration keys of BERT's relatives: RoBERTa (XLM-R, CamemBERT), MPNet, DistilBERT, ELECTRA,
// ALBERT.
#include "core/architecture/configuration/hugging_face/model_type.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;
using Use = KeyUse;

/// Keys of RoBERTa. The hidden layer of the head uses gelu regardless of hidden_act.
constexpr ConfigKey kRobertaKeys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"layer_norm_eps", Use::member, "norm_eps"},
    {"hidden_act", Use::required, "\"gelu\""},
    {"position_embedding_type", Use::required, "\"absolute\""},
    {"hidden_size", Use::fact, "width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"intermediate_size", Use::fact, "mlp_width"},
    {"type_vocab_size", Use::fact, "input.token_types"},
    {"vocab_size", Use::fact, "vocabulary"},
    {"output_past"},
};

constexpr ConfigKey kMpnetKeys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"layer_norm_eps", Use::member, "norm_eps"},
    {"hidden_act", Use::required, "\"gelu\""},
    {"relative_attention_num_buckets", Use::required, "32"},  // the only value in its code
    {"hidden_size", Use::fact, "width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"intermediate_size", Use::fact, "mlp_width"},
    {"vocab_size", Use::fact, "vocabulary"},
};

constexpr ConfigKey kDistilbertKeys[] = {
    {"n_heads", Use::member, "heads"},
    {"activation", Use::activation},
    {"dim", Use::fact, "width"},
    {"n_layers", Use::fact, "layers"},
    {"hidden_dim", Use::fact, "mlp_width"},
    {"max_position_embeddings", Use::fact, "context"},
    {"vocab_size", Use::fact, "vocabulary"},
    {"sinusoidal_pos_embds"},  // the file has them
    {"tie_weights_"},
};

constexpr ConfigKey kElectraKeys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"layer_norm_eps", Use::member, "norm_eps"},
    {"hidden_act", Use::required, "\"gelu\""},
    {"position_embedding_type", Use::required, "\"absolute\""},
    {"hidden_size", Use::fact, "width"},
    {"embedding_size", Use::fact, "input.width"},
    {"num_hidden_layers", Use::fact, "layers"},
    {"intermediate_size", Use::fact, "mlp_width"},
    {"type_vocab_size", Use::fact, "input.token_types"},
    {"max_position_embeddings", Use::fact, "context"},
    {"vocab_size", Use::fact, "vocabulary"},
    {"summary_*"},  // heads for multiple choice
};

constexpr ConfigKey kAlbertKeys[] = {
    {"num_attention_heads", Use::member, "heads"},
    {"layer_norm_eps", Use::member, "norm_eps"},
    {"hidden_act", Use::activation},
    {"position_embedding_type", Use::required, "\"absolute\""},
    {"num_hidden_layers", Use::member, "layers"},
    {"num_hidden_groups", Use::fact, "stored_layers"},
    {"inner_group_num", Use::required, "1"},
    {"hidden_size", Use::fact, "width"},
    {"embedding_size", Use::fact, "input.width"},
    {"intermediate_size", Use::fact, "mlp_width"},
    {"type_vocab_size", Use::fact, "input.token_types"},
    {"max_position_embeddings", Use::fact, "context"},
    {"vocab_size", Use::fact, "vocabulary"},
    {"down_scale_factor", Use::required, "1"},
    {"gap_size", Use::required, "0"},
    {"net_structure_type", Use::required, "0"},
    {"num_memory_blocks", Use::required, "0"},
};

/// Reads positions, which are counted from the padding token's id + 1. The padding token is never
/// read.
void read_roberta(ConfigReader& reader, NeighbourConfig& config) {
  const json& padding = reader.take_value("pad_token_id");
  const json& rows = reader.take_value("max_position_embeddings");
  if (!reader.has("pad_token_id")) return;
  if (!padding.is_number_unsigned()) {
    throw Error(ErrorKind::damaged, "the value has the wrong type")
        .about("pad_token_id")
        .expected("the id of a token")
        .found(json_text(padding));
  }
  const auto id = padding.get<std::int64_t>();
  config.values["padding"] = std::to_string(id);
  config.values["positions.offset"] = std::to_string(id + 1);
  if (!rows.is_number_integer()) return;
  config.values["context"] = std::to_string(rows.get<std::int64_t>() - id - 1);
  config.facts.insert("context");
}

/// Reads MPNet's context. The padding token is 1 regardless of pad_token_id.
void read_mpnet(ConfigReader& reader, NeighbourConfig& config) {
  const json& rows = reader.take_value("max_position_embeddings");
  if (!rows.is_number_integer()) return;
  config.values["context"] = std::to_string(rows.get<std::int64_t>() - 2);
  config.facts.insert("context");
}

constexpr ModelType kEncoderTypes[] = {
    {"roberta", "hugging-face-roberta", kRobertaKeys, read_roberta},
    {"xlm-roberta", "hugging-face-roberta", kRobertaKeys, read_roberta},
    {"camembert", "hugging-face-roberta", kRobertaKeys, read_roberta},
    {"mpnet", "hugging-face-mpnet", kMpnetKeys, read_mpnet},
    {"distilbert", "hugging-face-distilbert", kDistilbertKeys},
    {"electra", "hugging-face-electra", kElectraKeys},
    {"albert", "hugging-face-albert", kAlbertKeys},
};

}  // namespace

std::span<const ModelType> encoder_model_types() { return kEncoderTypes; }

}  // namespace attnscope
