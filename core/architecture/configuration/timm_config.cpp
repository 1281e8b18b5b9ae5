// Reads config.json of timm's models on Hugging Face's hub: an architecture of timm, arguments of
// its constructor, and image preprocessing.
#include <string>
#include <string_view>

#include "core/architecture/configuration/config_reader.h"
#include "core/architecture/configuration/neighbour_config.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

// ---- architectures: their possible families, and settings that follow from their names ----

constexpr std::string_view kRotaryVit = "timm-vit-with-rotary-positions";

/// Architectures of timm's class VisionTransformer with computations that the names of their
/// tensors do not show.
constexpr std::pair<std::string_view, std::string_view> kRefusedVits[] = {
    {"relpos", "relative position biases"},
    {"rope", "rotary positions"},
    {"dinov3", "rotary positions"},
    {"_rpn_", "norms after the parts and before the residuals"},
    {"_xp_", "parallel blocks"},
    {"18x2", "parallel blocks"},
    {"pwee", "parallel blocks"},
    {"dwee", "differential attention"},
    {"dlittle", "differential attention"},
    {"_r26_", "a convolutional network before the patches"},
    {"_r50_", "a convolutional network before the patches"},
    {"resnet", "a convolutional network before the patches"},
    {"_mci_", "a convolutional network before the patches"},
    {"tipsv2", "a different read-out"},
};

/// Number of heads of architectures whose heads are not 64 channels wide.
constexpr std::pair<std::string_view, std::string_view> kHeads[] = {
    {"vit_huge", "16"},
    {"deit3_huge", "16"},
    {"vit_giant_patch14_dinov2", "24"},
    {"vit_giant_patch14_reg4_dinov2", "24"},
    {"vit_giant", "16"},
    {"vit_gigantic", "16"},
    {"vit_so400m", "16"},
    {"vit_base_patch16_gap_224", "16"},
    {"test_vit", "2"},
};

/// SigLIP models with GELU's tanh form.
constexpr std::string_view kTanhs[] = {
    "vit_base_patch32_siglip_",         "vit_large_patch16_siglip_512",
    "vit_large_patch16_siglip_gap_512", "vit_so400m_patch16_siglip_",
    "vit_giantopt_patch16_siglip_",
};

constexpr std::string_view kVits[] = {"vit_", "deit_", "deit3_", "flexivit_", "test_vit"};

void refuse_vit(std::string_view architecture) {
  for (const auto& [part, what] : kRefusedVits) {
    if (architecture.find(part) == std::string_view::npos) continue;
    throw Error(ErrorKind::unsupported, "timm's " + std::string(architecture) + " has " +
                                            std::string(what) + ", which is not supported")
        .about("architecture");
  }
}

void read_vit(std::string_view architecture, NeighbourConfig& config) {
  refuse_vit(architecture);
  for (const auto& [beginning, heads] : kHeads) {
    if (!architecture.starts_with(beginning)) continue;
    config.values["heads"] = heads;
    break;
  }
  const bool clip = architecture.find("_clip_") != std::string_view::npos;
  config.values["norm_eps"] = clip ? "1e-5" : "1e-6";
  if (architecture.find("quickgelu") != std::string_view::npos) {
    config.values["activation"] = "quick_gelu";
  }
  for (const std::string_view beginning : kTanhs) {
    if (architecture.starts_with(beginning)) config.values["activation"] = "gelu_tanh";
  }
}

/// Prefixes of common architectures with parts that are not supported.
constexpr std::pair<std::string_view, std::string_view> kOtherTimmKinds[] = {
    {"xcit_", "attention between channels, not between tokens"},
    {"swinv2_", "cosines of queries and keys, and position biases from a network"},
    {"maxvit", "windows and grids between convolutions"},
};

/// Description of a known architecture: ": attention between channels"; otherwise empty.
std::string timm_kind(std::string_view architecture) {
  for (const auto& [beginning, what] : kOtherTimmKinds) {
    if (architecture.starts_with(beginning)) return ": " + std::string(what);
  }
  return {};
}

