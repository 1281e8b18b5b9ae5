#include "core/architecture/architecture.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
using testing::HasSubstr;
using testing::IsEmpty;

Architecture recognise(const NamedShapes& shapes, std::map<std::string, std::string> overrides = {},
                       std::map<std::string, std::string> metadata = {}) {
  return recognise_architecture(hashed_checkpoint(shapes, std::move(metadata)),
                                {std::move(overrides), {}});
}

bool assumes(const Architecture& architecture, const std::string& option) {
  for (const Assumption& assumption : architecture.assumptions) {
    if (assumption.option == option) return true;
  }
  return false;
}

void leave_out(NamedShapes& shapes, const std::string& name) {
  std::erase_if(shapes, [&](const auto& entry) { return entry.first == name; });
}

TEST(Architecture, EveryBuiltInDescriptionIsValidAndListedByItsName) {
  for (const ArchitectureFamily& family : architecture_families()) {
    EXPECT_EQ(parse_architecture_description(family.description).name, family.name);
  }
}

TEST(Architecture, RevisionsDifferFromTheOneBefore) {
  const std::vector<std::string> texts = revisions_in(R"({
    "name": "new", "model": {"heads": 3},
    "tensors": {"layer.qkv": "b.{layer}.qkv", "head": "head"},
    "revisions": [{"name": "old", "tensors": {"head": "fc"}},
                  {"name": "oldest", "model": null, "tensors": {"head": null}}]})");
  ASSERT_EQ(texts.size(), 3U);
  const ArchitectureDescription newest = parse_architecture_description(texts[0]);
  const ArchitectureDescription old = parse_architecture_description(texts[1]);
  const ArchitectureDescription oldest = parse_architecture_description(texts[2]);
  EXPECT_EQ(newest.name, "new");
  EXPECT_EQ(newest.tensors.at("head.0.weight").front().pattern, "head.weight");
  EXPECT_EQ(old.tensors.at("head.0.weight").front().pattern, "fc.weight");
  EXPECT_TRUE(old.gives_heads) << "as the newest";
  EXPECT_EQ(oldest.name, "oldest");
  EXPECT_FALSE(oldest.gives_heads);
  EXPECT_FALSE(oldest.tensors.contains("head.0.weight"));
  EXPECT_EQ(oldest.tensors.at("layer.qkv.weight").front().pattern, "b.{layer}.qkv.weight");
  EXPECT_THAT(error_of([] { (void)revisions_in(R"({"revisions": {"name": "x"}})"); }),
              HasSubstr("`revisions` must list objects"));
}

TEST(Architecture, AFamilyIsToldByItsFile) {
  std::vector<std::string> names;
  for (const ArchitectureFamily& family : architecture_families()) {
    if (family.id == "vit-pytorch-vit") names.push_back(family.name);
  }
  EXPECT_EQ(names.size(), 7U);
  EXPECT_EQ(names.front(), "vit-pytorch ViT");
  const ArchitectureDescription by_file = parse_architecture_description(R"({"like": "timm-vit"})");
  const ArchitectureDescription by_name = parse_architecture_description(R"({"like": "timm ViT"})");
  EXPECT_EQ(by_file.tensors.size(), by_name.tensors.size());
  EXPECT_GT(by_file.tensors.size(), 10U);
}

// A user copies the file of a family: the revision that the weights have is taken.
TEST(Architecture, AUsersDescriptionMayHaveRevisions) {
  const TemporaryFolder folder;
  const auto file = std::ranges::find(family_files(), "vit-pytorch-vit", &FamilyFile::id);
  std::ofstream(folder / "own.json") << file->text;
  ModelOptions options;
  options.description = folder / "own.json";
  EXPECT_EQ(recognise_architecture(hashed_checkpoint(vit_pytorch_shapes({}, 128)), options).name,
            "vit-pytorch ViT");
  EXPECT_EQ(
      recognise_architecture(hashed_checkpoint(vit_pytorch_2021_shapes({}, 128)), options).name,
      "vit-pytorch ViT (2021)");
}

