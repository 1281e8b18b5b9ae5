// Keys of configurations that change what is computed: null, false, and what the file contradicts.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/model/model.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

/// A model of the test data's family with its configuration changed.
class ChangedConfiguration : public testing::Test {
 protected:
  [[nodiscard]] std::shared_ptr<const Model> model(const std::string& family, const json& changes,
                                                   const NamedShapes& more = {}) const {
    NamedShapes shapes = family_shapes(family);
    shapes.insert(shapes.end(), more.begin(), more.end());
    write_hashed_safetensors(folder_ / "model.safetensors", shapes);
    json config = read_test_data("models/families/" + family + ".json")["config"];
    config.update(changes);  // null is a value here
    (void)folder_.write("config.json", config.dump());
    return load_model(folder_.path(), options_);
  }

  [[nodiscard]] static Trace run(const Model& model) {
    Input input;
    input.content = Text{{}, {3, 1, 4, 1, 5}};
    TraceRequest request;
    request.token_logits = true;
    return model.run(input, model.spec().mechanism, request, {});
  }

  ModelOptions options_;
  const TemporaryFolder folder_;
};

TEST_F(ChangedConfiguration, ACapOfNullIsNone) {
  const auto capped = model("hugging_face_gemma2", json::object());
  EXPECT_EQ(capped->spec().layer.scores.soft_cap, 2);
  EXPECT_EQ(capped->spec().readout.soft_cap, 3);
  const auto free = model("hugging_face_gemma2", {{"attn_logit_softcapping", nullptr},
                                                  {"final_logit_softcapping", nullptr}});
  EXPECT_EQ(free->spec().layer.scores.soft_cap, 0);
  EXPECT_EQ(free->spec().readout.soft_cap, 0);
  float greatest = 0;
  for (const float logit : run(*free).token_logits.values()) {
    greatest = std::max(greatest, std::abs(logit));
  }
  EXPECT_GT(greatest, 3);
}

TEST_F(ChangedConfiguration, AScaleOfNullIsRefused) {
  expect_refusal(
      [&] {
        return model("hugging_face_gemma2", {{"query_pre_attn_scalar", nullptr}});
      },
      ErrorKind::damaged, "query_pre_attn_scalar", "config.json");
}

TEST_F(ChangedConfiguration, ADecoderThatIsNotCausalSeesLaterTokens) {
  const json changes = {{"is_causal", false}, {"auto_map", {{"AutoModel", "modeling_qwen.Own"}}}};
  const auto both_ways = model("hugging_face_qwen2", changes);
  EXPECT_FALSE(both_ways->spec().layer.scores.causal);
  EXPECT_GT(run(*both_ways).layers[0].implied_map.at(0, 0, 4), 0);
  const auto& assumed = both_ways->assumptions();
  const auto said = std::ranges::find(assumed, "config.auto_map", &Assumption::option);
  ASSERT_NE(said, assumed.end());
  EXPECT_THAT(said->value, HasSubstr("modeling_qwen.Own"));
  EXPECT_THAT(said->reason, AllOf(HasSubstr("is not run"), HasSubstr("qwen2")));
  const auto causal = model("hugging_face_qwen2", {{"is_causal", true}});
  EXPECT_TRUE(causal->spec().layer.scores.causal);
  EXPECT_EQ(run(*causal).layers[0].implied_map.at(0, 0, 4), 0);
  options_.overrides["layer.scores.causal"] = "true";
  EXPECT_TRUE(model("hugging_face_qwen2", changes)->spec().layer.scores.causal);
}

TEST_F(ChangedConfiguration, WindowsThatSeeLaterTokensAreRefused) {
  for (const char* family :
       {"hugging_face_mistral", "hugging_face_gemma2", "hugging_face_qwen2_windows"}) {
    expect_refusal(
        [&] {
          return model(family, {{"is_causal", false}});
        },
        ErrorKind::unsupported, "is_causal", "config.json");
  }
}

TEST_F(ChangedConfiguration, BloomWithoutItsPositionsIsRefused) {
  EXPECT_NO_THROW((void)model("hugging_face_bloom", {{"alibi", true}}));
  expect_refusal(
      [&] {
        return model("hugging_face_bloom", {{"alibi", false}});
      },
      ErrorKind::unsupported, "alibi", "config.json");
}

TEST_F(ChangedConfiguration, AFinalNormThatOptDoesNotApplyTakesNoPart) {
  const NamedShapes norm = {{"model.decoder.final_layer_norm.weight", {24}},
                            {"model.decoder.final_layer_norm.bias", {24}}};
  const Tensor without = run(*model("hugging_face_opt_narrow", json::object())).token_logits;
  const auto with = model("hugging_face_opt_narrow", json::object(), norm);
  EXPECT_FALSE(with->spec().readout.final_norm);
  const Tensor logits = run(*with).token_logits;
  ASSERT_EQ(logits.size(), without.size());
  for (std::int64_t i = 0; i < logits.size(); ++i) EXPECT_EQ(logits.data()[i], without.data()[i]);
  options_.overrides["final_norm"] = "true";
  EXPECT_TRUE(model("hugging_face_opt_narrow", json::object(), norm)->spec().readout.final_norm);
  options_.overrides["final_norm"] = "false";
  EXPECT_FALSE(model("hugging_face_opt", json::object())->spec().readout.final_norm);
  options_.overrides.clear();
  EXPECT_TRUE(model("hugging_face_opt", json::object())->spec().readout.final_norm);
  EXPECT_FALSE(
      model("hugging_face_opt", {{"_remove_final_layer_norm", true}})->spec().readout.final_norm);
}

TEST_F(ChangedConfiguration, ALinkThatLeadsNowhereIsAnError) {
  (void)model("hugging_face_opt", json::object());
  for (const char* name : {"config.json", "preprocessor_config.json"}) {
    std::filesystem::remove(folder_ / name);
    std::filesystem::create_symlink("nowhere.json", folder_ / name);
    EXPECT_THAT(error_of([&] { return load_model(folder_.path(), options_); }), HasSubstr(name));
    std::filesystem::remove(folder_ / name);
    std::filesystem::create_directory(folder_ / name);
    EXPECT_THAT(error_of([&] { return load_model(folder_.path(), options_); }), HasSubstr(name));
    std::filesystem::remove(folder_ / name);
  }
}

}  // namespace
}  // namespace attnscope
