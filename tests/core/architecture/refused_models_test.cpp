// Files that resemble a supported model but are another, and files next to the weights that decide.
#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/architecture/architecture.h"
#include "core/architecture/model_spec_json.h"
#include "core/error.h"
#include "tests/support/model_shapes.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RefusedModel : public testing::Test {
 protected:
  [[nodiscard]] Architecture recognise(const NamedShapes& shapes, ModelOptions options = {}) const {
    write_hashed_safetensors(folder_ / "model.safetensors", shapes);
    return recognise_architecture(open_checkpoint(folder_.path()), options);
  }

  [[nodiscard]] std::string refusal(const NamedShapes& shapes, ModelOptions options = {}) const {
    try {
      (void)recognise(shapes, std::move(options));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  void write_config(const char* text) const { (void)folder_.write("config.json", text); }

  [[nodiscard]] ModelOptions described_by(const char* json) const {
    (void)folder_.write("architecture.txt", json);
    return {{}, folder_ / "architecture.txt"};
  }

  const TemporaryFolder folder_;
};

NamedShapes with(NamedShapes shapes, const std::string& name, const Shape& shape) {
  shapes.push_back({name, shape});
  return shapes;
}

NamedShapes without(NamedShapes shapes, const std::string& name) {
  std::erase_if(shapes, [&](const auto& entry) { return entry.first == name; });
  return shapes;
}

TEST_F(RefusedModel, RefusesAnotherAttentionUnderTimmsNames) {
  const NamedShapes timm = timm_shapes({});
  const std::tuple<const char*, Shape, const char*> cases[] = {
      {"blocks.0.attn.rel_pos.relative_position_bias_table", {49, 4}, "relative position biases"},
      {"blocks.1.attn.rel_pos.relative_position_bias_table", {49, 4}, "relative position biases"},
      {"blocks.0.attn.lambda_q1", {8}, "differential attention"},
      {"blocks.0.attn.scale", {64}, "a learned scale"},
      {"blocks.0.attn.dwc.weight", {64, 1, 3, 3}, "a convolution of the values"},
      {"blocks.0.attn.gate.weight", {64, 64}, "gate"},
      {"rope_embed.periods", {4}, "rotary positions"},
      {"storage_tokens", {1, 4, 64}, "registers"},
      {"attn_pool.latent", {1, 1, 64}, "attention pooling"},
      {"blocks.1.attn.q_proj.lora_A.weight", {4, 64}, "LoRA"},
      {"pos_embed_extra", {1, 17, 64}, "position embeddings"},
  };
  for (const auto& [name, shape, what] : cases) {
    EXPECT_THAT(refusal(with(timm, name, shape)), HasSubstr(what)) << name;
  }
}

TEST_F(RefusedModel, RefusesDinov3UnderTorchHubsNames) {
  NamedShapes shapes = without(timm_shapes({}), "pos_embed");
  shapes.push_back({"storage_tokens", {1, 4, 64}});
  shapes.push_back({"mask_token", {1, 64}});
  shapes.push_back({"rope_embed.periods", {4}});
  for (int i = 0; i < 2; ++i) {
    const std::string block = "blocks." + std::to_string(i) + ".";
    shapes.push_back({block + "ls1.gamma", {64}});
    shapes.push_back({block + "ls2.gamma", {64}});
    shapes.push_back({block + "attn.qkv.bias_mask", {192}});
  }
  EXPECT_EQ(recognise(shapes).name, "DINOv3");
  // Without the periods the tensors fit neither.
  shapes = without(shapes, "rope_embed.periods");
  EXPECT_THAT(refusal(shapes), HasSubstr("DINOv3's registers"));
}

TEST_F(RefusedModel, RefusesImageGptUnderGpt2sNames) {
  NamedShapes shapes = {{"transformer.wte.weight", {29, 16}}, {"transformer.wpe.weight", {24, 16}}};
  const std::string layer = "transformer.h.0.";
  for (const char* norm : {"ln_1.weight", "ln_2.weight"}) shapes.push_back({layer + norm, {16}});
  shapes.push_back({layer + "attn.c_attn.weight", {16, 48}});
  shapes.push_back({layer + "attn.c_proj.weight", {16, 16}});
  shapes.push_back({layer + "mlp.c_fc.weight", {16, 64}});
  shapes.push_back({layer + "mlp.c_proj.weight", {64, 16}});
  shapes.push_back({"transformer.ln_f.weight", {16}});
  EXPECT_THAT(refusal(shapes), HasSubstr("--model-heads"));
  EXPECT_THAT(refusal(shapes, {{{"heads", "2"}}, {}}),
              AllOf(HasSubstr("without a bias"), HasSubstr("norm=rms")));
  EXPECT_EQ(recognise(shapes, {{{"heads", "2"}, {"norm", "rms"}, {"activation", "quick_gelu"}}, {}})
                .spec.layer.norm.kind,
            Norm::rms);
  write_config(R"({"model_type": "imagegpt", "n_head": 2})");
  EXPECT_THAT(refusal(shapes), AllOf(HasSubstr("imagegpt"), HasSubstr("config.json")));
}

TEST_F(RefusedModel, RefusesUnsupportedKindsByName) {
  const std::pair<const char*, const char*> kinds[] = {
      {"phimoe", "a mixture of experts"},
      {"dbrx", "a mixture of experts"},
      {"granitemoehybrid", "recurrent layers between"},
      {"kimi_k2", "compressed keys and values"},
      {"falcon_mamba", "a recurrence in place of attention"},
      {"paligemma", "an image tower"},
      {"qwen2_5_vl_moe", "a mixture of experts"},
      {"led", "an encoder and a decoder"},
      {"blenderbot", "an encoder and a decoder"},
  };
  for (const auto& [kind, what] : kinds) {
    write_config((R"({"model_type": ")" + std::string(kind) + R"("})").c_str());
    EXPECT_THAT(refusal(hugging_face_shapes({})),
                AllOf(HasSubstr(kind), HasSubstr(what), HasSubstr("config.json")));
  }
}

TEST_F(RefusedModel, DistinguishesKindsWithEqualNamesByTheConfiguration) {
  for (const char* kind : {"dinov3_vit", "audio-spectrogram-transformer", "bert", "yolos"}) {
    write_config((R"({"model_type": ")" + std::string(kind) + R"("})").c_str());
    EXPECT_THAT(refusal(hugging_face_shapes({})), HasSubstr(kind));
  }
  for (const char* name : {"vit_relpos_base_patch16_224", "vit_small_patch16_rope_224",
                           "vit_base_patch16_rpn_224", "eva02_enormous_patch14_clip_224",
                           "vit_small_patch16_dinov3", "beit3_base_patch16_224", "swinv2_tiny"}) {
    write_config((R"({"architecture": ")" + std::string(name) + R"("})").c_str());
    EXPECT_THAT(refusal(timm_shapes({})), AllOf(HasSubstr("config.json"), HasSubstr("timm")))
        << name;
  }
  write_config(R"({"model_type": "vit"})");
  EXPECT_THAT(refusal(timm_shapes({})), HasSubstr("ignore=config"));
  EXPECT_EQ(recognise(timm_shapes({}), {{{"ignore", "config"}}, {}}).name, "timm ViT");
}

TEST_F(RefusedModel, TimmsHubConfigurationIsRead) {
  write_config(R"({"architecture": "vit_tiny_patch8_32", "num_classes": 10, "num_features": 64,
      "label_names": ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"],
      "model_args": {"num_heads": 4, "act_layer": "gelu_tanh"},
      "pretrained_cfg": {"input_size": [3, 32, 32], "mean": [0.1, 0.2, 0.3], "std": [0.5, 0.5, 0.5],
        "interpolation": "bilinear", "crop_pct": 0.9, "crop_mode": "squash"}})");
  const ModelSpec spec = recognise(timm_shapes({})).spec;
  EXPECT_EQ(spec.layer.attention.heads, 4);
  EXPECT_EQ(spec.layer.mlp.activation, Activation::gelu_tanh);
  EXPECT_EQ(spec.input.mean, (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_EQ(spec.input.std, (std::vector<double>{0.5, 0.5, 0.5}));
  EXPECT_EQ(spec.input.resize_filter, ResizeFilter::bilinear);
  EXPECT_EQ(spec.input.resize_mode, ResizeMode::exact);
  EXPECT_EQ(spec.input.crop_fraction, 0.9);
  EXPECT_EQ(spec.labels.at(9), "j");
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"architecture": "vit_tiny", "num_classes": 3})", "classes"},
      {R"({"architecture": "vit_tiny", "num_features": 32})", "width"},
      {R"({"architecture": "vit_tiny", "global_pool": "max"})", "global_pool"},
      {R"({"architecture": "vit_tiny", "global_pool": "map"})", "attention pooling"},
      {R"({"architecture": "vit_tiny", "model_args": {"act_layer": "mish"}})", "mish"},
      {R"({"architecture": "vit_tiny", "model_args": {"block_fn": "Other"}})",
       "model_args.block_fn"},
      {R"({"architecture": "vit_tiny", "model_args": {"reg_tokens": 4}})", "register_tokens"},
      {R"({"architecture": "vit_tiny", "pretrained_cfg": {"crop_mode": "border"}})", "crop_mode"},
      {R"({"architecture": "vit_tiny", "pretrained_cfg": {"interpolation": "lanczos"}})",
       "lanczos"},
  };
  for (const auto& [config, what] : wrong) {
    write_config(config);
    EXPECT_THAT(refusal(timm_shapes({})), HasSubstr(what)) << config;
  }
  write_config(R"({"architecture": "vit_huge_patch8_32"})");
  EXPECT_EQ(recognise(timm_shapes({})).spec.layer.attention.heads, 16);
}