// timm's read-out is a setting of its descriptions and does not follow from their names.
TEST(Architecture, ADescriptionLikeTimmsReadsTheMeanAsTimmDoes) {
  NamedShapes shapes = timm_shapes({});
  for (auto& [name, shape] : shapes) {
    if (name.starts_with("norm.")) name = "fc_" + name;
  }
  const TemporaryFolder folder;
  std::ofstream(folder / "own.json") << R"({"name": "mine", "like": "timm-vit"})";
  ModelOptions options;
  for (const char* description : {"", "own.json"}) {
    if (*description != 0) options.description = folder / description;
    const Architecture found = recognise_architecture(hashed_checkpoint(shapes), options);
    EXPECT_EQ(found.spec.readout.kind, Readout::mean) << description;
  }
}

TEST(Architecture, DistinguishesEveryFamily) {
  const VitExtents e;
  const std::pair<std::string, NamedShapes> families[] = {
      {"timm ViT", timm_shapes(e)},
      {"timm ViT", timm_shapes(e, true)},
      {"Hugging Face ViT", hugging_face_shapes(e)},
      {"Hugging Face DeiT", hugging_face_shapes(e, true)},
      {"torchvision ViT", torchvision_shapes(e)},
      {"vit-pytorch ViT", vit_pytorch_shapes(e, 128)},
      {"vit-pytorch ViT (2021)", vit_pytorch_2021_shapes(e, 128)},
      {"PyTorch TransformerEncoder", torch_encoder_shapes(64, 256, 2)},
  };
  for (const auto& [name, shapes] : families) {
    for (const char* prefix : {"", "module.", "model.", "module.backbone.", "encoder."}) {
      const Architecture found = recognise(prefixed(prefix, shapes));
      EXPECT_EQ(found.name, name) << prefix;
      EXPECT_EQ(found.spec.width, 64);
      EXPECT_EQ(found.spec.layers, 2);
      EXPECT_EQ(found.spec.layer.mlp.width, 256);
      EXPECT_THAT(found.unused, IsEmpty()) << name << ' ' << prefix;
      if (found.spec.input.patch_height == 0) continue;
      EXPECT_EQ(found.spec.input.patch_height, 8);
      EXPECT_EQ(found.spec.input.image_width, 32);
      EXPECT_EQ(found.spec.input.channels, 3);
    }
  }
}

TEST(Architecture, BlocksThatAreWrappedThemselvesAreRead) {
  NamedShapes wrapped = timm_shapes({});
  for (auto& [name, shape] : wrapped) {
    const std::size_t block = name.starts_with("blocks.") ? name.find('.', 7) : std::string::npos;
    if (block != std::string::npos) name.insert(block, "._checkpoint_wrapped_module");
    name.insert(0, "_fsdp_wrapped_module.");
  }
  const Architecture found = recognise(wrapped);
  EXPECT_EQ(found.name, "timm ViT");
  EXPECT_THAT(found.unused, IsEmpty());
}

TEST(Architecture, AModelWithinItsWrapperMayLackTheWrappersName) {
  NamedShapes bare = hugging_face_shapes({});
  for (auto& [name, shape] : bare) {
    if (name.starts_with("vit.")) name.erase(0, 4);
  }
  leave_out(bare, "classifier.weight");
  leave_out(bare, "classifier.bias");
  const Architecture found = recognise(bare);
  EXPECT_EQ(found.name, "Hugging Face ViT");
  EXPECT_EQ(found.spec.readout.kind, Readout::none);
}

TEST(Architecture, AssumesWhatTheFileDoesNotShowUnlessSet) {
  const Architecture guessed = recognise(timm_shapes({.width = 192, .mlp_width = 768}));
  EXPECT_EQ(guessed.spec.layer.attention.heads, 3);
  for (const char* option : {"heads", "activation", "norm_position", "norm_eps", "input_mean"}) {
    EXPECT_TRUE(assumes(guessed, option)) << option;
  }
  const Architecture told = recognise(timm_shapes({.width = 192, .mlp_width = 768}),
                                      {{"heads", "6"}, {"activation", "relu"}});
  EXPECT_EQ(told.spec.layer.attention.heads, 6);
  EXPECT_EQ(told.spec.width_of_head(), 32);
  EXPECT_EQ(told.spec.layer.mlp.activation, Activation::relu);
  EXPECT_FALSE(assumes(told, "heads"));
  EXPECT_FALSE(assumes(told, "activation"));
  EXPECT_TRUE(assumes(told, "norm_eps"));
}

