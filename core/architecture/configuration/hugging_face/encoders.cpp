// Rules of encoders of texts: RoBERTa, MPNet, ModernBERT, and the text towers of CLIP and SigLIP.
#include <nlohmann/json.hpp>

#include "core/architecture/configuration/hugging_face/rules.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;

}  // namespace

void read_positions_after_padding(ConfigReader& reader, NeighbourConfig& config) {
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

void read_mpnet_context(ConfigReader& reader, NeighbourConfig& config) {
  const json& rows = reader.take_value("max_position_embeddings");
  if (!rows.is_number_integer()) return;
  config.values["context"] = std::to_string(rows.get<std::int64_t>() - 2);
  config.facts.insert("context");
}

void read_classifier_pooling(ConfigReader& reader, NeighbourConfig& config) {
  const json& pooling = reader.take_value("classifier_pooling");
  if (reader.has("classifier_pooling") && pooling != "cls" && pooling != "mean") {
    throw Error(ErrorKind::unsupported, "the pooling of texts is not supported")
        .about("classifier_pooling")
        .expected("cls or mean")
        .found(json_text(pooling));
  }
  if (reader.take_value("architectures") != json({"ModernBertForSequenceClassification"})) return;
  config.families = {"hugging-face-modernbert-classifier"};
  config.values["readout"] = pooling == "mean" ? "mean_all" : "class";
}

void read_end_token(ConfigReader& reader, NeighbourConfig& config) {
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

void read_padding(ConfigReader& reader, NeighbourConfig& config) {
  const json& padding = reader.take_value("pad_token_id");
  if (padding.is_number_unsigned()) config.values["padding"] = padding.dump();
}

}  // namespace attnscope