TEST_F(RefusedModel, PublishedWidthsHaveTheirNumberOfHeads) {
  const Architecture huge = recognise(timm_shapes({.width = 1280, .layers = 1, .mlp_width = 64}));
  EXPECT_EQ(huge.spec.layer.attention.heads, 16);
  EXPECT_EQ(huge.spec.width_of_head(), 80);
}

TEST_F(RefusedModel, NamesTheModelTakenFromAFileOfSeveral) {
  NamedShapes shapes = prefixed("student.backbone.", timm_shapes({.layers = 3}));
  for (auto& entry : prefixed("teacher.backbone.", timm_shapes({}))) {
    shapes.push_back(std::move(entry));
  }
  const Architecture first = recognise(shapes);
  EXPECT_EQ(first.spec.layers, 2);
  EXPECT_THAT(first.assumptions,
              Contains(AllOf(Field(&Assumption::option, "state_dict"),
                             Field(&Assumption::value, "teacher.backbone"),
                             Field(&Assumption::reason, HasSubstr("student.backbone")))));
  const Architecture student = recognise(shapes, {{{"state_dict", "student"}}, {}});
  EXPECT_EQ(student.spec.layers, 3);
  EXPECT_THAT(student.assumptions, Not(Contains(AllOf(Field(&Assumption::option, "state_dict"),
                                                      Field(&Assumption::stated, false)))));
  EXPECT_THAT(refusal(shapes, {{{"state_dict", "ema"}}, {}}),
              AllOf(HasSubstr("ema"), HasSubstr("teacher.backbone, student.backbone")));
  EXPECT_THAT(refusal(timm_shapes({}), {{{"state_dict", "ema"}}, {}}), HasSubstr("one model"));
}