TEST(Architecture, FamiliesHaveTheirOwnDefaults) {
  EXPECT_EQ(recognise(hugging_face_shapes({})).spec.layer.norm.eps, 1e-12);
  const ModelSpec encoder = recognise(torch_encoder_shapes(64, 256, 2)).spec;
  EXPECT_EQ(encoder.layer.norm.position, NormPosition::post);
  EXPECT_EQ(encoder.layer.mlp.activation, Activation::relu);
  EXPECT_EQ(encoder.layer.norm.eps, 1e-5);
  EXPECT_EQ(encoder.tokens(), 0);
  const ModelSpec linear = recognise(vit_pytorch_shapes({}, 128)).spec;
  EXPECT_EQ(linear.input.patch_order, PatchOrder::channels_last);
  EXPECT_EQ(linear.layer.attention.heads, 2);
  EXPECT_EQ(linear.width_of_head(), 64);
  EXPECT_EQ(recognise(timm_shapes({}, true)).spec.readout.kind, Readout::class_and_distilled);
}

TEST(Architecture, ContradictionsNameOptionTensorAndBothValues) {
  EXPECT_THAT(error_of([] {
                (void)recognise(timm_shapes({}), {{"heads", "5"}});
              }),
              AllOf(HasSubstr("heads"), HasSubstr("64"), HasSubstr("attn.qkv.weight")));
  EXPECT_THAT(error_of([] {
                (void)recognise(timm_shapes({}), {{"width", "32"}});
              }),
              AllOf(HasSubstr("width"), HasSubstr("expected 64"), HasSubstr("found 32")));
  EXPECT_THAT(error_of([] {
                (void)recognise(timm_shapes({}), {{"layers", "3"}});
              }),
              AllOf(HasSubstr("layers"), HasSubstr("expected 2")));
  EXPECT_THAT(error_of([] {
                (void)recognise(timm_shapes({}), {{"image_height", "33"}});
              }),
              AllOf(HasSubstr("image_height"), HasSubstr("multiple")));
  // Explicit options are never overruled without an error.
  EXPECT_THAT(error_of([] {
                (void)recognise(torch_encoder_shapes(64, 256, 2), {{"input.kind", "patches"}});
              }),
              AllOf(HasSubstr("input.kind"), HasSubstr("contradicts the file's tensors"),
                    HasSubstr("expected embeddings, found patches")));
}

TEST(Architecture, AnErrorNamesThePatternAndTheNearestTensors) {
  NamedShapes shapes = timm_shapes({});
  for (auto& [name, shape] : shapes) {
    if (name == "blocks.1.attn.qkv.weight") name = "blocks.1.attn.qvk.weight";
  }
  EXPECT_THAT(error_of([&] { (void)recognise(shapes); }),
              AllOf(HasSubstr("timm ViT"), HasSubstr("blocks.{layer}.attn.qkv.weight"),
                    HasSubstr("blocks.1.attn.qkv.weight"), HasSubstr("nearest names"),
                    HasSubstr("blocks.1.attn.qvk.weight")));
  EXPECT_THAT(error_of([] {
                (void)recognise({{"conv1.weight", {64, 3, 7, 7}}});
              }),
              AllOf(HasSubstr("no known architecture"), HasSubstr("conv1.weight"),
                    HasSubstr("architecture-descriptions.md")));
}

TEST(Architecture, RefusesCrossAttentionOfADecoder) {
  NamedShapes decoder = torch_encoder_shapes(64, 256, 2);
  decoder.push_back({"encoder.layers.0.multihead_attn.in_proj_weight", {192, 64}});
  EXPECT_THAT(error_of([&] { (void)recognise(decoder); }), HasSubstr("cross attention"));
}

