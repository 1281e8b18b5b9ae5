// DAFT and Fastformer with the tensor names of their public implementations: recognition,
// assumptions and errors about tensors that do not fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/architecture/architecture.h"
#include "core/architecture/model_spec_json.h"
#include "core/model/model.h"
#include "tests/support/model_shapes.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

Architecture recognise_names(const NamedShapes& shapes,
                             std::map<std::string, std::string> overrides = {}) {
  return recognise_architecture(hashed_checkpoint(shapes), {std::move(overrides), {}});
}

std::vector<std::string> assumed_upstream(const Architecture& architecture) {
  std::vector<std::string> options;
  for (const Assumption& assumption : architecture.assumptions) {
    options.push_back(assumption.option);
  }
  return options;
}

NamedShapes reshaped(NamedShapes shapes, const std::string& name, const Shape& shape) {
  for (auto& [own, held] : shapes) {
    if (own == name) held = shape;
  }
  return shapes;
}

Trace run_upstream(const NamedShapes& shapes, Text text) {
  const TemporaryFolder folder;
  const auto file = folder / "model.safetensors";
  write_hashed_safetensors(file, shapes);
  Input input;
  input.content = std::move(text);
  input.label = "a text";
  const auto model = load_model(file);
  return model->run(input, model->spec().mechanism, {}, {});
}

TEST(UpstreamNames, AreRecognisedUnderWrappers) {
  const std::pair<std::string, NamedShapes> families[] = {
      {"timm ViT with DAFT (aft-pytorch)", aft_pytorch_vit_shapes({}, 48)},
      {"timm ViT with DAFT (labml)", labml_vit_shapes({})},
      {"labml AFT", labml_aft_shapes({})},
      {"Fastformer", fastformer_shapes({})},
  };
  for (const auto& [name, shapes] : families) {
    for (const char* prefix : {"", "module.", "model.", "_orig_mod."}) {
      const Architecture found = recognise_names(prefixed(prefix, shapes));
      EXPECT_EQ(found.name, name) << prefix;
      EXPECT_EQ(found.spec.layers, 2);
      EXPECT_THAT(found.unused, IsEmpty()) << name << ' ' << prefix;
    }
  }
}

TEST(UpstreamNames, ADaftVitIsAssumedToBeTimmsButForItsAttention) {
  const Architecture found = recognise_names(aft_pytorch_vit_shapes({}, 48));
  EXPECT_EQ(to_string(found.spec.mechanism), "daft-full (factors=0)");
  EXPECT_EQ(found.spec.layer.attention.heads, 1);
  EXPECT_EQ(found.spec.width_of_head(), 48);
  EXPECT_EQ(found.spec.readout.kind, Readout::class_token);
  EXPECT_THAT(assumed_upstream(found), IsSupersetOf({"activation", "norm_position", "norm_eps",
                                                     "readout", "input_mean", "crop_fraction"}));
  EXPECT_THAT(assumed_upstream(found), Not(testing::Contains("mechanism")));
  const Architecture timm = recognise_names(timm_shapes({}));
  EXPECT_EQ(found.spec.layer.norm.eps, timm.spec.layer.norm.eps);
  EXPECT_EQ(found.spec.input.mean, timm.spec.input.mean);
}

TEST(UpstreamNames, BiasesGiveTheImageWithoutPositions) {
  const Architecture found = recognise_names(labml_vit_shapes({.image = 48}));
  EXPECT_EQ(found.spec.positions.kind, Positions::none);
  EXPECT_EQ(found.spec.input.image_height, 48);
  EXPECT_EQ(found.spec.input.image_width, 48);
  EXPECT_EQ(found.spec.readout.kind, Readout::mean);
  EXPECT_THAT(assumed_upstream(found), Not(testing::Contains("image_height")));
  const Architecture oblong = recognise_names(labml_vit_shapes({.image = 48}),
                                              {{"image_height", "32"}, {"image_width", "72"}});
  EXPECT_EQ(oblong.spec.input.grid_columns(), 9);
}