const char* const kOverlapping = R"json({
  "name": "overlapping patches",
  "model": { "heads": 4, "norm": "layer" %s },
  "tensors": {
    "patch": "patch_embed.proj", "class_token": "cls_token", "positions": "pos_embed",
    "layer.norm1": "blocks.{layer}.norm1", "layer.qkv": "blocks.{layer}.attn.qkv",
    "layer.out": "blocks.{layer}.attn.proj", "layer.norm2": "blocks.{layer}.norm2",
    "layer.mlp1": "blocks.{layer}.mlp.fc1", "layer.mlp2": "blocks.{layer}.mlp.fc2",
    "final_norm": "norm", "head": "head"
  }
})json";

TEST_F(RefusedModel, OverlappingPatchesFollowFromTheImageAndThePositions) {
  NamedShapes shapes = timm_shapes({.patch = 4});
  for (auto& [name, shape] : shapes) {
    if (name == "pos_embed") shape = {1, 13 * 13 + 1, 64};
  }
  char text[2000];
  std::snprintf(text, sizeof text, kOverlapping, R"(, "image_height": 28, "image_width": 28)");
  const Architecture solved = recognise(shapes, described_by(text));
  EXPECT_EQ(solved.spec.input.patch_stride, 2);
  EXPECT_EQ(solved.spec.input.patch_padding, 0);
  EXPECT_EQ(solved.spec.tokens(), 170);
  EXPECT_THAT(solved.assumptions, Contains(Field(&Assumption::option, "patch_stride")));
  // An image of 28 pixels gives 14 × 14 patches only with padding.
  for (auto& [name, shape] : shapes) {
    if (name == "pos_embed") shape = {1, 14 * 14 + 1, 64};
  }
  const Architecture padded = recognise(shapes, described_by(text));
  EXPECT_EQ(padded.spec.input.patch_stride, 2);
  EXPECT_EQ(padded.spec.input.patch_padding, 1);
  // Without the size of the image the tiling is assumed and reported.
  std::snprintf(text, sizeof text, kOverlapping, "");
  const Architecture guessed = recognise(shapes, described_by(text));
  EXPECT_THAT(guessed.assumptions,
              Contains(AllOf(Field(&Assumption::option, "patch_stride"),
                             Field(&Assumption::reason, HasSubstr("56 × 56")))));
  ModelOptions options = described_by(text);
  options.overrides["patch_stride"] = "2";
  EXPECT_EQ(recognise(shapes, options).spec.input.image_height, 30);
}