TEST(Architecture, ListsTensorsThatAreNotPartOfTheModel) {
  NamedShapes shapes = timm_shapes({});
  shapes.push_back({"ema.decay", {1}});
  EXPECT_THAT(recognise(shapes).unused, Contains("ema.decay"));
}

TEST(Architecture, OwnFilesStateEverything) {
  ModelSpec spec;
  spec.input.channels = 1;
  spec.input.image_height = spec.input.image_width = 32;
  spec.input.patch_height = spec.input.patch_width = 8;
  spec.width = 64;
  spec.layers = 2;
  spec.layer.attention.heads = 4;
  spec.layer.mlp.width = 256;
  spec.input.mean = {0.3};
  spec.input.std = {0.35};
  spec.mechanism = {"adder", {{"identity", true}}};
  const std::map<std::string, std::string> metadata = {
      {"format", "attnscope-model"},
      {"architecture", to_json(spec)},
      {"labels", R"(["a","b","c","d","e","f","g","h","i","j"])"}};
  const Architecture found = recognise(timm_shapes({.channels = 1}), {}, metadata);
  EXPECT_EQ(found.name, "Attnscope model");
  EXPECT_THAT(found.assumptions, IsEmpty());
  EXPECT_EQ(found.spec.layer.attention.heads, 4);
  EXPECT_EQ(found.spec.mechanism, spec.mechanism);
  EXPECT_EQ(found.spec.labels.size(), 10U);
  const auto named = [&](const char* labels) {
    return recognise(timm_shapes({.channels = 1}), {{"labels", labels}}, metadata).spec.labels;
  };
  EXPECT_EQ(named("cifar-10").at(3), "cat") << "the user names the classes";
  EXPECT_THAT(error_of([&] { (void)named("cifar-100"); }),
              AllOf(HasSubstr("labels"), HasSubstr("expected 10"), HasSubstr("found 100")));
  // A file that contradicts itself is damaged.
  EXPECT_THAT(
      error_of([&] { (void)recognise(timm_shapes({.layers = 3, .channels = 1}), {}, metadata); }),
      AllOf(HasSubstr("layers"), HasSubstr("expected 3"), HasSubstr("found 2")));
}

TEST(Architecture, ReportsAnUnknownMechanismBeforeMissingTensors) {
  const std::map<std::string, std::string> metadata = {
      {"format", "attnscope-model"},
      {"architecture", R"({"mechanism": {"name": "of-tomorrow", "parameters": {}}})"}};
  EXPECT_THAT(error_of([&] {
                (void)recognise({{"blocks.0.attn.to_q.weight", {64, 64}}}, {}, metadata);
              }),
              AllOf(HasSubstr("mechanism"), HasSubstr("found of-tomorrow"), HasSubstr("adder")));
}

TEST(Architecture, InterpolatesPositionsToTheRequestedImage) {
  const Architecture found =
      recognise(timm_shapes({}), {{"image_height", "64"}, {"image_width", "48"}});
  EXPECT_EQ(found.position_rows, 4);
  EXPECT_EQ(found.position_columns, 4);
  EXPECT_EQ(found.spec.input.grid_rows(), 8);
  EXPECT_EQ(found.spec.input.grid_columns(), 6);
  NamedShapes shapes = timm_shapes({});
  for (auto& [name, shape] : shapes) {
    if (name == "pos_embed") shape = {1, 13, 64};
  }
  EXPECT_THAT(error_of([&] { (void)recognise(shapes); }), HasSubstr("image_height"));
  const Architecture oblong = recognise(shapes, {{"image_height", "24"}, {"image_width", "32"}});
  EXPECT_EQ(oblong.position_rows, 3);
  EXPECT_EQ(oblong.position_columns, 4);
}