TEST(UpstreamNames, BiasesThatDoNotFitTheTokensAreNamed) {
  const NamedShapes vit = aft_pytorch_vit_shapes({}, 48);
  for (const Shape& wrong : {Shape{17, 16}, Shape{16, 16}, Shape{20, 20}, Shape{17}}) {
    expect_refusal([&] { return recognise_names(reshaped(vit, "blocks.1.attn.wbias", wrong)); },
                   ErrorKind::damaged, "expected [17, 17], found " + to_string(wrong),
                   "blocks.1.attn.wbias");
  }
  expect_refusal(
      [&] {
        return recognise_names(vit, {{"image_height", "64"}, {"image_width", "64"}});
      },
      ErrorKind::damaged, "cannot be interpolated", "blocks.0.attn.wbias");
  expect_refusal(
      [&] {
        return recognise_names(reshaped(labml_vit_shapes({}), "blocks.0.attn.local_mask", {16, 1}));
      },
      ErrorKind::damaged, "[16, 16]", "blocks.0.attn.local_mask");
  expect_refusal(
      [&] {
        return recognise_names(
            reshaped(labml_aft_shapes({}), "encoder.layers.1.self_attn.pos_bias", {24, 23}));
      },
      ErrorKind::damaged, "[24, 24]", "encoder.layers.1.self_attn.pos_bias");
}

TEST(UpstreamNames, ATextIsAtMostAsLongAsItsBiases) {
  const Architecture found = recognise_names(labml_aft_shapes({.context = 24, .positions = 40}));
  EXPECT_EQ(found.spec.input.context, 24);
  EXPECT_EQ(recognise_names(labml_aft_shapes({.context = 24, .positions = 20})).spec.input.context,
            20);
  EXPECT_EQ(run_upstream(labml_aft_shapes({}), {{}, std::vector<std::int64_t>(24, 1)}).tokens(),
            24);
  expect_refusal(
      [] {
        return run_upstream(labml_aft_shapes({}), {{}, std::vector<std::int64_t>(25, 1)});
      },
      ErrorKind::usage, "at most 24 tokens", "a text");
}

TEST(UpstreamNames, DistinguishesLabmlsModelsByNames) {
  NamedShapes shapes = labml_aft_shapes({});
  for (auto& [name, shape] : shapes) {
    if (name == "src_embed.positional_encodings") name = "src_embed.pe.positional_encodings";
    if (name.starts_with("generator.projection.")) name.erase(9, 11);
  }
  const Architecture found = recognise_names(shapes);
  EXPECT_EQ(found.name, "labml AFT");
  EXPECT_THAT(found.unused, IsEmpty());
  EXPECT_EQ(found.spec.input.scale, 0);
  shapes.push_back({"encoder.layers.0.feed_forward.linear_v.weight", {64, 40}});
  expect_refusal([&] { return recognise_names(shapes); }, ErrorKind::unsupported, "gated MLPs", "");
}

TEST(UpstreamNames, AFastformerGivesItsHeads) {
  const Architecture found = recognise_names(fastformer_shapes({.heads = 5}));
  EXPECT_EQ(found.spec.layer.attention.heads, 5);
  EXPECT_EQ(found.spec.width_of_head(), 8);
  EXPECT_EQ(found.spec.layer.norm.position, NormPosition::post);
  EXPECT_EQ(found.spec.layer.norm.eps, 1e-12);
  EXPECT_THAT(assumed_upstream(found),
              IsSupersetOf({"activation", "norm_eps", "padding", "tokenizer"}));
  expect_refusal([] { return recognise_names(fastformer_shapes({.heads = 7})); },
                 ErrorKind::damaged, "divisor of 40", "heads");
  expect_refusal(
      [] {
        return recognise_names(fastformer_shapes({}), {{"heads", "2"}});
      },
      ErrorKind::usage, "expected 4", "heads");
  expect_refusal(
      [] {
        return recognise_names(fastformer_shapes({}), {{"labels", "a,b,c"}});
      },
      ErrorKind::usage, "expected 4", "labels");
  expect_refusal(
      [] {
        return recognise_names(fastformer_shapes({}), {{"norm_position", "pre"}});
      },
      ErrorKind::damaged, "expected post", "norm_position");
  EXPECT_EQ(recognise_names(fastformer_shapes({}), {{"labels", "a,b,c,d"}}).spec.labels.size(), 4U);
}

