// Every key of every supported configuration class of transformers. A missing key reads as
// upstream's default, null as upstream's None, and any other value changes the result, is refused,
// or is known to have no influence. The keys are in tests/data/configuration.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>

#include "core/architecture/configuration/config_reader.h"
#include "core/architecture/configuration/neighbour_config.h"
#include "core/error.h"
#include "core/text/pattern.h"
#include "tests/support/reference_maps.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using nlohmann::json;

/// Keys that may have any value, with the reason.
struct FreeKey {
  std::string_view kinds;  ///< pattern of model types; * stands for any characters
  std::string_view key;    ///< pattern of the key
  std::string_view why;
};
constexpr FreeKey kFreeKeys[] = {
    {"*", "*dropout*", "training"},
    {"*", "*_pdrop", "training"},
    {"*", "*layerdrop", "training"},
    {"*", "drop_path_rate", "training"},
    {"*", "initializer_*", "training"},
    {"*", "use_cache", "generation"},
    {"*", "*_token_id", "generation, or the tokenizer says it"},
    {"*", "summary_*", "heads that are not run"},
    {"*", "*_bias", "whether the tensors are there says it"},
    {"*", "layerscale_value", "the first values of tensors"},
    {"*", "layer_scale_init_value", "the first values of tensors"},
    {"*", "mlp_ratio", "the tensors' shapes say it"},
    {"*", "out_*", "which layers a backbone gives"},
    {"*", "apply_layernorm", "backbones"},
    {"*", "reshape_hidden_states", "backbones"},
    {"*", "use_mask_token", "masked images, in training"},
    {"*", "encoder_stride", "masked images, in training"},
    {"*", "pooler_output_size", "the pooler is not run"},
    {"*", "pooler_act", "the pooler is not run"},
    {"*", "pooler_hidden_size", "the tensors' shapes say it"},
    {"*", "auxiliary_*", "segmentation"},
    {"*", "use_auxiliary_head", "segmentation"},
    {"*", "pool_scales", "segmentation"},
    {"*", "semantic_loss_ignore_index", "segmentation"},
    {"*", "add_fpn", "segmentation"},
    {"*", "projection_dim", "the tensors' shapes say it"},
    {"*", "projection_size", "the tensors' shapes say it"},
    {"*clip*", "logit_scale_init_value", "the first value of a tensor"},
    {"*", "chunk_size_feed_forward", "memory"},
    {"*", "router_aux_loss_coef", "training"},
    {"*", "router_jitter_noise", "training"},
    {"*", "output_router_logits", "what a call returns"},
    {"beit", "vocab_size", "masked images, in training"},
    {"data2vec-vision", "vocab_size", "masked images, in training"},
    {"beit", "use_absolute_position_embeddings", "whether the tensor is there says it"},
    {"data2vec-vision", "use_absolute_position_embeddings", "whether the tensor is there says it"},
    {"bloom", "pretraining_tp", "the same in another order of rounding"},
    {"bloom", "slow_but_exact", "the same in another order of rounding"},
    {"deberta*", "legacy", "the tensors' names say it"},
    {"deepseek_v2", "head_dim", "computed from the widths of its parts"},
    {"deepseek_v2", "intermediate_size", "of layers with one MLP, of which it has none by default"},
    {"deepseek_v2", "n_group", "of another topk_method"},
    {"deepseek_v2", "topk_group", "of another topk_method"},
    {"diffllama", "lambda_std_dev", "training"},
    {"dinov3_vit", "pos_embed_*", "training"},
    {"dinov3_vit", "use_gated_mlp", "the tensors say it"},
    {"distilbert", "sinusoidal_pos_embds", "the file holds them"},
    {"esm", "max_position_embeddings", "rotary positions have no limit"},
    {"falcon", "bias", "the tensors say it"},
    {"falcon", "num_kv_heads", "of new_decoder_architecture, which families_test compares"},
    {"falcon", "num_ln_in_parallel_attn", "the tensors say it"},
    {"gemma2", "hidden_act", "hidden_activation is what counts"},
    {"gpt2", "reorder_and_upcast_attn", "the same in another order of rounding"},
    {"gpt2", "vocab_size", "the tensors' shapes say it"},
    {"gptj", "rotary", "its code has no other"},
    {"marian", "share_encoder_decoder_embeddings", "the tensors say it"},
    {"modernbert", "deterministic_flash_attn", "the same in another order of rounding"},
    {"modernbert", "sparse_pred*", "training"},
    {"mt5", "tie_word_embeddings", "versions of transformers differ in its default"},
    {"opt", "enable_bias", "the tensors say it"},
    {"phi", "qk_layernorm", "the tensors say it"},
    {"phi3", "original_max_position_embeddings", "of rope_scaling alone"},
    {"qwen*", "shared_expert_intermediate_size", "the tensors' shapes say it"},
    {"qwen3_next", "intermediate_size", "of layers with one MLP, which mlp_only_layers lists"},
    {"qwen3_next", "linear_conv_kernel_dim", "the tensors' shapes say it"},
    {"qwen2_moe", "intermediate_size", "of layers with one MLP, which mlp_only_layers lists"},
    {"qwen3_moe", "intermediate_size", "of layers with one MLP, which mlp_only_layers lists"},
    {"sam", "tie_word_embeddings", "it has no head"},
    {"sam", "prompt_encoder_config", "of the parts that are not run"},
    {"sam", "mask_decoder_config", "of the parts that are not run"},
    {"sam_vision_model", "output_channels", "of the neck, which is not run"},
    {"sam_vision_model", "num_pos_feats", "of the parts that are not run"},
    {"swin", "embed_dim", "the tensors' shapes say it"},
    {"swin", "depths", "the tensors' names say it"},
    {"swin", "num_heads", "the tables of relative positions say it"},
    {"swin", "window_size", "the tables of relative positions say it"},
    {"t5", "is_encoder_decoder", "the tensors' names say it"},
    {"mt5", "is_encoder_decoder", "the tensors' names say it"},
    {"vit_mae", "decoder_*", "training"},
    {"vit_mae", "mask_ratio", "training"},
    {"vit_mae", "norm_pix_loss", "training"},
    {"whisper", "decoder_*", "the decoder is not run"},
    {"whisper", "tie_word_embeddings", "the decoder is not run"},
    {"whisper", "vocab_size", "the decoder is not run"},
    {"whisper", "max_target_positions", "the decoder is not run"},
    {"whisper", "scale_embedding", "the decoder is not run"},
    {"whisper", "is_encoder_decoder", "the encoder is run, whatever it says"},
    {"whisper", "use_weighted_layer_sum", "heads that are not run"},
    {"whisper", "classifier_proj_size", "heads that are not run"},
    {"whisper", "apply_spec_augment", "training"},
    {"whisper", "mask_*", "training"},
};

