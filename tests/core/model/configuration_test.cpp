// Keys of configurations that change the result: null, false, and values that contradict the file.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

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

/// A model of one of the test data's families with a changed configuration.
class ChangedConfiguration : public testing::Test {
 protected:
  [[nodiscard]] std::shared_ptr<const Model> model(const std::string& family, const json& changes,
                                                   const NamedShapes& more = {}) const {
    NamedShapes shapes = family_shapes(family);
    shapes.insert(shapes.end(), more.begin(), more.end());
    write_hashed_safetensors(folder_ / "model.safetensors", shapes);
    json config = read_test_data("models/families/" + family + ".json")["config"];
    config.update(changes);  // null stays a value here
    for (const std::string& key : left_out_) config.erase(key);
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

  /// The assumption about `option`; an empty one if there is none.
  [[nodiscard]] static Assumption said_of(const Model& model, const std::string& option) {
    const auto& assumed = model.assumptions();
    const auto found = std::ranges::find(assumed, option, &Assumption::option);
    return found == assumed.end() ? Assumption{} : *found;
  }

  ModelOptions options_;
  std::vector<std::string> left_out_;  ///< keys to remove from the configuration
  const TemporaryFolder folder_;
};

TEST_F(ChangedConfiguration, ANullCapIsNoCap) {
  const auto capped = model("hugging_face_gemma2", json::object());
  EXPECT_EQ(capped->spec().layer.scores.soft_cap, 2);
  EXPECT_EQ(capped->spec().readout.soft_cap, 3);
  const auto free = model("hugging_face_gemma2", {{"attn_logit_softcapping", nullptr},
                                                  {"final_logit_softcapping", nullptr}});
  EXPECT_EQ(free->spec().layer.scores.soft_cap, 0);
  EXPECT_EQ(free->spec().readout.soft_cap, 0);
  float greatest = 0;
  const Trace trace = run(*free);
  for (const float logit : trace.token_logits.values()) {
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

TEST_F(ChangedConfiguration, APipeOrADeviceByItsNameIsRefusedAtOnce) {
  (void)model("hugging_face_opt", json::object());
  for (const char* name : {"config.json", "preprocessor_config.json"}) {
    const std::filesystem::path file = folder_ / name;
    std::filesystem::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    const auto load = [&] { return load_model(folder_.path(), options_); };
    EXPECT_THAT(error_of(load), AllOf(HasSubstr(name), HasSubstr("is not a regular file")));
    std::filesystem::remove(file);
    std::filesystem::create_symlink("/dev/zero", file);  // has no end
    EXPECT_THAT(error_of(load), AllOf(HasSubstr(name), HasSubstr("is not a regular file")));
    std::filesystem::remove(file);
  }
}

TEST_F(ChangedConfiguration, ReadsKeysOfTheFamilyWithoutAKind) {
  left_out_ = {"model_type", "architectures"};
  const auto read =
      model("hugging_face_llama", {{"rope_theta", 500000.0},
                                   {"rms_norm_eps", 0.001},
                                   {"rope_scaling", {{"rope_type", "linear"}, {"factor", 2.0}}}});
  const LayerSpec& layer = read->spec().layer;
  EXPECT_EQ(layer.rotary.theta, 500000);
  EXPECT_EQ(layer.rotary.scaling, RotaryScaling::linear);
  EXPECT_NEAR(layer.norm.eps, 0.001, 1e-9);
  EXPECT_EQ(layer.attention.heads, 4);
  EXPECT_THAT(said_of(*read, "layer.rotary.theta").reason, HasSubstr("configuration"));
  const auto capped = model("hugging_face_gemma2", json::object());
  EXPECT_EQ(capped->spec().layer.scores.soft_cap, 2);
  EXPECT_EQ(capped->spec().differences.size(), 1U);
}

TEST_F(ChangedConfiguration, HasNoClassDefaultsWithoutAKind) {
  left_out_ = {"model_type", "architectures", "rope_theta"};
  const Assumption theta =
      said_of(*model("hugging_face_llama", json::object()), "layer.rotary.theta");
  EXPECT_EQ(theta.value, "10000.0");
  EXPECT_EQ(theta.reason, "the family's usual one");
  EXPECT_FALSE(theta.stated);
  left_out_ = {"rope_theta"};
  EXPECT_THAT(said_of(*model("hugging_face_llama", json::object()), "layer.rotary.theta").reason,
              AllOf(HasSubstr("default of transformers for llama"), HasSubstr("leaves it out")));
}

TEST_F(ChangedConfiguration, RefusesUnknownKeysWithoutAKind) {
  left_out_ = {"model_type", "architectures"};
  expect_refusal(
      [&] {
        return model("hugging_face_llama", {{"residual_multiplier", 0.22}});
      },
      ErrorKind::unsupported, "residual_multiplier", "config.json");
}

TEST_F(ChangedConfiguration, RefusesKeysThatKindsReadDifferentlyWithoutAKind) {
  left_out_ = {"model_type", "architectures"};
  const json window = {{"sliding_window", 3}};
  expect_refusal([&] { return model("hugging_face_llama", window); }, ErrorKind::unsupported,
                 "mistral", "config.json");
  left_out_ = {"model_type"};
  const auto with_class = [&](const char* name) {
    json changes = window;
    changes["architectures"] = {name};
    return model("hugging_face_llama", changes);
  };
  EXPECT_EQ(with_class("MistralForCausalLM")->spec().layer.scores.window, 3);
  EXPECT_EQ(with_class("Qwen2ForCausalLM")->spec().layer.scores.window, 0);
  expect_refusal([&] { return with_class("LlamaForCausalLM"); }, ErrorKind::unsupported,
                 "sliding_window", "config.json");
  expect_refusal([&] { return with_class("Phi3ForCausalLM"); }, ErrorKind::unsupported, "Phi-3",
                 "model.safetensors");
  expect_refusal([&] { return with_class("CohereForCausalLM"); }, ErrorKind::unsupported,
                 "CohereForCausalLM", "config.json");
}

TEST_F(ChangedConfiguration, ListsKeysThatNoKindExplainsAsUnread) {
  const auto read = model("nanogpt", {{"n_head", 2}, {"rope_theta", 500000}, {"top_k", 3}});
  EXPECT_EQ(read->spec().layer.attention.heads, 2);
  const Assumption unread = said_of(*read, "config");
  EXPECT_EQ(unread.value, "rope_theta");
  EXPECT_THAT(unread.reason, HasSubstr("not read"));
}

TEST_F(ChangedConfiguration, RefusesAnOwnHeadOfATiedModelUnlessIgnored) {
  const json tied = {{"tie_word_embeddings", true}};
  const auto load = [&] { return model("hugging_face_llama", tied); };
  expect_refusal(load, ErrorKind::unsupported, "tie_word_embeddings", "model.safetensors");
  options_.overrides[kIgnoreOption] = "config.tie_word_embeddings";
  const Tensor own = run(*load()).token_logits;
  options_.overrides.clear();
  left_out_ = {"tie_word_embeddings"};  // the default of the class is false
  const Tensor by_class = run(*model("hugging_face_llama", json::object())).token_logits;
  EXPECT_EQ(own.values()[7], by_class.values()[7]);
  left_out_.clear();
  NamedShapes shapes = family_shapes("hugging_face_llama");
  const auto head = std::ranges::find(shapes, "lm_head.weight", &NamedShapes::value_type::first);
  ASSERT_NE(head, shapes.end());
  (void)error_of(load);  // writes the configuration
  write_hashed_safetensors(
      folder_ / "model.safetensors", shapes,
      {{"lm_head.weight", hashed_weight("model.embed_tokens.weight", head->second)}});
  EXPECT_NO_THROW((void)load_model(folder_.path(), options_));
}

TEST_F(ChangedConfiguration, RefusesAMissingHeadOfAnUntiedModel) {
  left_out_ = {"tie_word_embeddings"};
  const auto load = [&] { return model("hugging_face_qwen2", json::object()); };
  expect_refusal(load, ErrorKind::unsupported, "tie_word_embeddings", "model.safetensors");
  options_.overrides["readout"] = "none";
  EXPECT_FALSE(load()->spec().readout.gives_token_logits());
  options_.overrides = {{kIgnoreOption, "config.tie_word_embeddings"}};
  EXPECT_TRUE(load()->spec().readout.gives_token_logits());
}

TEST_F(ChangedConfiguration, RefusesOffForSettingsThatMustBeOn) {
  const auto position = [&](const json& value) {
    return model("hugging_face_bert", {{"position_embedding_type", value}});
  };
  for (const json& off : {json(), json(""), json(0), json(false)}) {
    expect_refusal([&] { return position(off); }, ErrorKind::unsupported, "position_embedding_type",
                   "config.json");
  }
  EXPECT_NO_THROW((void)position("absolute"));
}

TEST_F(ChangedConfiguration, ANullThatItsCodeCannotTakeIsRefused) {
  for (const char* key : {"rms_norm_eps", "rope_theta", "hidden_act", "num_attention_heads"}) {
    SCOPED_TRACE(key);
    EXPECT_THAT(error_of([&] {
                  return model("hugging_face_llama", {{key, nullptr}});
                }),
                HasSubstr(key));
  }
  EXPECT_NO_THROW((void)model("hugging_face_llama", {{"head_dim", nullptr}}));
}

TEST_F(ChangedConfiguration, AnOptionOfAllLayersWhereSomeDifferIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"hugging_face_gemma2", "layer.scores.window"},
      {"hugging_face_gemma3", "layer.rotary.theta"}};
  for (const auto& each : cases) {
    options_.overrides = {{each.second, "3"}};
    expect_refusal([&] { return model(each.first, json::object()); }, ErrorKind::usage, each.second,
                   "model.safetensors");
    options_.overrides["differences"] = "[]";
    EXPECT_NO_THROW((void)model(each.first, json::object()));
  }
}

TEST_F(ChangedConfiguration, RefusesAMissingFinalNorm) {
  options_.overrides["final_norm"] = "true";
  expect_refusal([&] { return model("hugging_face_opt_narrow", json::object()); }, ErrorKind::usage,
                 "final_norm", "model.safetensors");
}

}  // namespace
}  // namespace attnscope