TEST(Architecture, ReadsHuggingFaceConfigurationsNextToTheFile) {
  const TemporaryFolder folder;
  const auto weights = folder.path() / "model.safetensors";
  write_hashed_safetensors(weights, hugging_face_shapes({}));
  const auto recognised = [&](std::map<std::string, std::string> overrides = {}) {
    return recognise_architecture(open_checkpoint(weights), {std::move(overrides), {}});
  };
  EXPECT_EQ(recognised().spec.layer.attention.heads, 1);
  (void)folder.write("config.json", R"({"num_attention_heads": 4, "layer_norm_eps": 1e-6,
      "hidden_act": "gelu_new", "id2label": {"0": "tench, Tinca tinca", "1": "b", "2": "c",
      "3": "d", "4": "e", "5": "f", "6": "g", "7": "h", "8": "i", "9": "j"}})");
  (void)folder.write("preprocessor_config.json", R"({"image_mean": [0.1, 0.2, 0.3],
      "do_center_crop": true, "size": 256, "crop_size": {"height": 224, "width": 224},
      "resample": 3})");
  const ModelSpec spec = recognised().spec;
  EXPECT_EQ(spec.layer.attention.heads, 4);
  EXPECT_EQ(spec.layer.norm.eps, 1e-6);
  EXPECT_EQ(spec.layer.mlp.activation, Activation::gelu_tanh);
  EXPECT_EQ(spec.labels.at(0), "tench, Tinca tinca");
  EXPECT_EQ(spec.input.mean, (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_EQ(spec.input.crop_fraction, 0.875);
  EXPECT_EQ(spec.input.resize_filter, ResizeFilter::bicubic);
  EXPECT_EQ(recognised({{"heads", "4"}}).spec.layer.attention.heads, 4);
  // Another number of heads would give another model.
  EXPECT_THAT(error_of([&] {
                (void)recognised({{"heads", "2"}});
              }),
              AllOf(HasSubstr("config.json"), HasSubstr("--model-heads"), HasSubstr("expected 4")));
  (void)folder.write("config.json", "{");
  EXPECT_THAT(error_of([&] { (void)recognised(); }), HasSubstr("config.json"));
}

TEST(MetaLlama, ReadsOrRefusesParametersNextToTheFile) {
  const TemporaryFolder folder;
  write_hashed_safetensors(folder / "model.safetensors", family_shapes("meta_llama"));
  const auto recognised = [&](const std::string& parameters) {
    (void)folder.write("params.json", parameters);
    return recognise_architecture(open_checkpoint(folder.path()), {});
  };
  const Architecture read = recognised(
      R"({"dim": 32, "n_layers": 2, "n_heads": 8, "multiple_of": 256, "norm_eps": 1e-6,
          "rope_theta": 5e5, "vocab_size": -1})");
  EXPECT_EQ(read.name, "Meta Llama");
  EXPECT_EQ(read.spec.layer.attention.heads, 8);
  EXPECT_EQ(read.spec.layer.attention.key_heads, 4);
  EXPECT_EQ(read.spec.layer.norm.eps, 1e-6);
  EXPECT_EQ(read.spec.layer.rotary.theta, 5e5);
  const auto refusal = [&](const std::string& more) {
    return error_of([&] {
      (void)recognised(R"({"dim": 32, "n_layers": 2, "n_heads": 4, "norm_eps": 1e-5, )" + more +
                       "}");
    });
  };
  EXPECT_THAT(refusal(R"("vocab_size": 30)"), HasSubstr("vocabulary"));
  EXPECT_THAT(refusal(R"("n_kv_heads": 4)"), HasSubstr("key_heads"));
  EXPECT_THAT(refusal(R"("moe": {"num_experts": 8})"), HasSubstr("moe"));
  EXPECT_THAT(refusal(R"("hidden_dim": 64)"), HasSubstr("mlp_width"));
  EXPECT_THAT(refusal(R"("sliding_window": 4096)"), HasSubstr("sliding_window"));
  EXPECT_THAT(refusal(R"("use_scaled_rope": true)"),
              AllOf(HasSubstr("use_scaled_rope"), HasSubstr("layer.rotary.factor")));
}