/// Keys of sizes: the shapes of the tensors give them too, and any length can be run.
constexpr std::string_view kKeyExtents[] = {
    "*vocab_size",
    "hidden_size",
    "d_model",
    "n_embd",
    "dim",
    "embedding_size",
    "num_hidden_layers",
    "n_layer",
    "n_layers",
    "num_layers",
    "num_decoder_layers",
    "encoder_layers",
    "decoder_layers",
    "intermediate_size",
    "*_ffn_dim",
    "ffn_dim",
    "d_ff",
    "mlp_dim",
    "n_inner",
    "hidden_dim",
    "max_position_embeddings",
    "n_positions",
    "type_vocab_size",
    "num_key_value_heads",
    "num_channels",
    "image_size",
    "patch_size",
    "num_register_tokens",
    "num_mel_bins",
    "max_source_positions",
    "word_embed_proj_dim",
    "num_hidden_groups",
    "relative_attention_num_buckets",
    "n_embed",
    "num_experts",
    "num_local_experts",
    "n_routed_experts",
    "moe_intermediate_size",
    "*_lora_rank",
    "num_labels",
};

bool is_extent(std::string_view key) {
  return std::ranges::any_of(kKeyExtents, [&](auto each) { return matches_pattern(each, key); });
}

/// The result of reading a configuration, without facts that the tensors give too. After an error
/// it has only the refusal.
struct ConfigReading {
  std::map<std::string, std::string> values;
  std::string more, refusal;

