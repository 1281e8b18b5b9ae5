// Rules of Nomic's BERT.
#include <nlohmann/json.hpp>

#include "core/architecture/configuration/hugging_face/rules.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;

double number_of(const json& value, double usual, const char* key, bool possible(double)) {
  if (value.is_null()) return usual;
  if (value.is_number() && possible(value.get<double>())) return value.get<double>();
  throw Error(ErrorKind::unsupported, "rotary positions with this value are not supported")
      .about(key)
      .found(json_text(value));
}

/// Reads the rotated fraction of a head's channels. A scaling factor applies to texts longer than
/// those in training.
void read_nomic_rotary(ConfigReader& reader, NeighbourConfig& config) {
  const auto positive = [](double number) { return number > 0; };
  const auto part = [](double number) { return number > 0 && number <= 1; };
  const char* const base = "rotary_emb_base";
  config.values["layer.rotary.theta"] =
      json(number_of(reader.take_value(base), 10000, base, positive)).dump();
  const char* const fraction = "rotary_emb_fraction";
  // Without this key, positions would be learned.
  const double turned = number_of(reader.take_value(fraction), 0, fraction, part);
  const json &width = reader.take_value("n_embd"), &heads = reader.take_value("n_head");
  const bool sized = width.is_number_integer() && heads.is_number_integer() && heads > 0;
  if (turned == 0 || !sized) {
    throw Error(ErrorKind::unsupported, "the configuration gives no rotary positions")
        .about(fraction)
        .expected("a number above 0, at most 1, with n_embd and n_head");
  }
  const auto head_width =
      static_cast<double>(width.get<std::int64_t>() / heads.get<std::int64_t>());
  if (turned < 1) {
    config.values["layer.rotary.width"] =
        std::to_string(static_cast<std::int64_t>(head_width * turned));
  }
  const json& factor = reader.take_value("rotary_scaling_factor");
  const json& trained = reader.take_value("max_trained_positions");
  if (factor.is_null() || factor == 0) return;
  const char* const scaling = "rotary_scaling_factor";
  config.values["layer.rotary.scaling"] = "dynamic";
  config.values["layer.rotary.factor"] = json(number_of(factor, 1, scaling, positive)).dump();
  config.values["layer.rotary.trained_context"] =
      trained.is_number_integer() ? trained.dump() : "2048";
}

}  // namespace

void read_nomic(ConfigReader& reader, NeighbourConfig& config) {
  const json& activation = reader.take_value("activation_function");
  if (activation != "swiglu" && activation != "geglu") {
    throw Error(ErrorKind::unsupported, "MLPs with this activation are not supported")
        .about("activation_function")
        .expected("swiglu or geglu")
        .found(json_text(activation));
  }
  config.values["activation"] = activation == "swiglu" ? "silu" : "gelu";
  read_nomic_rotary(reader, config);
}

}  // namespace attnscope
