// Files with an image model and a text model, their configurations, and relative and rotary
// positions on the grid of patches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/architecture/architecture.h"
#include "core/error.h"
#include "core/model/model.h"
#include "core/model/parts/token_readout.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class Towers : public testing::Test {
 protected:
  [[nodiscard]] Architecture recognise(const std::string& name,
                                       const std::map<std::string, std::string>& overrides) const {
    write_hashed_safetensors(folder_ / "model.safetensors", family_shapes(name));
    return recognise_architecture(open_checkpoint(folder_.path()), {overrides, {}});
  }

  [[nodiscard]] std::string refusal(const std::string& name,
                                    const std::map<std::string, std::string>& overrides) const {
    try {
      (void)recognise(name, overrides);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  const TemporaryFolder folder_;
};

std::string assumed(const Architecture& architecture, const std::string& option) {
  for (const Assumption& assumption : architecture.assumptions) {
    if (assumption.option == option) return assumption.value + ": " + assumption.reason;
  }
  return "not assumed";
}

TEST_F(Towers, NamesTheChosenTower) {
  // Neither width can be divided into CLIP's heads of 64 channels.
  const std::map<std::string, std::string> heads = {{"heads", "2"}};
  EXPECT_THAT(refusal("clip_images", {}), HasSubstr("--model-heads"));
  const Architecture images = recognise("clip_images", heads);
  EXPECT_EQ(images.name, "CLIP");
  EXPECT_EQ(images.spec.layers, 2);
  EXPECT_THAT(assumed(images, "input.kind"), AllOf(HasSubstr("patches: "), HasSubstr("CLIP text"),
                                                   HasSubstr("input.kind=tokens")));
  const Architecture texts = recognise("clip_images", {{"input.kind", "tokens"}, {"heads", "2"}});
  EXPECT_EQ(texts.name, "CLIP text");
  EXPECT_EQ(texts.spec.layers, 3);
  EXPECT_THAT(assumed(texts, "input.kind"),
              AllOf(HasSubstr("tokens: set by the user"), HasSubstr("CLIP"), HasSubstr("patches")));
  EXPECT_EQ(assumed(recognise("clip_images_scaled", heads), "input.kind"), "not assumed");
}

TEST_F(Towers, OneThatLacksTensorsIsNotPassedOverForTheOther) {
  const auto refused = [&](const std::string& lost, const std::string& kind) -> std::string {
    NamedShapes shapes = family_shapes("clip_images");
    std::erase_if(shapes, [&](const auto& entry) { return entry.first == lost; });
    write_hashed_safetensors(folder_ / "model.safetensors", shapes);
    try {
      return recognise_architecture(open_checkpoint(folder_.path()),
                                    {{{"input.kind", kind}, {"heads", "2"}}, {}})
          .name;
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(refused("visual.ln_post.weight", "patches"), HasSubstr("visual.ln_post.weight"));
  EXPECT_EQ(refused("visual.ln_post.weight", "tokens"), "CLIP text");
  EXPECT_THAT(refused("ln_final.weight", "tokens"), HasSubstr("ln_final.weight"));
  EXPECT_EQ(refused("ln_final.weight", "patches"), "CLIP");
}

TEST_F(Towers, EachHasItsOwnConfiguration) {
  const auto write = [&](const json& images, const json& texts) {
    const json config = {{"model_type", "clip"}, {"vision_config", images}, {"text_config", texts}};
    (void)folder_.write("config.json", config.dump());
  };
  write({{"hidden_act", "relu"}, {"num_attention_heads", 6}},
        {{"hidden_act", "gelu"}, {"eos_token_id", 17}});
  const ModelSpec images = recognise("hugging_face_clip", {}).spec;
  EXPECT_EQ(images.layer.mlp.activation, Activation::relu);
  EXPECT_EQ(images.layer.attention.heads, 6);
  const ModelSpec texts = recognise("hugging_face_clip", {{"input.kind", "tokens"}}).spec;
  EXPECT_EQ(texts.layer.mlp.activation, Activation::gelu);
  EXPECT_EQ(texts.layer.attention.heads, 8);  // the default of the class
  EXPECT_EQ(texts.readout.end_token, 17);
  EXPECT_EQ(texts.layer.norm.eps, 1e-5);
  // An unknown key of the other tower does not matter.
  write({{"attention_of_tomorrow", "linear"}}, json::object());
  EXPECT_THAT(refusal("hugging_face_clip", {}), HasSubstr("vision_config.attention_of_tomorrow"));
  EXPECT_EQ(refusal("hugging_face_clip", {{"input.kind", "tokens"}}), "no error");
  write({{"model_type", "chinese_clip_vision_model"}}, json::object());
  EXPECT_THAT(refusal("hugging_face_clip", {}), HasSubstr("vision_config.model_type"));
}

TEST_F(Towers, TextsAreFilledUpWithTheTokenizersPadding) {
  const auto padding = [&](const std::map<std::string, std::string>& overrides = {}) {
    std::map<std::string, std::string> all = {{"input.kind", "tokens"}, {"heads", "4"}};
    all.insert(overrides.begin(), overrides.end());
    return assumed(recognise("hugging_face_siglip", all), "padding");
  };
  EXPECT_THAT(padding(), HasSubstr("1: the default of SiglipTextConfig"));
  (void)folder_.write("config.json",
                      R"({"model_type": "siglip", "vision_config": {"num_attention_heads": 4},
                          "text_config": {"num_attention_heads": 4, "pad_token_id": 3}})");
  EXPECT_THAT(padding(), HasSubstr("3: as the configuration"));
  (void)folder_.write("tokenizer_config.json",
                      R"({"pad_token": {"content": "<pad>"}, "added_tokens_decoder":
                          {"0": {"content": "</s>"}, "12": {"content": "<pad>"}}})");
  EXPECT_THAT(padding(), HasSubstr("12: as tokenizer_config.json"));
  EXPECT_EQ(
      recognise("hugging_face_siglip", {{"input.kind", "tokens"}, {"heads", "4"}, {"padding", "7"}})
          .spec.input.padding,
      7);
  EXPECT_THAT(
      refusal("hugging_face_siglip", {{"input.kind", "tokens"}, {"heads", "4"}, {"padding", "-1"}}),
      HasSubstr("pads texts"));
}

TEST_F(Towers, ImagesArePreparedByTheConfiguration) {
  (void)folder_.write("config.json",
                      R"({"model_type": "clip", "vision_config": {"num_attention_heads": 4}})");
  (void)folder_.write("preprocessor_config.json",
                      R"({"image_mean": [0.1, 0.2, 0.3], "image_std": [0.4, 0.5, 0.6],
                          "size": {"shortest_edge": 40}, "crop_size": {"height": 32, "width": 32},
                          "do_center_crop": true, "resample": 2})");
  const InputSpec input = recognise("hugging_face_clip", {}).spec.input;
  EXPECT_EQ(input.mean, (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_EQ(input.std, (std::vector<double>{0.4, 0.5, 0.6}));
  EXPECT_EQ(input.crop_fraction, 0.8);
  EXPECT_EQ(input.resize_filter, ResizeFilter::bilinear);
}

TEST_F(Towers, OpenClipsConfigurationIsRead) {
  const auto write = [&](const json& images, const json& texts, const json& more) {
    json model = {{"embed_dim", 11}, {"vision_cfg", images}, {"text_cfg", texts}};
    model.update(more);
    const json prepared = {{"mean", {0.5, 0.5, 0.5}}, {"resize_mode", "squash"}};
    (void)folder_.write("open_clip_config.json",
                        json({{"model_cfg", model}, {"preprocess_cfg", prepared}}).dump());
  };
  const json images = {{"image_size", 32}, {"layers", 2},      {"width", 48},
                       {"patch_size", 8},  {"head_width", 16}, {"norm_kwargs", {{"eps", 1e-6}}}};
  const json texts = {
      {"context_length", 24}, {"vocab_size", 29}, {"width", 32}, {"heads", 2}, {"layers", 3}};
  write(images, texts, json::object());
  const ModelSpec read = recognise("clip_images", {}).spec;
  EXPECT_EQ(read.layer.mlp.activation, Activation::gelu);
  EXPECT_EQ(read.layer.attention.heads, 3);
  EXPECT_EQ(read.layer.norm.eps, 1e-6);
  EXPECT_EQ(read.input.mean, (std::vector<double>{0.5, 0.5, 0.5}));
  EXPECT_EQ(read.input.resize_mode, ResizeMode::exact);
  const ModelSpec text = recognise("clip_images", {{"input.kind", "tokens"}}).spec;
  EXPECT_EQ(text.layer.attention.heads, 2);
  EXPECT_EQ(text.layer.norm.eps, 1e-5);
  write(images, texts, {{"quick_gelu", true}});
  EXPECT_EQ(recognise("clip_images", {}).spec.layer.mlp.activation, Activation::quick_gelu);

  const auto refused = [&](const json& changed, const json& more) {
    json other = images;
    other.update(changed);
    write(other, texts, more);
    return refusal("clip_images", {});
  };
  EXPECT_THAT(refused({{"pool_type", "none"}}, json::object()),
              AllOf(HasSubstr("open_clip_config.json"), HasSubstr("pool_type")));
  EXPECT_THAT(refused({{"attention_of_tomorrow", "linear"}}, json::object()),
              HasSubstr("model_cfg.vision_cfg.attention_of_tomorrow"));
  EXPECT_THAT(refused(json::object(), {{"multimodal_cfg", {{"width", 32}}}}),
              HasSubstr("model_cfg.multimodal_cfg"));
  EXPECT_THAT(refused({{"width", 64}}, json::object()), HasSubstr("width"));
}

TEST_F(Towers, OpenClipsOtherWrappersAreKnown) {
  NamedShapes shapes;
  for (auto& [name, shape] : family_shapes("timm_siglip")) {
    shapes.emplace_back("visual.trunk." + name, shape);
  }
  for (auto& [name, shape] : family_shapes("clip_texts")) {
    if (!name.starts_with("visual.")) shapes.emplace_back("text." + name, shape);
  }
  write_hashed_safetensors(folder_ / "model.safetensors", shapes);
  const auto name_of = [&](const std::string& kind, const ModelOptions& more = {}) {
    const Checkpoint checkpoint = open_checkpoint(folder_.path());
    ModelOptions options = more;
    options.overrides["input.kind"] = kind;
    return recognise_architecture(checkpoint, options);
  };
  const ModelOptions heads = {{{"heads", "2"}}, {}};
  EXPECT_EQ(name_of("patches", heads).name, "timm ViT");
  EXPECT_EQ(name_of("patches", heads).spec.readout.kind, Readout::attention_pooling);
  EXPECT_EQ(name_of("tokens", heads).name, "CLIP text");
  // In SigLIP's configuration the text tower is not CLIP's, and timm's name gives the activation.
  (void)folder_.write("open_clip_config.json", R"({"model_cfg": {
      "embed_dim": 48, "init_logit_bias": -10, "custom_text": true,
      "vision_cfg": {"image_size": 32, "timm_model_name": "vit_so400m_patch16_siglip_256",
                     "timm_model_pretrained": false, "timm_pool": "map", "timm_proj": "none"},
      "text_cfg": {"context_length": 24, "vocab_size": 29, "width": 32, "heads": 2, "layers": 3,
                   "no_causal_mask": true, "proj_bias": true, "pool_type": "last"}},
      "preprocess_cfg": {"mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5],
                         "interpolation": "bicubic", "resize_mode": "squash"}})");
  const Architecture images = name_of("patches");
  EXPECT_EQ(images.name, "timm ViT");
  EXPECT_EQ(images.spec.layer.mlp.activation, Activation::gelu_tanh);
  EXPECT_EQ(images.spec.input.resize_mode, ResizeMode::exact);
  EXPECT_EQ(images.spec.input.mean, (std::vector<double>{0.5, 0.5, 0.5}));
}