  bool operator==(const ConfigReading&) const = default;
};

void add_reading(const NeighbourConfig& config, const std::string& prefix, ConfigReading& reading) {
  for (const auto& [member, value] : config.values) {
    const bool all_turn =
        member == "layer.rotary.width" && value == "0";  // the default of a missing key
    if (!all_turn) reading.values[prefix + member] = value;
  }
  reading.more += config.ties_head ? *config.ties_head ? "tied;" : "untied;" : "unsaid;";
  reading.more += std::to_string(config.classes) + ";";
  for (const std::string_view family : config.families) reading.more += std::string(family) + ";";
  for (const std::string& pattern : config.unused) reading.more += pattern + ";";
  for (std::size_t i = 0; i < config.towers.size(); ++i) {
    add_reading(config.towers[i], prefix + std::to_string(i) + ".", reading);
  }
}

/// Reads the configuration files next to the weights in `folder`.
ConfigReading reading_in(const TemporaryFolder& folder) {
  ConfigReading reading;
  try {
    const NeighbourConfig read = neighbour_config(folder / "model.safetensors");
    check_known(read);
    for (const NeighbourConfig& tower : read.towers) check_known(tower);
    add_reading(read, "", reading);
  } catch (const Error& error) {
    reading = {};
    reading.refusal = error.what();
  }
  return reading;
}

class ConfigurationKeys : public testing::Test {
 protected:
  [[nodiscard]] ConfigReading read(const std::string& kind, json config) const {
    config["model_type"] = kind;
    for (const auto& [key, value] : needed_.items()) {
      if (!config.contains(key)) config[key] = value;
    }
    (void)folder_.write("config.json", config.dump());
    return reading_in(folder_);
  }

  /// Sets keys that others are counted by, or that have no usable default.
  void set_needed(const std::string& kind, const json& keys) {
    needed_ = json::object();
    for (const char* const key :
         {"hidden_size", "num_hidden_layers", "num_layers", "encoder_layers", "decoder_layers"}) {
      if (keys.contains(key)) needed_[key] = keys[key].is_null() ? json(12) : keys[key];
    }
    if (kind.starts_with("deberta")) {
      needed_["relative_attention"] = true;
      needed_["position_biased_input"] = false;
      needed_["pos_att_type"] = {"p2c", "c2p"};
    }
    if (kind == "deberta-v2") {
      needed_["share_att_key"] = true;
      needed_["norm_rel_ebd"] = "layer_norm";
      needed_["position_buckets"] = 256;
    }
    if (kind.starts_with("qwen") && kind != "qwen3_next") needed_["use_sliding_window"] = true;
    if (kind == "esm") {
      needed_["position_embedding_type"] = "rotary";
      needed_["mask_token_id"] = 32;
    }
    if (kind.starts_with("deepseek")) needed_["moe_intermediate_size"] = 32;
    if (kind.starts_with("deepseek")) needed_["intermediate_size"] = 64;
  }

  json needed_ = json::object();
  const TemporaryFolder folder_;
};

/// Values of the same type that differ from `value`.
std::vector<json> other_values(const json& value) {
  if (value.is_boolean()) return {json(!value.get<bool>())};
  if (value.is_number_integer()) {
    return {json(value.get<std::int64_t>() + 1), json(value.get<std::int64_t>() + 7)};
  }
  if (value.is_number()) return {json(value.get<double>() * 2 + 0.125)};
  if (value.is_string()) return {json("relu"), json("silu"), json("another")};
  if (value.is_array()) return {json::array({1}), json::array({"another"})};
  return {json(7), json("another"), json(true), json({{"another", 1}})};
}