/// Families of an architecture; empty if not supported.
std::vector<std::string_view> families_of_timm(std::string_view architecture) {
  if (architecture.starts_with("pvt_v2_")) return {"timm-pvtv2", "pvtv2"};
  if (architecture.starts_with("twins_svt_")) return {"twins"};
  if (architecture.starts_with("swin_")) return {"timm-swin", "swin"};
  if (architecture.starts_with("cait_")) return {"cait"};
  if (architecture.starts_with("samvit_")) return {"timm-sam"};
  for (const std::string_view beginning : {"beit_", "beitv2_", "eva_giant_"}) {
    if (architecture.starts_with(beginning)) return {"timm-beit"};
  }
  // The largest model has its norms in different places.
  const bool enormous = architecture.starts_with("eva02_enormous");
  if (architecture.starts_with("eva02_") && !enormous) return {"timm-eva-02"};
  const bool of_eva = architecture.find("_rope_reg") != std::string_view::npos;
  if (architecture.starts_with("vit_") && of_eva) return {kRotaryVit};
  for (const std::string_view beginning : kVits) {
    if (architecture.starts_with(beginning)) return {"timm-vit", "dinov2"};
  }
  return {};
}

/// Sets the kind, the families, and the heads, epsilons and activations that follow from the name.
/// Throws Error(unsupported) for an architecture that is not supported.
void read_timm_architecture(const std::string& architecture, NeighbourConfig& config) {
  config.kind = architecture;
  config.families = families_of_timm(config.kind);
  if (config.families.empty()) {
    throw Error(ErrorKind::unsupported,
                "this timm architecture is not supported" + timm_kind(config.kind))
        .about("architecture")
        .expected(
            "vit_…, deit_…, deit3_…, flexivit_…, beit_…, beitv2_…, eva_giant_…, eva02_…, swin_…, "
            "cait_…, samvit_…, pvt_v2_… or twins_svt_…")
        .found(config.kind)
        .remedy(
            "give an architecture description, or --option ignore=config if it is not of this "
            "file");
  }
  if (config.families.front() == "timm-vit") read_vit(config.kind, config);
}

// ---- the keys ----

using nlohmann::json;
using Use = KeyUse;

constexpr ConfigKey kTimmKeys[] = {
    {"architecture"},
    {"architectures"},
    {"license"},
    {"label_descriptions"},
    {"model_type", Use::required, "\"timm_wrapper\""},
    {"num_features", Use::fact, "width"},
    {"problem_type"},
    {"torch_dtype"},
    {"dtype"},
    {"transformers_version"},
};

/// Arguments of VisionTransformer and similar classes. Arguments that only determine which tensors
/// exist are listed without a member.
constexpr ConfigKey kArgumentKeys[] = {
    {"num_heads", Use::member, "heads"},
    {"act_layer", Use::activation},
    {"embed_dim", Use::fact, "width"},
    {"depth", Use::fact, "layers"},
    {"in_chans", Use::fact, "channels"},
    {"reg_tokens", Use::fact, "register_tokens"},
    {"patch_size", Use::side, "patch"},
    {"img_size", Use::side, "image"},
    {"norm_layer", Use::required, "\"layernorm\""},
    {"pos_embed", Use::required, "\"learn\""},
    {"dynamic_img_pad", Use::required, "false"},
    {"pool_include_prefix", Use::required, "false"},
    {"class_token"},
    {"dynamic_img_size"},
    {"fc_norm"},
    {"final_norm"},
    {"fix_init"},
    {"init_values"},
    {"mlp_ratio"},
    {"no_embed_class"},
    {"num_classes"},
    {"pre_norm"},
    {"proj_bias"},
    {"qk_norm"},
    {"qkv_bias"},
    {"scale_attn_norm"},
    {"strict_img_size"},
    {"weight_init"},
    {"*drop*"},
};

/// Additional arguments of Beit and Eva, which their tensors show.
constexpr ConfigKey kEvaArgumentKeys[] = {
    {"qkv_fused"},       {"swiglu_mlp"},       {"scale_mlp"},   {"scale_attn_inner"},
    {"use_abs_pos_emb"}, {"use_rel_pos_bias"}, {"use_fc_norm"}, {"use_shared_rel_pos_bias"},
    {"head_init_scale"},
};

