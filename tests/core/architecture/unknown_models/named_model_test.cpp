// Models that are read by the words in their tensor names because no family matches, and settings
// that training code saves with the weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "core/architecture/architecture.h"
#include "core/architecture/model_spec_json.h"
#include "core/error.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A small GPT written from scratch: one block of width 8 with nn.MultiheadAttention.
NamedShapes scratch_shapes() {
  return {{"tok_emb.weight", {11, 8}},
          {"pos_emb.weight", {6, 8}},
          {"layers.0.ln1.weight", {8}},
          {"layers.0.ln1.bias", {8}},
          {"layers.0.attn.in_proj_weight", {24, 8}},
          {"layers.0.attn.in_proj_bias", {24}},
          {"layers.0.attn.out_proj.weight", {8, 8}},
          {"layers.0.attn.out_proj.bias", {8}},
          {"layers.0.ln2.weight", {8}},
          {"layers.0.ln2.bias", {8}},
          {"layers.0.ff.0.weight", {16, 8}},
          {"layers.0.ff.0.bias", {16}},
          {"layers.0.ff.2.weight", {8, 16}},
          {"layers.0.ff.2.bias", {8}},
          {"head.weight", {11, 8}}};
}

/// The options that only the model's code determines.
ModelOptions said() {
  ModelOptions options;
  options.overrides = {{"heads", "2"},
                       {"norm_position", "pre"},
                       {"activation", "gelu"},
                       {"layer.scores.causal", "true"}};
  return options;
}