TEST_F(RefusedModel, AsksForHeadsWhenADescriptionLacksThem) {
  char text[2000];
  std::snprintf(text, sizeof text, kOverlapping, "");
  nlohmann::json description = nlohmann::json::parse(text);
  description["model"].erase("heads");
  // 3 and 1, which were taken before, divide 48.
  const NamedShapes shapes = timm_shapes({.width = 48, .mlp_width = 96});
  ModelOptions options = described_by(description.dump().c_str());
  EXPECT_THAT(
      refusal(shapes, options),
      AllOf(HasSubstr("how many heads"), HasSubstr("a divisor of 48"),
            HasSubstr("--model-heads N, or \"heads\": N in \"model\" of architecture.txt")));
  options.overrides["heads"] = "6";
  EXPECT_EQ(recognise(shapes, options).spec.layer.attention.heads, 6);
  description["model"]["head_width"] = 16;
  options = described_by(description.dump().c_str());
  EXPECT_EQ(recognise(shapes, options).spec.layer.attention.heads, 3);
  description["model"].erase("head_width");
  description["assume"]["heads"] = 4;
  options = described_by(description.dump().c_str());
  EXPECT_EQ(recognise(shapes, options).spec.layer.attention.heads, 4);
  // Maps of DAFT belong to channels, so there is nothing to ask.
  description.erase("assume");
  description["model"]["mechanism"] = "daft-conv";
  options = described_by(description.dump().c_str());
  const Architecture daft = recognise(shapes, options);
  EXPECT_EQ(daft.spec.layer.attention.heads, 1);
  EXPECT_THAT(daft.assumptions, Not(Contains(Field(&Assumption::option, "heads"))));
}

TEST_F(RefusedModel, ADescriptionsLeftoversAreErrorsUnlessHarmlessOrIgnored) {
  char text[2000];
  std::snprintf(text, sizeof text, kOverlapping, "");
  const NamedShapes shapes = with(timm_shapes({}), "blocks.1.attn.temperature", {4});
  const ModelOptions described = described_by(text);
  EXPECT_THAT(refusal(shapes, described),
              AllOf(HasSubstr("blocks.1.attn.temperature"), HasSubstr("learned scale"),
                    HasSubstr("ignore='blocks.*.attn.temperature'")));
  ModelOptions ignoring = described;
  ignoring.overrides["ignore"] = "blocks.*.attn.temperature";
  EXPECT_THAT(recognise(shapes, ignoring).assumptions,
              Contains(AllOf(Field(&Assumption::option, "ignore"),
                             Field(&Assumption::reason, HasSubstr("set by the user")))));
  ignoring.overrides["ignore"] = "blocks.*.attn.temprature";
  EXPECT_THAT(refusal(timm_shapes({}), ignoring), HasSubstr("temprature"));
  std::string harmless = text;
  harmless.insert(harmless.find("\"model\""), R"("harmless": ["blocks.*.temperature"], )");
  EXPECT_EQ(refusal(shapes, described_by(harmless.c_str())), "no error");
}