TEST(ArchitectureDescription, OverridesTheFamilyItIsLike) {
  const ArchitectureDescription timm = parse_architecture_description(R"({"like": "timm ViT"})");
  const ArchitectureDescription own = parse_architecture_description(R"({
      "name": "ours", "like": "timm ViT", "assume": {"norm_eps": 1e-5},
      "tensors": {"head.1": "classifier", "class_token": null}})");
  EXPECT_EQ(timm.name, "user's description");
  EXPECT_EQ(own.name, "ours");
  EXPECT_EQ(own.tensors.at("head.1.weight").front().pattern, "classifier.weight");
  EXPECT_TRUE(timm.tensors.contains("class_token"));
  EXPECT_FALSE(own.tensors.contains("class_token"));
  EXPECT_EQ(own.tensors.size() + 1, timm.tensors.size());
  EXPECT_EQ(own.spec.layer.norm.eps, 1e-5);
  EXPECT_EQ(own.spec.input.crop_fraction, timm.spec.input.crop_fraction);
  EXPECT_THAT(error_of([] { (void)parse_architecture_description(R"({"like": "timm VT"})"); }),
              AllOf(HasSubstr("timm VT"), HasSubstr("timm ViT")));
}

TEST(ArchitectureDescription, ChangesInputAndMaskOfATextModelsFamily) {
  const ArchitectureDescription family =
      parse_architecture_description(R"({"like": "minGPT or nanoGPT"})");
  EXPECT_EQ(family.spec.readout.kind, Readout::next_token);
  EXPECT_TRUE(family.spec.layer.scores.causal);
  const ArchitectureDescription own = parse_architecture_description(R"({
      "like": "minGPT or nanoGPT",
      "model": {"readout": {"kind": "none"}, "layer": {"scores": {"causal": false}}}})");
  EXPECT_EQ(own.spec.input.kind, InputKind::tokens);
  EXPECT_EQ(own.spec.readout.kind, Readout::none);
  EXPECT_FALSE(own.spec.layer.scores.causal);
}

TEST(ArchitectureDescription, NeedsPositionsIfTheFamilyItIsLikeDoes) {
  const auto needs = [](const char* text) {
    return parse_architecture_description(text).needs_positions;
  };
  EXPECT_TRUE(needs(R"({"name": "ours", "like": "timm BEiT"})"));
  EXPECT_FALSE(needs(R"({"like": "timm BEiT", "needs_positions": false})"));
  EXPECT_FALSE(needs(R"({"like": "timm ViT"})"));
  EXPECT_THAT(error_of([] { (void)parse_architecture_description(R"({"needs_positions": 1})"); }),
              HasSubstr("needs_positions"));
}

TEST(ArchitectureDescription, ErrorsNameTheKeyAndTheKnown) {
  const auto error = [](const char* text) {
    return error_of([&] { (void)parse_architecture_description(text); });
  };
  EXPECT_THAT(error("[1]"), HasSubstr("object"));
  EXPECT_THAT(error("{"), HasSubstr("valid JSON"));
  EXPECT_THAT(error(R"({"tensor": {}})"), AllOf(HasSubstr("'tensor'"), HasSubstr("tensors")));
  EXPECT_THAT(error(R"({"tensors": {"layer.qvk": "a.{layer}"}})"),
              AllOf(HasSubstr("layer.qvk"), HasSubstr("layer.qkv")));
  EXPECT_THAT(error(R"({"tensors": {"layer.qkv": "blocks.0.qkv"}})"), HasSubstr("{layer}"));
  EXPECT_THAT(error(R"({"tensors": {"class_token": "t.{layer}"}})"), HasSubstr("{layer}"));
  EXPECT_THAT(error(R"({"tensors": {"class_token.weight": "t"}})"), HasSubstr("one tensor"));
  EXPECT_THAT(error(R"({"tensors": {"patch": 3}})"), HasSubstr("pattern"));
  EXPECT_THAT(error(R"({"tensors": {"patch": {"pattern": "p", "transpose": true}}})"),
              HasSubstr("transposed"));
  EXPECT_THAT(error(R"({"model": {"head": 3}, "tensors": {}})"), HasSubstr("heads"));
  EXPECT_THAT(error(R"({"tensors": {"layer.out": "{layer}.o", "layer.mlp1": "{layer}.a",
                       "layer.mlp2": "{layer}.b", "layer.query": "{layer}.q"}})"),
              HasSubstr("layer.value"));
}

}  // namespace
}  // namespace attnscope