json without_unread(const json& made) {
  json keys = made["keys"];
  for (const json& key : made["unread"]) {
    if (key != "tie_word_embeddings") keys.erase(key.get<std::string>());
  }
  return keys;
}

bool is_free(const std::string& kind, const std::string& key) {
  return std::ranges::any_of(kFreeKeys, [&](const FreeKey& free) {
    return matches_pattern(free.kinds, kind) && matches_pattern(free.key, key);
  });
}

TEST_F(ConfigurationKeys, LeftOutAreTheClasssDefaults) {
  for (const auto& [kind, made] : read_test_data("configuration/upstream_keys.json").items()) {
    set_needed(kind, made["keys"]);
    const ConfigReading without = read(kind, json::object());
    const json keys = without_unread(made);
    for (const auto& [key, value] : keys.items()) {
      if (is_extent(key) || value.is_null() || is_free(kind, key) || needed_.contains(key))
        continue;
      EXPECT_EQ(read(kind, {{key, value}}).refusal, without.refusal) << kind << " " << key;
      EXPECT_EQ(read(kind, {{key, value}}).values, without.values) << kind << " " << key;
      EXPECT_EQ(read(kind, {{key, value}}).more, without.more) << kind << " " << key;
    }
  }
}

TEST_F(ConfigurationKeys, NullIsTheDefaultOrRefused) {
  for (const auto& [kind, made] : read_test_data("configuration/upstream_keys.json").items()) {
    set_needed(kind, made["keys"]);
    const ConfigReading without = read(kind, json::object());
    const json keys = without_unread(made);
    for (const auto& [key, value] : keys.items()) {
      if (is_extent(key) || is_free(kind, key) || needed_.contains(key)) continue;
      const ConfigReading null = read(kind, {{key, nullptr}});
      if (value.is_null()) {
        EXPECT_EQ(null, without) << kind << " " << key;
      } else if (null.refusal.empty() && value != false) {
        EXPECT_NE(null, without) << kind << " " << key << ": null is not " << value;
      }
    }
  }
}

TEST_F(ConfigurationKeys, OtherValuesAreReadOrRefused) {
  for (const auto& [kind, made] : read_test_data("configuration/upstream_keys.json").items()) {
    set_needed(kind, made["keys"]);
    const ConfigReading without = read(kind, json::object());
    const json keys = without_unread(made);
    for (const auto& [key, value] : keys.items()) {
      if (is_free(kind, key)) continue;
      std::vector<json> others = other_values(value);
      if (needed_.contains(key)) others.push_back(value);
      EXPECT_TRUE(std::ranges::any_of(others,
                                      [&, kind = kind, key = key](const json& other) {
                                        return read(kind, {{key, other}}) != without;
                                      }))
          << kind << " " << key << " " << value;
    }
  }
}

TEST_F(ConfigurationKeys, NullIsNoRequiredValueEvenNextToAnEqualOne) {
  EXPECT_EQ(read("albert", {{"down_scale_factor", 1}, {"inner_group_num", 1}}).refusal, "");
  EXPECT_NE(read("albert", {{"down_scale_factor", 1}, {"inner_group_num", nullptr}})
                .refusal.find("inner_group_num"),
            std::string::npos);
}

/// Keys of one object of a configuration, each with a value other than its default.
struct KeysOfObject {
  json::json_pointer place;
  json read;  ///< keys that change the result or are refused
  json free;  ///< keys that change nothing
};

void expect_each_key_counts(const std::string& file, const json& usual,
                            const std::vector<KeysOfObject>& objects) {
  const TemporaryFolder folder;
  const auto read = [&](const json& config) {
    (void)folder.write(file, config.dump());
    return reading_in(folder);
  };
  const ConfigReading without = read(usual);
  ASSERT_EQ(without.refusal, "");
  for (const auto& [place, counting, free] : objects) {
    for (const bool counts : {true, false}) {
      const json& keys = counts ? counting : free;
      for (const auto& [key, value] : keys.items()) {
        json changed = usual;
        changed[place][key] = value;
        const ConfigReading reading = read(changed);
        EXPECT_EQ(reading != without, counts)
            << file << " " << place.to_string() << " " << key << " " << reading.refusal;
      }
    }
  }
}