TEST_F(RefusedModel, TheScaleOfScoresIsAMemberOfTheModel) {
  EXPECT_FALSE(score_scale(recognise(timm_shapes({})).spec, 0).has_value());
  const auto scale = [&](const char* text) {
    return score_scale(recognise(timm_shapes({}), {{{"scale", text}}, {}}).spec, 1).value();
  };
  EXPECT_DOUBLE_EQ(scale("width^-1/2"), 0.125);
  EXPECT_DOUBLE_EQ(scale("none"), 1);
  EXPECT_DOUBLE_EQ(scale("0.3"), 0.3);
  EXPECT_DOUBLE_EQ(
      score_scale(
          recognise(timm_shapes({}), {{{"heads", "4"}, {"scale_by_layer", "true"}}, {}}).spec, 1)
          .value(),
      0.25 / 2);
  EXPECT_THAT(refusal(timm_shapes({}), {{{"scale", "sqrt"}}, {}}), HasSubstr("head_width^-1/2"));
  EXPECT_THAT(refusal(timm_shapes({}), {{{"scale", "-1"}}, {}}), HasSubstr("above 0"));
  EXPECT_THAT(
      refusal(timm_shapes({}),
              {{{"mechanism", R"({"name": "softmax", "parameters": {"scale": 0.1}})"}}, {}}),
      AllOf(HasSubstr("scale"), HasSubstr("--option scale=")));
  EXPECT_THAT(refusal(timm_shapes({}), {{{"mechanism", "adder"}, {"scale", "none"}}, {}}),
              HasSubstr("adder"));
  // If the description does not give the scale, it is assumed.
  char text[2000];
  std::snprintf(text, sizeof text, kOverlapping, "");
  EXPECT_THAT(recognise(timm_shapes({}), described_by(text)).assumptions,
              Contains(Field(&Assumption::option, "scale")));
}

TEST_F(RefusedModel, RefusesACausalMaskOfAnotherShape) {
  NamedShapes shapes = {{"wte.weight", {29, 16}}, {"wpe.weight", {24, 16}}};
  for (const char* name : {"h.0.ln_1", "h.0.ln_2", "ln_f"}) {
    shapes.push_back({std::string(name) + ".weight", {16}});
    shapes.push_back({std::string(name) + ".bias", {16}});
  }
  shapes.push_back({"h.0.attn.c_attn.weight", {16, 48}});
  shapes.push_back({"h.0.attn.c_proj.weight", {16, 16}});
  shapes.push_back({"h.0.mlp.c_fc.weight", {16, 64}});
  shapes.push_back({"h.0.mlp.c_proj.weight", {64, 16}});
  const ModelOptions heads = {{{"heads", "2"}}, {}};
  EXPECT_EQ(refusal(with(shapes, "h.0.attn.bias", {1, 1, 24, 24}), heads), "no error");
  EXPECT_THAT(refusal(with(shapes, "h.0.attn.bias", {16}), heads), HasSubstr("causal mask"));
}

TEST_F(RefusedModel, AStoredMaskOfMetasLlamaMustBeCausal) {
  const NamedShapes shapes =
      with(family_shapes("meta_llama"), "layers.0.attention.mask", {1, 1, 24, 24});
  const ModelOptions heads = {{{"heads", "4"}}, {}};
  EXPECT_EQ(refusal(shapes, heads), "no error");
  Tensor window({1, 1, 24, 24});
  for (std::int64_t i = 0; i < 24; ++i) {
    for (std::int64_t j = 0; j < 24; ++j) window.data()[24 * i + j] = j <= i && j > i - 4 ? 1 : 0;
  }
  write_hashed_safetensors(folder_ / "model.safetensors", shapes,
                           {{"layers.0.attention.mask", window}});
  expect_refusal([&] { return recognise_architecture(open_checkpoint(folder_.path()), heads); },
                 ErrorKind::unsupported, "layers.0.attention.mask", folder_ / "model.safetensors");
}

TEST_F(RefusedModel, AStoredMaskHasTheWindowOfItsLayer) {
  const std::string name = "h.1.attn.attention.bias";
  const NamedShapes shapes =
      with(family_shapes("hugging_face_gpt_neo_without_config"), name, {1, 1, 24, 24});
  const ModelOptions options = {
      {{"heads", "4"}, {"differences", R"([{"layers": [1], "scores": {"window": 4}}])"}}, {}};
  const auto recognise = [&](std::int64_t width) {
    Tensor window({1, 1, 24, 24});
    for (std::int64_t i = 0; i < 24; ++i) {
      for (std::int64_t j = 0; j < 24; ++j) {
        window.data()[24 * i + j] = j <= i && j > i - width ? 1 : 0;
      }
    }
    write_hashed_safetensors(folder_ / "model.safetensors", shapes, {{name, window}});
    return recognise_architecture(open_checkpoint(folder_.path()), options);
  };
  EXPECT_NO_THROW((void)recognise(4));
  for (const std::int64_t other : {3, 5, 24}) {
    expect_refusal([&] { return recognise(other); }, ErrorKind::unsupported, name,
                   folder_ / "model.safetensors");
  }
}