TEST(UpstreamNames, AFastformerReadsItsClassesFromItsConfiguration) {
  const TemporaryFolder folder;
  const auto file = folder / "model.safetensors";
  write_hashed_safetensors(file, fastformer_shapes({.classes = 2}));
  (void)folder.write("config.json", R"({"num_attention_heads": 4, "layer_norm_eps": 1e-6,
      "id2label": {"0": "World", "1": "Sports"}})");
  const auto model = load_model(file);
  EXPECT_EQ(model->spec().labels, (std::vector<std::string>{"World", "Sports"}));
  EXPECT_EQ(model->spec().layer.norm.eps, 1e-6);
  Input input;
  input.content = Text{{}, {3, 1, 4}};
  EXPECT_EQ(model->run(input, model->spec().mechanism, {}, {}).labels, model->spec().labels);
  (void)folder.write("config.json", R"({"num_attention_heads": 2})");
  expect_refusal([&] { return load_model(file); }, ErrorKind::damaged, "expected 4", file);
}

TEST(UpstreamNames, ImportancesThatDoNotFitAreNamed) {
  const std::string self = "fastformer_model.encoders.1.attention.self.";
  for (const char* name : {"query_att.weight", "key_att.weight"}) {
    expect_refusal(
        [&] {
          return run_upstream(reshaped(fastformer_shapes({}), self + name, {4, 10}), {{}, {1, 2}});
        },
        ErrorKind::damaged, "expected [4, 40], found [4, 10]", self + name);
  }
  expect_refusal(
      [&] {
        return run_upstream(
            reshaped(fastformer_shapes({}), "fastformer_model.poolers.0.att_fc2.weight", {2, 40}),
            {{}, {1, 2}});
      },
      ErrorKind::damaged, "expected [1, 40]", "fastformer_model.poolers.0.att_fc2.weight");
}

TEST(UpstreamNames, PaddingWithinATextIsRefused) {
  expect_refusal(
      [] {
        return run_upstream(fastformer_shapes({}), {{}, {3, 0, 5}});
      },
      ErrorKind::usage, "padding before its end", "a text");
  expect_refusal(
      [] {
        return run_upstream(fastformer_shapes({}), {{}, {0, 0}});
      },
      ErrorKind::usage, "padding only", "a text");
}

TEST(UpstreamNames, ADescriptionOfATextModelNeedsItsTables) {
  const auto parse = [](std::string more_of_model, const char* more) {
    return parse_architecture_description(R"({"model": {"input": {"kind": "tokens"})" +
                                          more_of_model +
                                          R"(}, "tensors": {"layer.out": "{layer}.o",
            "layer.mlp1": "{layer}.a", "layer.mlp2": "{layer}.b", "layer.qkv": "{layer}.q")" +
                                          more + "}}");
  };
  expect_refusal([&] { return parse("", ""); }, ErrorKind::damaged,
                 "token_embedding.weight, which a model of its kind needs", "tensors");
  const char* const tables = R"(, "token_embedding": "e", "positions": "p")";
  EXPECT_EQ(parse("", tables).tensors.count("positions"), 1U);
  expect_refusal([&] { return parse(R"(, "layer_form": "fastformer_encoder")", tables); },
                 ErrorKind::damaged, "layer.query_importance.weight", "tensors");
}

}  // namespace
}  // namespace attnscope
