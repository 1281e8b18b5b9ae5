#include "tests/support/scratch_models.h"

namespace attnscope {

NamedShapes scratch_gpt(bool fused, bool positions) {
  NamedShapes shapes = {{"tok_emb.weight", {31, 24}}};
  if (positions) shapes.push_back({"pos_emb.weight", {12, 24}});
  for (const std::string name : {"layers.0.", "layers.1."}) {
    const auto linear = [&](const std::string& part, std::int64_t rows, std::int64_t columns) {
      shapes.push_back({name + part + ".weight", {rows, columns}});
      shapes.push_back({name + part + ".bias", {rows}});
    };
    for (const char* const norm : {"ln1", "ln2"}) {
      shapes.push_back({name + norm + ".weight", {24}});
      shapes.push_back({name + norm + ".bias", {24}});
    }
    if (fused) {
      linear("attn.qkv", 72, 24);
    } else {
      for (const char* const part : {"attn.wq", "attn.wk", "attn.wv"}) linear(part, 24, 24);
    }
    linear("attn.wo", 24, 24);
    linear("ff.0", 48, 24);
    linear("ff.2", 24, 48);
  }
  for (const char* const part : {"ln_f.weight", "ln_f.bias"}) shapes.push_back({part, {24}});
  shapes.push_back({"head.weight", {31, 24}});
  return shapes;
}

const std::vector<Variation>& variations() {
  static const std::vector<Variation> list = {
      {"base", {}},
      {"scale_width", {{"scale", "width^-1/2"}}},
      {"no_scale", {{"scale", "none"}}},
      {"scale_number", {{"scale", "0.3"}}},
      {"embedding_scale", {{"embedding_scale", "0"}}},
      {"head_split", {{"layer.attention.head_split", "channels_first"}}},
      {"head_split_alone", {{"layer.attention.head_split", "channels_then_heads"}}},
      {"parallel", {{"layer.residual", "parallel"}}},
      {"cosine", {{"layer.attention.cosine", "true"}, {"scale", "10"}}},
      {"deep_norm", {{"norm_position", "post"}, {"layer.residual_scale", "1.4142135623730951"}}},
      {"residual_scale", {{"layer.residual_scale", "0.8"}}},
      {"last_norm_unused", {{"readout.final_norm", "false"}}},
      {"rotary_half_learned", {{"layer.rotary.form", "half"}}},
      {"rotary_pair_learned", {{"layer.rotary.form", "pair"}}},
      {"rotary_theta",
       {{"layer.rotary.form", "half"}, {"layer.rotary.theta", "1e6"}},
       false,
       false},
      {"window", {{"layer.scores.window", "4"}}},
      {"soft_cap", {{"layer.scores.soft_cap", "5"}}},
      {"fused", {}, true},
      {"fused_heads_first", {{"qkv_rows", "heads_first"}}, true},
      {"sinusoids",
       {{"positions", "sinusoidal"}, {"positions.sinusoid_order", "alternating"}},
       false,
       false},
      {"sinusoids_halves",
       {{"positions", "sinusoidal"}, {"positions.sinusoid_order", "halves"}},
       false,
       false},
      {"sinusoids_fairseq",
       {{"positions", "sinusoidal"},
        {"positions.sinusoid_order", "halves_to_end"},
        {"embedding_scale", "0"}},
       false,
       false},
      {"post_norm", {{"norm_position", "post"}}},
      {"gelu_tanh", {{"activation", "gelu_tanh"}}},
      {"not_causal", {{"layer.scores.causal", "false"}}},
      {"alibi", {{"layer.scores.bias", "alibi"}}, false, false},
      {"several",
       {{"qkv_rows", "heads_first"},
        {"layer.rotary.form", "pair"},
        {"layer.rotary.theta", "5e5"},
        {"scale", "none"},
        {"layer.scores.soft_cap", "15"},
        {"activation", "silu"},
        {"norm_position", "post"},
        {"layer.residual_scale", "1.5"},
        {"embedding_scale", "0"}},
       true},
  };
  return list;
}

std::map<std::string, std::string> with_usual(const std::map<std::string, std::string>& said) {
  std::map<std::string, std::string> options = said;
  options.insert({{"heads", "3"},
                  {"norm_position", "pre"},
                  {"activation", "gelu"},
                  {"layer.scores.causal", "true"},
                  {"scale", "head_width^-1/2"},
                  {"embedding_scale", "1"}});
  return options;
}

}  // namespace attnscope