std::string refusal(const NamedShapes& shapes, const ModelOptions& options,
                    std::map<std::string, std::string> settings = {}) {
  try {
    (void)recognise_architecture(hashed_checkpoint(shapes, std::move(settings)), options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool assumes_option(const Architecture& architecture, std::string_view option) {
  return std::ranges::any_of(architecture.assumptions,
                             [&](const Assumption& each) { return each.option == option; });
}

std::string reason_of(const Architecture& architecture, std::string_view option) {
  const auto found = std::ranges::find(architecture.assumptions, option, &Assumption::option);
  return found == architecture.assumptions.end() ? "none" : found->reason;
}

NamedShapes without_part(NamedShapes shapes, std::string_view part) {
  std::erase_if(shapes,
                [&](const auto& entry) { return entry.first.find(part) != std::string::npos; });
  return shapes;
}

TEST(NamedModel, AsksForSettingsThatOnlyTheCodeKnows) {
  EXPECT_EQ(refusal(scratch_shapes(), said()), "no error");
  for (const auto& [member, value] : said().overrides) {
    ModelOptions silent = said();
    silent.overrides.erase(member);
    EXPECT_THAT(refusal(scratch_shapes(), silent),
                AllOf(HasSubstr(member), HasSubstr("--option " + member + "=")));
  }
  const NamedShapes nowhere = without_part(scratch_shapes(), "pos_emb");
  EXPECT_THAT(refusal(nowhere, said()), HasSubstr("--option positions="));
  EXPECT_THAT(refusal(without_part(scratch_shapes(), "ln1.bias"), said()),
              HasSubstr("--option norm="));
}

/// The tensors of scratch_shapes with an attention of unknown code.
NamedShapes own_attention() {
  NamedShapes shapes = scratch_shapes();
  for (auto& [name, shape] : shapes) {
    if (name == "layers.0.attn.in_proj_weight") name = "layers.0.attn.qkv.weight";
    if (name == "layers.0.attn.in_proj_bias") name = "layers.0.attn.qkv.bias";
  }
  return shapes;
}

TEST(NamedModel, AsksForTheScaleFirst) {
  EXPECT_THAT(refusal(own_attention(), said()),
              AllOf(HasSubstr("scale: head_width^-1/2, width^-1/2"), HasSubstr("--option scale="),
                    HasSubstr("maps, inputs = [], torch.randint(11, (2, 6))"),
                    HasSubstr("logits = model.eval()(inputs)[:, -1]"),
                    HasSubstr("reference.npz', inputs=inputs, maps="), HasSubstr(" --fit")));
  EXPECT_THAT(refusal(own_attention(), {}), HasSubstr("set it: --option scale=… --option heads=…"));
  ModelOptions options = said();
  options.overrides["scale"] = "width^-1/2";
  const Architecture found = recognise_architecture(hashed_checkpoint(own_attention()), options);
  EXPECT_EQ(option_text(found.spec, "scale"), "width^-1/2");
}

TEST(NamedModel, DoesNotInferTheComputationFromWellKnownNames) {
  for (const char* names : {"named_mingpt", "named_lecture"}) {
    EXPECT_THAT(refusal(family_shapes(names), {}),
                AllOf(HasSubstr("--option scale="), HasSubstr("--option norm_position="),
                      HasSubstr("--option activation=")))
        << names;
  }
  NamedShapes shapes = family_shapes("named_mingpt");
  for (const char* layer : {"0", "1", "2"}) {
    for (const char* norm : {"q_norm", "k_norm"}) {
      shapes.emplace_back("blocks." + std::string(layer) + ".attn." + norm + ".weight", Shape{8});
    }
  }
  EXPECT_THAT(refusal(shapes, {}),
              AllOf(HasSubstr("attn.k_norm.weight"), HasSubstr("norm within the attention"),
                    Not(HasSubstr("minGPT"))));
}

TEST(NamedModel, StoredFrequenciesAskForTheRotationAndGiveTheta) {
  NamedShapes shapes = without_part(own_attention(), "pos_emb");
  constexpr const char* name = "layers.0.attn.rotary.inv_freq";
  shapes.emplace_back(name, Shape{2});
  Tensor frequencies({2});
  frequencies.data()[0] = 1;
  frequencies.data()[1] = 0.001F;  // θ^(−2/4) for heads of 4 channels
  const TemporaryFolder folder;
  write_hashed_safetensors(folder / "model.safetensors", shapes, {{name, frequencies}});
  const Checkpoint checkpoint = open_checkpoint(folder / "model.safetensors");
  ModelOptions options = said();
  options.overrides["scale"] = "head_width^-1/2";
  const Error error =
      refusal_of([&] { (void)recognise_architecture(checkpoint, options); },
                 testing::Message() << "expected to be asked for layer.rotary.form");
  EXPECT_THAT(error.what(), AllOf(HasSubstr("--option layer.rotary.form="),
                                  Not(HasSubstr("--option positions="))));
  options.overrides["layer.rotary.form"] = "half";
  const Architecture found = recognise_architecture(checkpoint, options);
  EXPECT_EQ(found.spec.layer.rotary.theta, 1e6);
  EXPECT_EQ(found.spec.positions.kind, Positions::none);
}

TEST(NamedModel, ListsOtherUnknownSettings) {
  ModelOptions options = said();
  options.overrides["scale"] = "head_width^-1/2";
  const Architecture found = recognise_architecture(hashed_checkpoint(own_attention()), options);
  for (const char* option : {"qkv_rows", "layer.attention.head_split", "layer.attention.cosine",
                             "layer.rotary.form", "layer.scores.window", "layer.scores.soft_cap",
                             "embedding_scale", "layer.residual", "layer.residual_scale"}) {
    EXPECT_TRUE(assumes_option(found, option)) << option;
  }
  EXPECT_FALSE(assumes_option(found, "scale")) << "it was said";
  options.overrides["layer.residual"] = "parallel";
  EXPECT_FALSE(assumes_option(recognise_architecture(hashed_checkpoint(own_attention()), options),
                              "layer.residual"));
}

TEST(NamedModel, AsksForTheOrderOfSinusoidsThatAreNotStored) {
  const NamedShapes nowhere = without_part(scratch_shapes(), "pos_emb");
  ModelOptions options = said();
  options.overrides["positions"] = "sinusoidal";
  EXPECT_THAT(refusal(nowhere, options),
              AllOf(HasSubstr("alternating, halves"),
                    HasSubstr("set it: --option positions.sinusoid_order=…")));
  options.overrides["positions.sinusoid_order"] = "halves";
  EXPECT_EQ(refusal(nowhere, options), "no error");
}

TEST(NamedModel, RefusesAnUnknownReadout) {
  NamedShapes shapes = without_part(scratch_shapes(), "head");
  shapes.insert(shapes.end(), {{"fc1.weight", {5, 8}}, {"fc2.weight", {3, 5}}});
  ModelOptions options = said();
  options.overrides["readout"] = "mean_all";
  EXPECT_THAT(refusal(shapes, options),
              AllOf(HasSubstr("fc1"), HasSubstr("readout=mean_all cannot be followed")));
  options.overrides["readout"] = "none";
  EXPECT_EQ(refusal(shapes, options), "no error");
}

TEST(NamedModel, ExplainsItsTerms) {
  const Architecture found = recognise_architecture(hashed_checkpoint(scratch_shapes()), said());
  EXPECT_EQ(found.spec.layers, 1);
  EXPECT_EQ(found.spec.width, 8);
  EXPECT_EQ(found.spec.layer.mlp.width, 16);
  EXPECT_EQ(found.spec.input.context, 6);
  EXPECT_TRUE(found.spec.is_language_model());
  EXPECT_EQ(found.sources.at("layer.0.mlp2.weight").tensor, "layers.0.ff.2.weight");
  EXPECT_TRUE(found.unused.empty());
  EXPECT_TRUE(assumes_option(found, "layer.residual"));
}

TEST(NamedModel, AStoredMaskHidesLaterTokens) {
  ModelOptions options = said();
  options.overrides.erase("layer.scores.causal");
  NamedShapes shapes = scratch_shapes();
  shapes.emplace_back("layers.0.attn.mask", Shape{6, 6});
  const TemporaryFolder folder;
  const auto refused = [&](const Tensor& mask) {
    write_hashed_safetensors(folder / "model.safetensors", shapes, {{"layers.0.attn.mask", mask}});
    try {
      const Architecture found =
          recognise_architecture(open_checkpoint(folder / "model.safetensors"), options);
      return std::string(found.spec.layer.scores.causal ? "causal" : "not causal");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  Tensor lower({6, 6}), hidden({6, 6}), full({6, 6}), window({6, 6});
  for (std::int64_t i = 0; i < 6; ++i) {
    for (std::int64_t j = 0; j < 6; ++j) {
      lower.matrix()(i, j) = j <= i ? 1.0F : 0.0F;
      hidden.matrix()(i, j) = j <= i ? 0.0F : -std::numeric_limits<float>::infinity();
      full.matrix()(i, j) = 1;
      window.matrix()(i, j) = j <= i && j > i - 3 ? 1.0F : 0.0F;
    }
  }
  EXPECT_EQ(refused(lower), "causal");
  EXPECT_EQ(refused(hidden), "causal");
  EXPECT_THAT(refused(full), HasSubstr("--option layer.scores.causal="));
  EXPECT_THAT(refused(window), HasSubstr("--option layer.scores.causal="));
}

TEST(NamedModel, RefusesTwoStacksWithAnUnknownConnection) {
  NamedShapes shapes = scratch_shapes();
  for (const auto& [name, shape] : scratch_shapes()) {
    if (name.starts_with("layers.")) shapes.emplace_back("more_" + name, shape);
  }
  EXPECT_THAT(refusal(shapes, said()), HasSubstr("several stacks"));
}

TEST(NamedModel, RefusesModelsWithoutNorms) {
  // Norms without weights cannot be seen in the tensors.
  EXPECT_THAT(refusal(without_part(scratch_shapes(), "ln"), said()), HasSubstr("no norms"));
}

TEST(NamedModel, RefusesOneUnknownTensor) {
  const std::pair<const char*, Shape> strange[] = {{"layers.0.gate", {8}},
                                                   {"layers.0.ln3.weight", {8}},
                                                   {"layers.0.attn.q_norm.weight", {4}},
                                                   {"layers.0.ff.1.weight", {16}},
                                                   {"layers.0.ff.3.weight", {8, 8}},
                                                   {"layers.0.cross_attn.out_proj.weight", {8, 8}},
                                                   {"mixer.weight", {8, 8}},
                                                   {"segment_emb.weight", {2, 8}},
                                                   {"emb_norm.weight", {8}}};
  for (const auto& [name, shape] : strange) {
    NamedShapes shapes = scratch_shapes();
    shapes.emplace_back(name, shape);
    EXPECT_THAT(refusal(shapes, said()), Not(HasSubstr("no error"))) << name;
  }
}

TEST(NamedModel, NamesThatMeanSomethingElseInADescriptionAreNotRead) {
  for (const char* name : {"pos_emb?", "tok_{layer}", "head_*", ".weight", "layers.0.", ".."}) {
    NamedShapes shapes = scratch_shapes();
    shapes.emplace_back(name, Shape{6, 8});
    EXPECT_THAT(refusal(shapes, said()), Not(HasSubstr("no error"))) << name;
  }
  // Numbers in names may have any length and are ordered.
  NamedShapes shapes = without_part(scratch_shapes(), "ff.");
  shapes.insert(shapes.end(), {{"layers.0.ff.99999999999999999999.weight", {8, 8}},
                               {"layers.0.ff.100000000000000000000.weight", {8, 8}}});
  EXPECT_EQ(recognise_architecture(hashed_checkpoint(shapes), said())
                .sources.at("layer.0.mlp2.weight")
                .tensor,
            "layers.0.ff.100000000000000000000.weight");
}

TEST(NamedModel, LeavesOutAndReportsAnUnreadableHead) {
  NamedShapes shapes = without_part(scratch_shapes(), "head");
  shapes.insert(shapes.end(), {{"fc1.weight", {5, 8}}, {"fc2.weight", {3, 5}}});
  const Architecture found = recognise_architecture(hashed_checkpoint(shapes), said());
  EXPECT_EQ(found.spec.readout.kind, Readout::none);
  EXPECT_TRUE(assumes_option(found, "readout"));
}

TEST(NamedModel, LinearPatchesMayOverlap) {
  NamedShapes shapes = without_part(scratch_shapes(), "tok_emb");
  shapes = without_part(without_part(shapes, "pos_emb"), "head");
  shapes.insert(shapes.end(), {{"patch_embed.proj.weight", {8, 16}},
                               {"pos_embed", {1, 49, 8}},
                               {"classifier.weight", {3, 8}}});
  ModelOptions options = said();
  options.overrides.erase("layer.scores.causal");
  EXPECT_THAT(refusal(shapes, options), HasSubstr("--option patch_stride="));
  options.overrides["patch_stride"] = "2";
  const Architecture found = recognise_architecture(hashed_checkpoint(shapes), options);
  EXPECT_EQ(found.spec.input.image_height, 16);
  EXPECT_EQ(found.spec.tokens(), 49);
  EXPECT_EQ(found.spec.input.channels, 1);
}

TEST(NamedModel, ReadsAnEncoderWithoutItsEmbeddingOnlyOnRequest) {
  NamedShapes encoder;
  for (const char* name : {"norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias",
                           "self_attn.out_proj.bias", "linear2.bias"}) {
    encoder.emplace_back(std::string("transformer_encoder.layers.0.") + name, Shape{8});
  }
  encoder.insert(encoder.end(), {{"transformer_encoder.layers.0.self_attn.in_proj_weight", {24, 8}},
                                 {"transformer_encoder.layers.0.self_attn.in_proj_bias", {24}},
                                 {"transformer_encoder.layers.0.self_attn.out_proj.weight", {8, 8}},
                                 {"transformer_encoder.layers.0.linear1.weight", {16, 8}},
                                 {"transformer_encoder.layers.0.linear1.bias", {16}},
                                 {"transformer_encoder.layers.0.linear2.weight", {8, 16}}});
  EXPECT_THAT(refusal(encoder, {}), AllOf(HasSubstr("divisor of 8"), HasSubstr("--model-heads")));
  const Architecture bare =
      recognise_architecture(hashed_checkpoint(encoder), {{{"heads", "2"}}, {}});
  EXPECT_EQ(bare.name, "PyTorch TransformerEncoder");
  encoder.insert(encoder.end(), {{"time_emb.weight", {8, 3}},
                                 {"mixing.weight", {8, 3}},
                                 {"transformer_encoder.norm.weight", {8}},
                                 {"transformer_encoder.norm.bias", {8}},
                                 {"to_class.weight", {3, 8}}});
  EXPECT_THAT(refusal(encoder, {}),
              AllOf(HasSubstr("mixing.weight"), HasSubstr("--option input.kind=embeddings"),
                    HasSubstr("--option heads=…"), HasSubstr("--option norm_position=…"),
                    HasSubstr("--option activation=…"), HasSubstr("--option layer.scores.causal=…"),
                    HasSubstr("[N, 8]"), Not(HasSubstr("rotary"))));
  ModelOptions alone = said();
  for (const auto& [member, value] : said().overrides) {
    ModelOptions silent = said();
    silent.overrides["input.kind"] = "embeddings";
    silent.overrides.erase(member);
    EXPECT_THAT(refusal(encoder, silent), HasSubstr("--option " + member + "="));
  }
  alone.overrides["input.kind"] = "embeddings";
  const Architecture found = recognise_architecture(hashed_checkpoint(encoder), alone);
  EXPECT_EQ(found.spec.input.kind, InputKind::embeddings);
  EXPECT_EQ(found.spec.readout.kind, Readout::none);
  EXPECT_EQ(found.spec.layer.attention.heads, 2);
  EXPECT_EQ(found.spec.layer.norm.position, NormPosition::pre);
  EXPECT_TRUE(found.spec.layer.scores.causal);
  EXPECT_TRUE(found.spec.readout.final_norm);
  EXPECT_EQ(found.sources.at("final_norm.weight").tensor, "transformer_encoder.norm.weight");
  EXPECT_THAT(reason_of(found, "input.kind"),
              AllOf(HasSubstr("not run"), HasSubstr("time_emb.*, mixing.*, to_class.*")));
}

TEST(NamedModel, AsksForTheRotationOfQueriesWhenOnlyBlocksAreRead) {
  NamedShapes shapes = without_part(scratch_shapes(), "in_proj");
  for (const char* part : {"query", "key", "value"}) {
    shapes.emplace_back(std::string("layers.0.attn.") + part + ".weight", Shape{8, 8});
  }
  shapes.emplace_back("mixing.weight", Shape{8, 8});
  EXPECT_THAT(refusal(shapes, said()), HasSubstr("--option layer.rotary.form=…"));
}

TEST(NamedModel, TheLayerThatBlocksAreCopiesOfTakesNoPart) {
  NamedShapes shapes = scratch_shapes();
  for (const auto& [name, shape] : scratch_shapes()) {
    constexpr std::string_view first = "layers.0.";
    if (name.starts_with(first)) {
      shapes.emplace_back("encoder_layer." + name.substr(first.size()), shape);
    }
  }
  const Architecture found = recognise_architecture(hashed_checkpoint(shapes), said());
  EXPECT_TRUE(found.spec.is_language_model());
  EXPECT_THAT(reason_of(found, "ignore"), HasSubstr("copies"));
  // A tensor with another shape is not a copy.
  shapes.back().second.front() += 1;
  EXPECT_THAT(refusal(shapes, said()), HasSubstr("encoder_layer."));
}

TEST(NamedModel, AnOutProjectionNextToTheBlocksIsTheHead) {
  NamedShapes shapes = without_part(scratch_shapes(), "head");
  shapes.emplace_back("out_proj.weight", Shape{11, 8});
  const Architecture found = recognise_architecture(hashed_checkpoint(shapes), said());
  EXPECT_EQ(found.sources.at("head.0.weight").tensor, "out_proj.weight");
  EXPECT_TRUE(found.spec.is_language_model());
}

TEST(NamedModel, ReportsThatAHeadPerTokenGivesNoLogits) {
  NamedShapes shapes = without_part(scratch_shapes(), "head");
  shapes.emplace_back("hidden2tag.weight", Shape{9, 8});
  const Architecture found = recognise_architecture(hashed_checkpoint(shapes), said());
  EXPECT_EQ(found.spec.readout.kind, Readout::none);
  EXPECT_THAT(reason_of(found, "readout"), HasSubstr("hidden2tag"));
}

TEST(OwnSettings, GiveTheNumberOfHeads) {
  ModelOptions options = said();
  options.overrides.erase("heads");
  EXPECT_EQ(refusal(scratch_shapes(), options, {{"model_args.n_head", "4"}}), "no error");
  const Architecture found = recognise_architecture(
      hashed_checkpoint(scratch_shapes(), {{"model_args.n_head", "4"}}), options);
  EXPECT_EQ(found.spec.layer.attention.heads, 4);
  EXPECT_EQ(reason_of(found, "heads"), "as the settings in the file say");
  // Another number of heads would be another model and is refused; the same number is not.
  EXPECT_THAT(refusal(scratch_shapes(), said(), {{"model_args.n_head", "4"}}),
              AllOf(HasSubstr("--model-heads"), HasSubstr("expected 4, found 2")));
  EXPECT_EQ(refusal(scratch_shapes(), said(), {{"model_args.n_head", "2"}}), "no error");
}

TEST(OwnSettings, AreIgnoredWhenContradictoryOrOfAnotherModel) {
  ModelOptions options = said();
  options.overrides.erase("heads");
  const std::map<std::string, std::string> silent[] = {
      {{"config.n_head", "4"}, {"args.num_heads", "2"}},
      {{"args.decoder.num_heads", "4"}},
      {{"config.n_head", "many"}},
      {{"config.n_head", "0"}}};
  for (const auto& settings : silent) {
    EXPECT_THAT(refusal(scratch_shapes(), options, settings), HasSubstr("--option heads="));
  }
  EXPECT_THAT(refusal(scratch_shapes(), options, {{"config.n_head", "3"}}),
              HasSubstr("the heads do not fit the weights"));
}

TEST(OwnSettings, OverrideTheDefaultsOfAFamily) {
  const NamedShapes nano = {{"transformer.wte.weight", {11, 32}},
                            {"transformer.wpe.weight", {6, 32}},
                            {"transformer.h.0.ln_1.weight", {32}},
                            {"transformer.h.0.attn.c_attn.weight", {96, 32}},
                            {"transformer.h.0.attn.c_proj.weight", {32, 32}},
                            {"transformer.h.0.ln_2.weight", {32}},
                            {"transformer.h.0.mlp.c_fc.weight", {128, 32}},
                            {"transformer.h.0.mlp.c_proj.weight", {32, 128}},
                            {"transformer.ln_f.weight", {32}}};
  // A width of 32 cannot be divided into the family's heads of 64 channels.
  EXPECT_THAT(refusal(nano, {}), AllOf(HasSubstr("heads"), HasSubstr("--model-heads")));
  const Architecture told =
      recognise_architecture(hashed_checkpoint(nano, {{"model_args.n_head", "4"}}));
  EXPECT_EQ(told.name, "minGPT or nanoGPT");
  EXPECT_EQ(told.spec.layer.attention.heads, 4);
  EXPECT_EQ(reason_of(told, "heads"), "as the settings in the file say");
}

}  // namespace
}  // namespace attnscope