TEST_F(Towers, OpenClipsSiglipReadsTheLastOfAllTokens) {
  const auto write = [&](const json& more) {
    json texts = {{"context_length", 24},
                  {"vocab_size", 29},
                  {"hf_tokenizer_name", "timm/ViT-B-16-SigLIP"},
                  {"tokenizer_kwargs", {{"clean", "canonicalize"}}},
                  {"width", 32},
                  {"heads", 4},
                  {"layers", 3},
                  {"no_causal_mask", true},
                  {"proj_bias", true},
                  {"pool_type", "last"},
                  {"norm_kwargs", {{"eps", 1e-6}}},
                  {"act_kwargs", {{"approximate", "tanh"}}}};
    texts.update(more);
    const json model = {
        {"embed_dim", 48}, {"init_logit_bias", -10}, {"custom_text", true}, {"text_cfg", texts}};
    (void)folder_.write("open_clip_config.json", json({{"model_cfg", model}}).dump());
  };
  write(json::object());
  const ModelSpec text = recognise("open_clip_siglip_text", {}).spec;
  EXPECT_EQ(text.readout.kind, Readout::last_token);
  EXPECT_FALSE(text.layer.scores.causal);
  EXPECT_TRUE(text.input.pads_to_context);
  EXPECT_EQ(text.input.padding, 1);
  EXPECT_EQ(text.layer.attention.heads, 4);
  EXPECT_EQ(text.layer.norm.eps, 1e-6);
  EXPECT_EQ(text.layer.mlp.activation, Activation::gelu_tanh);
  write({{"pool_type", "first"}});
  EXPECT_THAT(refusal("open_clip_siglip_text", {}), HasSubstr("open_clip_config.json"));
  write({{"attention_of_tomorrow", "linear"}});
  EXPECT_THAT(refusal("open_clip_siglip_text", {}), HasSubstr("attention_of_tomorrow"));
}