TEST(KeysOfTimm, AreReadRefusedOrWithoutInfluence) {
  expect_each_key_counts(
      "config.json", {{"architecture", "vit_base_patch16_224"}, {"pretrained_cfg", json::object()}},
      {{json::json_pointer("/pretrained_cfg"),
        {{"mean", {0.1, 0.2, 0.3}},
         {"std", {0.1, 0.2, 0.3}},
         {"interpolation", "bilinear"},
         {"crop_pct", 0.5},
         {"crop_mode", "squash"},
         {"input_size", {3, 32, 32}},
         {"num_classes", 7},
         {"of_tomorrow", 1}},
        {{"url", "a"},
         {"file", "a"},
         {"state_dict", {{"a", 1}}},
         {"hf_hub_id", "a"},
         {"hf_hub_filename", "a"},
         {"source", "a"},
         {"architecture", "a"},
         {"tag", "a"},
         {"custom_load", true},
         {"test_input_size", {3, 32, 32}},
         {"min_input_size", {3, 32, 32}},
         {"fixed_input_size", true},
         {"test_crop_pct", 0.5},
         {"label_offset", 1},
         {"label_names", {"a"}},
         {"label_descriptions", {{"a", "b"}}},
         {"pool_size", {7, 7}},
         {"test_pool_size", {7, 7}},
         {"first_conv", "a"},
         {"classifier", "a"},
         {"license", "a"},
         {"description", "a"},
         {"origin_url", "a"},
         {"paper_name", "a"},
         {"paper_ids", "a"},
         {"notes", {"a"}}}}});
  expect_each_key_counts(
      "config.json", {{"architecture", "vit_base_patch16_224"}, {"pretrained_cfg", json::object()}},
      {{json::json_pointer("/pretrained_cfg"), {{"input_size", 32}, {"mean", "a"}}, {}}});
}

TEST(KeysOfTimm, NameImageNetsClassesWhereTheTagSaysThatTheyWereTrained) {
  const auto labels = [](const char* tag, int classes) {
    NeighbourConfig config;
    read_timm_config({{"architecture", "vit_base_patch16_224"},
                      {"num_classes", classes},
                      {"pretrained_cfg", {{"tag", tag}}}},
                     config, {});
    const auto found = config.values.find("labels");
    return found == config.values.end() ? json() : json::parse(found->second);
  };
  const json named = labels("augreg2_in21k_ft_in1k", 1000);
  ASSERT_EQ(named.size(), 1000U);
  EXPECT_EQ(named[0], "tench");
  EXPECT_EQ(named[134], "crane (bird)");
  EXPECT_EQ(named[652], "military uniform");
  EXPECT_EQ(named[999], "toilet tissue");
  EXPECT_EQ(labels("in1k", 1000).size(), 1000U);
  EXPECT_TRUE(labels("augreg_in21k", 1000).is_null());
  EXPECT_TRUE(labels("augreg_in21k_ft_in1k", 10).is_null()) << "another head";
}

