// Meta's params.json, which comes with Llama in Meta's format, and Mistral's, which has two more
// keys.
#include "core/architecture/configuration/config_reader.h"
#include "core/error.h"

namespace attnscope {

namespace {

using Use = KeyUse;

constexpr ConfigKey kMetaKeys[] = {
    {"dim", Use::fact, "width"},
    {"n_layers", Use::fact, "layers"},
    {"n_heads", Use::member, "heads"},
    {"n_kv_heads", Use::fact, "layer.attention.key_heads"},
    {"head_dim", Use::member, "head_width"},
    {"hidden_dim", Use::fact, "mlp_width"},
    {"norm_eps", Use::member, "norm_eps"},
    {"rope_theta", Use::member, "layer.rotary.theta"},
    {"multiple_of"},
    {"ffn_dim_multiplier"},
    {"max_seq_len"},
    {"max_batch_size"},
};

}  // namespace

void read_meta_config(const nlohmann::json& object, NeighbourConfig& config) {
  // Files of other tools also have this name.
  if (!object.contains("n_heads") || !object.contains("norm_eps")) return;
  config.kind = "Meta's Llama";
  config.families = {"meta-llama"};
  ConfigReader reader(object, config);
  reader.take(kMetaKeys);
  const nlohmann::json& words = reader.take_value("vocab_size");
  if (words.is_number() && words > 0) {  // -1: the tokenizer gives it
    config.values["vocabulary"] = words.dump();
    config.facts.insert("vocabulary");
  }
  if (reader.flag("use_scaled_rope", false)) {
    throw Error(ErrorKind::unsupported,
                "the configuration does not give the scaling factor of rotary positions")
        .about("use_scaled_rope")
        .remedy(
            "--option ignore=config.use_scaled_rope --option layer.rotary.scaling=llama3 and "
            "layer.rotary.factor=8 (Llama 3.1) or 32 (3.2), or use the Hugging Face folder");
  }
  reader.finish();
}

}  // namespace attnscope