/// Arguments of SwinTransformer, which its tensors show.
constexpr ConfigKey kSwinArgumentKeys[] = {
    {"depths"},
    {"head_dim"},
    {"num_heads"},
    {"window_size"},
    {"always_partition", Use::required, "false"},
};

/// Arguments of Cait. Its depth is not the number of layers, which includes those of the class
/// token.
constexpr ConfigKey kCaitArgumentKeys[] = {
    {"depth"},
    {"depth_token_only"},
    {"mlp_ratio_token_only"},
};

/// Arguments of VisionTransformerSAM. Its relative position tables show which layers have windows.
constexpr ConfigKey kSamArgumentKeys[] = {
    {"global_attn_indexes"},
    {"head_hidden_size"},
    {"neck_chans"},
    {"use_abs_pos"},
    {"use_rel_pos", Use::required, "true"},
    {"use_rope", Use::required, "false"},
    {"window_size"},
};

constexpr ConfigKey kPretrainedKeys[] = {
    {"architecture"},
    {"classifier"},
    {"crop_pct", Use::member, "crop_fraction"},
    {"custom_load"},
    {"description"},
    {"file"},
    {"first_conv"},
    {"fixed_input_size"},
    {"hf_hub_*"},
    {"label_*"},
    {"license"},
    {"min_input_size"},
    {"notes"},
    {"num_classes"},
    {"origin_url"},
    {"paper_*"},
    {"pool_size"},
    {"source"},
    {"state_dict"},
    {"tag"},
    {"test_*"},
    {"url"},
};

/// Reads the arguments for rotary positions, which no tensor shows.
void read_eva_arguments(ConfigReader& reader, NeighbourConfig& config) {
  const bool rotary = config.families.front() != "timm-beit";
  reader.take(kEvaArgumentKeys);
  const json& turns = reader.take_value("use_rot_pos_emb");
  if (!turns.is_null() && turns != rotary) {
    throw Error(ErrorKind::unsupported, "the use of rotary positions contradicts the architecture")
        .about("model_args.use_rot_pos_emb")
        .expected(rotary ? "true" : "false")
        .found(json_text(turns));
  }
  const json& trained = reader.take_value("ref_feat_shape");
  if (trained.is_null() || !rotary) return;
  const bool square = trained.is_array() && trained.size() == 2 && trained[0] == trained[1];
  const json& side = square ? trained[0] : trained;
  if (!side.is_number_integer()) {
    throw Error(ErrorKind::unsupported, "the positions were trained on a grid that is not square")
        .about("model_args.ref_feat_shape")
        .expected("a number of patches, or the same number twice")
        .found(json_text(trained));
  }
  config.values["layer.rotary.trained_side"] = side.dump();
}

void take_numbers(const json& list, const char* key, const char* member, NeighbourConfig& config) {
  if (list.is_null()) return;
  std::string text;
  bool numbers = list.is_array() && !list.empty();
  for (const json& element : list) {
    numbers = numbers && element.is_number();
    text += (text.empty() ? "" : ",") + element.dump();
  }
  if (!numbers) {
    throw Error(ErrorKind::damaged, "the value has the wrong type")
        .about(key)
        .expected("a list of numbers")
        .found(json_text(list));
  }
  config.values[member] = text;
}

/// Sets `member` to the second name of the pair in `known` whose first is `value`.
void take_name(const json& value, const char* key, const char* member,
               std::span<const std::pair<std::string_view, std::string_view>> known,
               NeighbourConfig& config) {
  if (value.is_null()) return;
  std::string names;
  for (const auto& [theirs, ours] : known) {
    if (value == std::string(theirs)) {
      config.values[member] = ours;
      return;
    }
    names += (names.empty() ? "" : ", ") + std::string(theirs);
  }
  throw Error(ErrorKind::unsupported, "the value in the configuration is not supported")
      .about(key)
      .expected(names)
      .found(json_text(value))
      .remedy(std::string("--option ") + member + "=… sets another value");
}