TEST(Readout, ATextsEndIsTheFirstOfItsTokenOrTheGreatest) {
  EXPECT_EQ(end_of_text({5, 9, 2, 9, 1}, -1), 1);
  EXPECT_EQ(end_of_text({5, 9, 2, 9, 2}, 2), 2);
  EXPECT_THROW((void)end_of_text({5, 9, 2}, 7), Error);
  EXPECT_THROW((void)end_of_text({}, -1), Error);
}

TEST_F(Towers, RelativePositionsGiveTheGridAndAreInterpolated) {
  const std::map<std::string, std::string> heads = {{"heads", "4"}};
  const Architecture found = recognise("timm_beit", heads);
  EXPECT_EQ(found.spec.input.image_height, 32);
  EXPECT_EQ(found.spec.input.image_width, 32);
  const Architecture taller = recognise("timm_beit", {{"heads", "4"}, {"image_height", "64"}});
  EXPECT_THAT(assumed(taller, "positions.table_resize"), HasSubstr("for 4 × 4 patches"));
  EXPECT_EQ(taller.spec.input.grid_rows(), 8);
  EXPECT_EQ(refusal("timm_beit_shared", {{"heads", "4"}, {"image_width", "64"}}), "no error");
  // Another grid in the file's own configuration is not an explicit choice of the user.
  (void)folder_.write("config.json", R"({"architecture": "beit_base_patch16_384",
      "model_args": {"num_heads": 4}, "pretrained_cfg": {"input_size": [3, 48, 48]}})");
  EXPECT_THAT(refusal("timm_beit", {}),
              AllOf(HasSubstr("relative_position_bias_table"), HasSubstr("image_height")));
}

