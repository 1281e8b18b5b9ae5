// Rules of Gemma.
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/architecture/configuration/hugging_face/rules.h"
#include "core/error.h"

namespace attnscope {

namespace {

using nlohmann::json;

}  // namespace

void read_query_scale(ConfigReader& reader, NeighbourConfig& config) {
  const json& scalar = reader.take_value("query_pre_attn_scalar");
  if (!reader.has("query_pre_attn_scalar")) return;
  if (!scalar.is_number() || scalar.get<double>() <= 0) {
    throw Error(ErrorKind::damaged, "the value is out of range")
        .about("query_pre_attn_scalar")
        .expected("a number above 0")
        .found(json_text(scalar));
  }
  config.values["scale"] = json(1 / std::sqrt(scalar.get<double>())).dump();
}

void read_gemma_activation(ConfigReader& reader, NeighbourConfig& config) {
  const json& own = reader.take_value("hidden_activation");
  const json& other = reader.take_value("hidden_act");
  const char* const key = own.is_null() ? "hidden_act" : "hidden_activation";
  const json& act = own.is_null() ? other : own;
  if (act.is_null()) return;
  if (!act.is_string()) {
    throw Error(ErrorKind::damaged, "the value has the wrong type")
        .about(key)
        .expected("the name of an activation")
        .found(json_text(act));
  }
  if (own.is_null() && act == "gelu") {
    throw Error(ErrorKind::unsupported, "the configuration does not give the form of GELU")
        .about("hidden_act")
        .expected("gelu_pytorch_tanh")
        .found("gelu")
        .remedy("--option ignore=config.hidden_act takes the tanh form, as Gemma was trained");
  }
  config.values["activation"] = activation_named(act.get<std::string>(), key);
}

}  // namespace attnscope