TEST(KeysOfOpenClip, AreReadRefusedOrWithoutInfluence) {
  const json images = {
      {"image_size", 32}, {"layers", 2}, {"width", 48}, {"patch_size", 8}, {"head_width", 16}};
  const json texts = {
      {"context_length", 24}, {"vocab_size", 29}, {"width", 32}, {"heads", 2}, {"layers", 3}};
  const json usual = {{"model_cfg", {{"vision_cfg", images}, {"text_cfg", texts}}},
                      {"preprocess_cfg", json::object()}};
  const json layers = {{"act_kwargs", {{"approximate", "tanh"}}},
                       {"norm_kwargs", {{"eps", 1e-6}}},
                       {"layers", 5},
                       {"width", 64},
                       {"qk_norm", true},
                       {"scaled_cosine_attn", true},
                       {"block_type", "custom"}};
  json of_images = layers, of_texts = layers;
  of_images.update({{"head_width", 8},
                    {"patch_size", 16},
                    {"image_size", 64},
                    {"pool_type", "avg"},
                    {"attentional_pool", true},
                    {"global_average_pool", true},
                    {"input_patchnorm", true}});
  of_texts.update({{"context_length", 30},
                   {"vocab_size", 50},
                   {"heads", 4},
                   {"pool_type", "last"},
                   {"no_causal_mask", true},
                   {"embed_cls", true},
                   {"hf_model_name", "roberta-base"},
                   {"eos_id", 5}});
  expect_each_key_counts("open_clip_config.json", usual,
                         {{json::json_pointer("/model_cfg/vision_cfg"),
                           of_images,
                           {{"mlp_ratio", 2.0},
                            {"ls_init_value", 0.1},
                            {"patch_dropout", 0.5},
                            {"attn_pooler_queries", 9},
                            {"attn_pooler_heads", 9},
                            {"no_ln_pre", true},
                            {"pos_embed_type", "sin_cos_2d"},
                            {"final_ln_after_pool", true},  // one token: the order does not matter
                            {"timm_pool", "map"},
                            {"output_tokens", true}}},
                          {json::json_pointer("/model_cfg/text_cfg"),
                           of_texts,
                           {{"hf_tokenizer_name", "a"},
                            {"tokenizer_kwargs", {{"clean", "lower"}}},
                            {"mlp_ratio", 2.0},
                            {"ls_init_value", 0.1},
                            {"output_tokens", true},
                            {"pad_id", 5},
                            {"proj_type", "none"},
                            {"proj_bias", true}}},
                          {json::json_pointer("/model_cfg"),
                           {{"quick_gelu", true}, {"multimodal_cfg", {{"width", 32}}}},
                           {{"embed_dim", 11},
                            {"custom_text", true},
                            {"init_logit_scale", 2},
                            {"init_logit_bias", -10},
                            {"output_dict", true},
                            {"nonscalar_logit_scale", true},
                            {"cast_dtype", "bf16"}}},
                          {json::json_pointer("/preprocess_cfg"),
                           {{"mean", {0.1, 0.2, 0.3}},
                            {"std", {0.1, 0.2, 0.3}},
                            {"interpolation", "bilinear"},
                            {"resize_mode", "squash"},
                            {"mode", "L"},
                            {"of_tomorrow", 1}},
                           {{"size", 64}, {"fill_color", 3}}}});
  for (const auto& [key, value] :
       std::map<std::string, json>{{"interpolation", "lanczos"}, {"resize_mode", "longest"}}) {
    json changed = usual;
    changed["preprocess_cfg"][key] = value;
    const TemporaryFolder folder;
    (void)folder.write("open_clip_config.json", changed.dump());
    EXPECT_NE(reading_in(folder).refusal.find(key), std::string::npos) << key;
  }
}

TEST(KeysOfOpenClip, KeysOfATimmTowerAreKnownOrRefused) {
  const json usual = {{"model_cfg",
                       {{"vision_cfg",
                         {{"image_size", 224},
                          {"timm_model_name", "vit_base_patch16_224"},
                          {"timm_pool", "map"}}}}},
                      {"preprocess_cfg", json::object()}};
  expect_each_key_counts("open_clip_config.json", usual,
                         {{json::json_pointer("/model_cfg/vision_cfg"),
                           {{"image_size", 32}, {"timm_pool", "avg"}, {"of_tomorrow", 1}},
                           {{"timm_model_pretrained", true},
                            {"timm_proj", "linear"},
                            {"timm_proj_bias", true},
                            {"timm_drop", 0.5},
                            {"timm_drop_path", 0.5}}}});
}

}  // namespace
}  // namespace attnscope