TEST_F(Towers, InterpolatesSwinsTablesToOtherWindows) {
  const std::map<std::string, std::string> size = {{"image_height", "32"}, {"image_width", "32"}};
  EXPECT_EQ(assumed(recognise("swin", size), "positions.table_resize"), "not assumed");
  auto wider = size;
  wider["layer.scores.window"] = "8";
  const Architecture found = recognise("swin", wider);
  EXPECT_EQ(found.spec.stages.at(0).window, 8);
  EXPECT_EQ(found.spec.stages.at(1).window, 8);
  EXPECT_THAT(assumed(found, "positions.table_resize"), HasSubstr("for windows of 4"));
  wider["layer.scores.window"] = "5";
  EXPECT_THAT(refusal("swin", wider), HasSubstr("windows"));
}

TEST_F(Towers, SwinsWindowsFollowFromItsTablesAndFillItsGrids) {
  const auto sized = [&](const char* pixels) {
    return std::map<std::string, std::string>{{"image_height", pixels}, {"image_width", pixels}};
  };
  for (const char* name : {"swin", "timm_swin"}) {
    const Architecture found = recognise(name, sized("32"));
    EXPECT_EQ(found.spec.stages.at(0).window, 4) << name;
    EXPECT_EQ(found.spec.stages.at(0).heads, 2) << name;
    EXPECT_EQ(found.spec.stages.at(1).heads, 4) << name;
    EXPECT_EQ(found.spec.stages.at(1).width, 32) << name;
    EXPECT_EQ(recognise(name, sized("48")).spec.input.image_height, 48) << name;
    EXPECT_THAT(refusal(name, sized("34")), HasSubstr("image_height")) << name;
  }
  // The authors' code does not pad, timm does not pad an odd side before it is halved, and no code
  // accepts a grid smaller than a window.
  EXPECT_THAT(refusal("swin", sized("40")), HasSubstr("windows"));
  EXPECT_EQ(recognise("timm_swin", sized("40")).spec.input.image_height, 40);
  EXPECT_EQ(recognise("hugging_face_swin", sized("34")).spec.input.image_height, 34);
  EXPECT_THAT(refusal("timm_swin", sized("12")), HasSubstr("smaller than the windows"));
}

TEST_F(Towers, Eva02sNamesAreReadAsEvaWithoutAConfiguration) {
  EXPECT_THAT(refusal("timm_eva02_fused", {{"heads", "4"}}), HasSubstr("mlp_form"));
  const Architecture found = recognise("timm_eva02", {{"heads", "4"}});
  EXPECT_EQ(found.spec.layer.rotary.grid, RotaryGrid::cells);
  EXPECT_THAT(assumed(found, "layer.rotary.trained_side"), HasSubstr("16: "));
}

}  // namespace
}  // namespace attnscope