void read_timm_preparation(const json& object, NeighbourConfig& config) {
  ConfigReader reader(object, config);
  take_numbers(reader.take_value("mean"), "mean", "input_mean", config);
  take_numbers(reader.take_value("std"), "std", "input_std", config);
  static constexpr std::pair<std::string_view, std::string_view> filters[] = {
      {"bicubic", "bicubic"}, {"bilinear", "bilinear"}};
  take_name(reader.take_value("interpolation"), "interpolation", "resize_filter", filters, config);
  static constexpr std::pair<std::string_view, std::string_view> crops[] = {
      {"center", "shorter_side"}, {"squash", "exact"}};
  config.values["resize_mode"] = "shorter_side";
  take_name(reader.take_value("crop_mode"), "crop_mode", "resize_mode", crops, config);
  const json& size = reader.take_value("input_size");
  if (size.is_array() && size.size() == 3) {
    config.values["channels"] = size[0].dump();
    config.values["image_height"] = size[1].dump();
    config.values["image_width"] = size[2].dump();
    config.facts.insert({"channels", "image_height", "image_width"});
  } else if (!size.is_null()) {
    throw Error(ErrorKind::damaged, "the value has the wrong type")
        .about("pretrained_cfg.input_size")
        .expected("channels, height and width")
        .found(json_text(size));
  }
  const json& classes = reader.take_value("num_classes");
  if (classes.is_number_integer()) config.classes = classes.get<std::int64_t>();
  reader.take(kPretrainedKeys);
  reader.finish("pretrained_cfg.");
}

/// Reads labels from a list of names, or from an object from class number to name.
void read_label_names(const json& labels, NeighbourConfig& config) {
  json list = json::array();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto found = labels.is_object() ? labels.find(std::to_string(i)) : labels.end();
    const json& label = labels.is_array() ? labels[i] : found == labels.end() ? json() : *found;
    if (!label.is_string()) return;
    list.push_back(label);
  }
  if (!list.empty()) {
    config.values["labels"] = list.dump(-1, ' ', false, json::error_handler_t::replace);
  }
}

/// Removes settings of the head: SAM's neck is not run.
void leave_out_head(NeighbourConfig& config) {
  config.values.erase("readout");
  config.values.erase("labels");
  config.classes = -1;
}

void read_pooling(const json& pooling, NeighbourConfig& config) {
  static constexpr std::pair<std::string_view, std::string_view> poolings[] = {
      {"token", "class"}, {"avg", "mean"}, {"map", "attention_pooling"}, {"", "none"}};
  take_name(pooling, "global_pool", "readout", poolings, config);
}

}  // namespace

void read_timm_config(const json& object, NeighbourConfig& config) {
  read_timm_architecture(object.at("architecture").get<std::string>(), config);
  ConfigReader reader(object, config);
  const json& prepared = reader.take_value("pretrained_cfg");
  if (prepared.is_object()) read_timm_preparation(prepared, config);
  const json& classes = reader.take_value("num_classes");
  if (classes.is_number_integer()) config.classes = classes.get<std::int64_t>();
  read_label_names(reader.take_value("label_names"), config);
  read_pooling(reader.take_value("global_pool"), config);
  json arguments = reader.take_value("model_args");
  if (arguments.is_object()) {
    // Null selects the default of the architecture.
    std::erase_if(arguments.get_ref<json::object_t&>(),
                  [](const auto& entry) { return entry.second.is_null(); });
    ConfigReader own(arguments, config);
    read_pooling(own.take_value("global_pool"), config);
    const std::string_view family = config.families.front();
    const bool of_eva = family == "timm-beit" || family == "timm-eva-02" || family == kRotaryVit;
    if (of_eva) read_eva_arguments(own, config);
    if (family == "timm-swin") own.take(kSwinArgumentKeys);
    if (family == "cait") own.take(kCaitArgumentKeys);
    if (family == "timm-sam") own.take(kSamArgumentKeys);
    own.take(kArgumentKeys);
    own.finish("model_args.");
  }
  const bool of_sam = config.families.front() == "timm-sam";
  if (of_sam) (void)reader.take_value("num_features");  // number of features of the neck
  reader.take(kTimmKeys);
  reader.finish();
  if (of_sam) leave_out_head(config);
}

}  // namespace attnscope
