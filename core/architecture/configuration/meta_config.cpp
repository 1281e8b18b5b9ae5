// Meta's params.json, which comes with Llama in Meta's format, and Mistral's, which has two more
// keys.
#include <nlohmann/json.hpp>

#include "core/architecture/configuration/config_reader.h"
#include "core/error.h"

namespace attnscope {

void read_meta_config(const nlohmann::json& object, NeighbourConfig& config) {
  // Files of other tools also have this name.
  if (!object.contains("n_heads") || !object.contains("norm_eps")) return;
  config.kind = "Meta's Llama";
  const ConfigKind& kind = config_kind("meta/params.json");
  config.families = kind.families;
  ConfigReader reader(object, config);
  reader.take(kind);
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
