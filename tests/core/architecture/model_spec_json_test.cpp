#include "core/architecture/model_spec_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/architecture/model_options.h"
#include "core/error.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

TEST(ModelSpecJson, EveryMemberSurvivesTheRoundTrip) {
  ModelSpec spec;
  spec.input.channels = 1;
  spec.input.image_height = spec.input.image_width = 28;
  spec.input.patch_height = spec.input.patch_width = 2;
  spec.input.patch_order = PatchOrder::channels_last;
  spec.width = 48;
  spec.layer.mlp.activation = Activation::gelu_tanh;
  spec.layer.norm.position = NormPosition::post;
  spec.layer.norm.eps = 1e-12;
  spec.arithmetic = Arithmetic::adder;
  spec.positions.kind = Positions::none;
  spec.readout.final_norm = false;
  spec.readout.kind = Readout::mean;
  spec.readout.head_activation = HeadActivation::gelu;
  spec.input.mean = {0.2860};
  spec.input.std = {0.3530};
  spec.input.resize_mode = ResizeMode::exact;
  spec.input.resize_filter = ResizeFilter::bilinear;
  spec.mechanism = {"adder", {{"identity", true}, {"scale", 2.5}}};
  spec.labels = {"T-shirt/top", "Trouser"};
  spec.layer_mechanisms.assign(12, spec.mechanism);
  spec.layer_mechanisms[3] = {"softmax", {}};
  spec.multiplicative_layers = {0, 11};
  const ModelSpec read = model_spec_from_json(to_json(spec));
  EXPECT_EQ(to_json(read), to_json(spec));
  EXPECT_EQ(read.mechanism, spec.mechanism);
  EXPECT_EQ(read.labels, spec.labels);
  EXPECT_EQ(read.layer_mechanisms, spec.layer_mechanisms);
  EXPECT_EQ(read.multiplicative_layers, spec.multiplicative_layers);
  EXPECT_EQ(mechanism_of(read, 3).name, "softmax");
  EXPECT_EQ(arithmetic_of(read, 0), Arithmetic::multiplicative);
  EXPECT_EQ(arithmetic_of(read, 1), Arithmetic::adder);
}

ModelSpec small_pyramid() {
  ModelSpec spec;
  spec.input.kind = InputKind::stages;
  spec.input.image_height = spec.input.image_width = 32;
  spec.input.patch_height = spec.input.patch_width = 4;
  spec.input.class_tokens = 0;
  spec.readout.kind = Readout::mean;
  spec.stages = {{.width = 8,
                  .layers = 1,
                  .heads = 1,
                  .mlp_width = 16,
                  .kernel = 7,
                  .stride = 4,
                  .reduction = 2},
                 {.width = 16, .layers = 2, .heads = 2, .mlp_width = 16}};
  spec.layers = 3;
  spec.width = 16;
  spec.layer.attention.heads = 2;
  return spec;
}

TEST(ModelSpecJson, StagesSurviveTheRoundTripAsJsonAndAsAnOption) {
  const ModelSpec spec = small_pyramid();
  EXPECT_EQ(model_spec_from_json(to_json(spec)).stages, spec.stages);
  ModelSpec other = spec;
  other.stages.clear();
  apply_override(other, "stages", option_text(spec, "stages"));
  EXPECT_EQ(other.stages, spec.stages);
}

TEST(ModelSpecJson, StagesThatFitNothingAreNamed) {
  const auto refusal = [](auto change) {
    ModelSpec spec = small_pyramid();
    change(spec);
    return error_of([&] { validate(spec); });
  };
  EXPECT_THAT(refusal([](ModelSpec& s) { s.stages[1].heads = 3; }), HasSubstr("stages heads"));
  EXPECT_THAT(refusal([](ModelSpec& s) { s.layers = 4; }), HasSubstr("the sum of the stages'"));
  EXPECT_THAT(refusal([](ModelSpec& s) { s.stages[0].reduction = 9; }),
              HasSubstr("spatial reduction"));
  EXPECT_THAT(refusal([](ModelSpec& s) { s.stages[1].window = 3; }), HasSubstr("windows"));
  EXPECT_THAT(refusal([](ModelSpec& s) { s.stages[0].stride = 2; }), HasSubstr("patch_height"));
  EXPECT_THAT(refusal([](ModelSpec& s) { s.stages.clear(); }), HasSubstr("stages"));
  EXPECT_THAT(refusal([](ModelSpec& s) { s.layer_mechanisms.resize(2); }),
              HasSubstr("layer_mechanisms"));
}