TEST_F(RefusedModel, AsksForHeadsWhenTheDefaultDoesNotDivideTheWidth) {
  for (const char* const name :
       {"vit_pytorch_early_2021", "vit_pytorch_2020", "vit_pytorch_autumn_2020",
        "vit_pytorch_october_2020", "vit_pytorch_first_october_2020"}) {
    NamedShapes shapes = family_shapes(name);
    EXPECT_EQ(recognise(shapes).spec.layer.attention.heads, 8) << name;
    for (auto& [tensor, shape] : shapes) {
      if (tensor.ends_with(".to_qkv.weight")) shape[0] = 3 * 36;
      if (tensor.find(".to_out.") != std::string::npos && shape.size() == 2) shape[1] = 36;
    }
    EXPECT_THAT(refusal(shapes), AllOf(HasSubstr("how many heads"), HasSubstr("a divisor of 36"),
                                       HasSubstr("--model-heads N")))
        << name;
    EXPECT_EQ(recognise(shapes, {{{"heads", "6"}}, {}}).spec.width_of_head(), 6) << name;
  }
  NamedShapes shapes = family_shapes("fastformer_lm");
  for (auto& [tensor, shape] : shapes) std::ranges::replace(shape, 16, 18);
  EXPECT_THAT(refusal(shapes), AllOf(HasSubstr("how many heads"), HasSubstr("a divisor of 18")));
}

TEST_F(RefusedModel, RunsVitPytorchWithoutMlpsAndRefusesIncompleteOnes) {
  NamedShapes shapes = vit_pytorch_shapes({}, 64);
  std::erase_if(shapes,
                [](const auto& entry) { return entry.first.find(".1.net.") != std::string::npos; });
  EXPECT_EQ(recognise(shapes).spec.layer.mlp.form, MlpForm::none);
  EXPECT_THAT(refusal(with(shapes, "transformer.layers.1.1.net.1.weight", {256, 64})),
              HasSubstr("layer.1.mlp1.weight"));
}

TEST_F(RefusedModel, RefusesSwitchesThatMustBeOn) {
  nlohmann::json config = read_test_data("models/families/hugging_face_gptj.json")["config"];
  config["rotary"] = true;
  write_config(config.dump().c_str());
  EXPECT_EQ(refusal(family_shapes("hugging_face_gptj")), "no error");
  config["rotary"] = false;
  write_config(config.dump().c_str());
  EXPECT_THAT(refusal(family_shapes("hugging_face_gptj")),
              AllOf(HasSubstr("rotary"), HasSubstr("expected true"), HasSubstr("found false")));
}

TEST_F(RefusedModel, RefusesWindowsThatContradictTheTables) {
  nlohmann::json config = read_test_data("models/families/hugging_face_sam.json")["config"];
  const NamedShapes shapes = family_shapes("hugging_face_sam");
  write_config(config.dump().c_str());
  EXPECT_EQ(refusal(shapes), "no error");
  config["vision_config"]["global_attn_indexes"] = {0};
  write_config(config.dump().c_str());
  EXPECT_THAT(refusal(shapes), HasSubstr("contradicts the shape of the tables of relative"));
  config["vision_config"]["global_attn_indexes"] = {1};
  config["vision_config"]["window_size"] = 4;
  write_config(config.dump().c_str());
  EXPECT_THAT(refusal(shapes), HasSubstr("contradicts the shape of the tables of relative"));
}

TEST_F(RefusedModel, RefusesAttentionBetweenChannelsAndSwinV2) {
  NamedShapes xcit;
  for (auto [name, shape] : timm_shapes({})) {
    if (name == "patch_embed.proj.weight") name = "patch_embed.proj.0.0.weight";
    xcit.emplace_back(name, shape);
  }
  EXPECT_THAT(refusal(with(xcit, "blocks.0.local_mp.conv1.weight", {64, 1, 3, 3})),
              AllOf(HasSubstr("XCiT's attention between channels"), HasSubstr("local_mp")));
  NamedShapes swin;
  for (auto [name, shape] : family_shapes("timm_swin")) {
    const std::size_t table = name.find("relative_position_bias_table");
    if (table != std::string::npos) name = name.substr(0, table) + "cpb_mlp.0.weight";
    swin.emplace_back(name, shape);
  }
  EXPECT_THAT(refusal(swin), HasSubstr("Swin v2's cosines of queries and keys"));
  write_config(R"({"architecture": "xcit_nano_12_p8_224"})");
  EXPECT_THAT(refusal(xcit), HasSubstr("attention between channels, not between tokens"));
  write_config(R"({"model_type": "swinv2"})");
  EXPECT_THAT(refusal(swin), HasSubstr("cosines of queries and keys"));
}

}  // namespace
}  // namespace attnscope