TEST(ModelSpecJson, EveryOptionCanBeReadAndSetAsText) {
  ModelSpec spec;
  for (const ModelOption& option : model_options()) {
    if (is_file_option(option.name)) continue;
    ModelSpec other;
    apply_override(other, option.name, option_text(spec, option.name));
    EXPECT_EQ(option_text(other, option.name), option_text(spec, option.name)) << option.name;
    for (const std::string& choice : option.choices) {
      apply_override(other, option.name, choice);
      EXPECT_EQ(option_text(other, option.name), choice);
    }
  }
}

TEST(ModelSpecJson, OverridesAreText) {
  ModelSpec spec;
  apply_override(spec, "heads", "6");
  EXPECT_EQ(spec.layer.attention.heads, 6);
  apply_override(spec, "input_mean", "0.1,0.2,0.3");
  EXPECT_EQ(spec.input.mean, (std::vector<double>{0.1, 0.2, 0.3}));
  apply_override(spec, "mechanism", R"({"name": "adder", "parameters": {"identity": true}})");
  EXPECT_EQ(spec.mechanism, (MechanismChoice{"adder", {{"identity", true}}}));
  apply_override(spec, "labels", "cat,dog");
  EXPECT_EQ(spec.labels, (std::vector<std::string>{"cat", "dog"}));
}

TEST(ModelSpecJson, ErrorsNameTheKeyAndTheKnown) {
  EXPECT_THAT(error_of([] { (void)model_spec_from_json(R"({"headz": 3})"); }),
              AllOf(HasSubstr("headz"), HasSubstr("heads")));
  EXPECT_THAT(error_of([] { (void)model_spec_from_json(R"({"heads": "three"})"); }),
              AllOf(HasSubstr("heads: "), HasSubstr("whole number")));
  EXPECT_THAT(error_of([] { (void)model_spec_from_json(R"({"activation": "swish"})"); }),
              AllOf(HasSubstr("activation"), HasSubstr("gelu_tanh"), HasSubstr("swish")));
  EXPECT_THAT(error_of([] { (void)model_spec_from_json("{"); }), HasSubstr("JSON"));
  EXPECT_THAT(error_of([] { (void)model_spec_from_json("[]"); }), HasSubstr("object"));
  ModelSpec spec;
  EXPECT_THAT(error_of([&] { apply_override(spec, "heads", "many"); }),
              AllOf(HasSubstr("heads"), HasSubstr("whole number"), HasSubstr("'many'")));
  EXPECT_THAT(error_of([&] { apply_override(spec, "head", "3"); }), HasSubstr("heads"));
  EXPECT_THAT(error_of([&] { apply_override(spec, "family", "vit"); }),
              HasSubstr("unknown model option 'family'"));
  EXPECT_THAT(error_of([&] { apply_override(spec, "heads", "99999999999999999999"); }),
              HasSubstr("heads"));
}

TEST(ModelSpecJson, RefusesImpossibleModels) {
  for (const char* text :
       {R"({"heads": 0})", R"({"heads": 5})", R"({"width": -1})", R"({"image_height": 225})",
        R"({"patch_height": 0})", R"({"readout": "mean", "class_tokens": 3})",
        R"({"class_tokens": 0})", R"({"input_std": [0.5, 0, 0.5]})", R"({"input_mean": [1, 2]})",
        R"({"crop_fraction": 0})", R"({"layers": 1000000})", R"({"family": "causal_lm"})",
        R"({"readout": "class_and_distilled"})", R"({"width": 1e30})"}) {
    EXPECT_THROW((void)model_spec_from_json(text), Error) << text;
  }
}

}  // namespace
}  // namespace attnscope
