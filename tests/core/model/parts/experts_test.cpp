// Mixtures of experts: the choice of experts, the weights that are read for it, and files whose
// experts do not fit. Outputs of whole models are compared in families_test.
#include "core/model/parts/experts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "core/architecture/model_spec_json.h"
#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/model/model.h"
#include "core/tensor/quantised.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

Input ids(std::vector<std::int64_t> numbers) {
  Input input;
  input.content = Text{{}, std::move(numbers)};
  return input;
}

/// A model of tests/data/models/families with its configuration, changed by `changes`.
std::shared_ptr<const Model> model_of(const std::string& name, const NamedShapes& shapes,
                                      const json& changes = json::object()) {
  const TemporaryFolder folder;
  json config = read_test_data("models/families/" + name + ".json")["config"];
  config.merge_patch(changes);
  (void)folder.write("config.json", config.dump());
  write_hashed_safetensors(folder / "model.safetensors", shapes);
  return load_model(folder.path());
}

std::string refusal_with(const NamedShapes& shapes, const json& changes = json::object(),
                         const std::string& name = "hugging_face_mixtral") {
  return error_of([&] { return model_of(name, shapes, changes); });
}

Trace routed(const Model& model, const Input& input) {
  TraceRequest request;
  request.quantities = true;
  return model.run(input, model.spec().mechanism, request, {});
}

TEST(Experts, RecordsTheExpertsOfEachTokenLikePyTorch) {
  for (const std::string name :
       {"hugging_face_mixtral", "hugging_face_qwen2_moe", "hugging_face_qwen3_moe",
        "hugging_face_qwen3_moe_plain_layers", "hugging_face_qwen3_next_stacked",
        "hugging_face_gpt_oss", "hugging_face_gpt_oss_mxfp4", "hugging_face_deepseek_v2_lite",
        "hugging_face_deepseek_v2", "hugging_face_deepseek_v3", "hugging_face_deepseek_v3_plain"}) {
    const auto model = model_of(name, family_shapes(name));
    const Trace trace =
        routed(*model, ids(read_test_data("models/families/" + name + ".json")["ids"]));
    const Checkpoint expected =
        open_checkpoint(source_folder() + "/tests/data/models/families/" + name + ".npz");
    int layers = 0;
    for (std::size_t layer = 0; layer < trace.layers.size(); ++layer) {
      const NamedTensors& found = trace.layers[layer].quantities;
      const std::string number = std::to_string(layer);
      ASSERT_EQ(found.contains(kExpertNumbers), expected.find("experts_" + number) != nullptr)
          << name << " " << layer;
      if (!found.contains(kExpertNumbers)) continue;
      ++layers;
      const Tensor experts = expected.at("experts_" + number).view().to_float();
      const Tensor weights = expected.at("expert_weights_" + number).view().to_float();
      ASSERT_EQ(found.at(kExpertNumbers).shape(), experts.shape());
      for (std::int64_t i = 0; i < experts.size(); ++i) {
        EXPECT_EQ(found.at(kExpertNumbers).data()[i], experts.data()[i]) << layer << " " << i;
        EXPECT_NEAR(found.at(kExpertWeights).data()[i], weights.data()[i], 1e-5F);
      }
    }
    EXPECT_GT(layers, 0);
  }
}

TEST(Experts, TakeTheFirstOfEqualWeights) {
  const Experts experts{.router = Linear(Tensor({4, 2}, {1, 0, 0, 0, 1, 0, 0, 0}), {}),
                        .mlps = std::vector<Mlp>(4),
                        .active = 3,
                        .sums_to_one = false};
  const Tensor token({1, 2}, {1, 0});
  const Routing routing = experts.route(seen(token));
  EXPECT_EQ(routing.experts.values()[0], 0);
  EXPECT_EQ(routing.experts.values()[1], 2);
  EXPECT_EQ(routing.experts.values()[2], 1);
  EXPECT_NEAR(routing.weights.values()[0], std::exp(1.0) / (2 * std::exp(1.0) + 2), 1e-6);
}

/// The same tensors, of which those that `hidden` names cannot be read: their blocks have a layout
/// that nothing decodes.
Checkpoint with_unreadable(const Checkpoint& checkpoint, const std::set<std::string>& hidden) {
  const BlockLayout* const layout = block_layout(16);
  EXPECT_FALSE(layout->readable);
  std::vector<StoredTensor> tensors = checkpoint.tensors();
  for (StoredTensor& tensor : tensors) {
    if (!hidden.contains(tensor.name)) continue;
    tensor.view = [view = tensor.view(), layout] {
      TensorView unreadable = view;
      unreadable.dtype = DType::quantised;
      unreadable.blocks = layout;
      return unreadable;
    };
  }
  return {checkpoint.path(), checkpoint.format(), std::move(tensors), checkpoint.metadata()};
}

TEST(Experts, ReadOnlyTheWeightsOfChosenExperts) {
  const std::string name = "hugging_face_mixtral_without_config";
  const Checkpoint checkpoint = hashed_checkpoint(family_shapes(name));
  ModelOptions options;
  options.overrides["heads"] = "4";
  options.overrides["layer.mlp.active_experts"] = "1";
  const auto whole = read_model(checkpoint, "model", options);
  const Input input = ids({4});
  const Trace trace = routed(*whole, input);
  std::set<std::string> unused;
  std::string used;
  for (std::size_t layer = 0; layer < trace.layers.size(); ++layer) {
    const float chosen = trace.layers[layer].quantities.at(kExpertNumbers).values()[0];
    for (int expert = 0; expert < 3; ++expert) {
      for (const char* const part : {"w1", "w2", "w3"}) {
        const std::string tensor = "model.layers." + std::to_string(layer) +
                                   ".block_sparse_moe.experts." + std::to_string(expert) + "." +
                                   part + ".weight";
        if (expert != static_cast<int>(chosen)) {
          unused.insert(tensor);
        } else if (layer == 1) {
          used = tensor;
        }
      }
    }
  }
  EXPECT_EQ(unused.size(), 12U);
  const auto part = read_model(with_unreadable(checkpoint, unused), "model", options);
  const Trace same = routed(*part, input);
  EXPECT_TRUE(std::ranges::equal(same.logits.values(), trace.logits.values()));
  // The check would notice a read.
  const auto less = read_model(with_unreadable(checkpoint, {used}), "model", options);
  EXPECT_THROW((void)routed(*less, input), Error);
}

/// The same MXFP4 elements, with factors that are no numbers for all experts but `kept`.
TensorView without_others(const TensorView& whole, std::int64_t kept) {
  const TensorView& factors = whole.factors->values;
  const std::int64_t count = element_count(factors.shape), each = count / factors.shape.front();
  const auto bytes = std::make_shared<std::vector<std::byte>>(factors.data, factors.data + count);
  for (std::int64_t i = 0; i < count; ++i) {
    if (i / each != kept) (*bytes)[static_cast<std::size_t>(i)] = std::byte{255};
  }
  TensorView changed = factors;
  changed.data = bytes->data();
  changed.storage = bytes;
  TensorView view = whole;
  view.factors = std::make_shared<const StoredFactors>(
      StoredFactors{std::move(changed), whole.factors->rows, whole.factors->columns});
  return view;
}

TEST(Experts, ReadNothingOfOtherExpertsInATensorOfAll) {
  const std::string name = "hugging_face_gpt_oss_mxfp4";
  const TemporaryFolder folder;
  json config = read_test_data("models/families/" + name + ".json")["config"];
  config["num_experts_per_tok"] = 1;
  (void)folder.write("config.json", config.dump());
  write_hashed_safetensors(folder / "model.safetensors", family_shapes(name));
  const Checkpoint checkpoint = open_checkpoint(folder / "model.safetensors");
  const Input input = ids({4});
  const Trace trace = routed(*read_model(checkpoint, "model", {}), input);
  const auto logits_with = [&](std::int64_t further) {
    std::vector<StoredTensor> tensors = checkpoint.tensors();
    int changed = 0;
    for (StoredTensor& tensor : tensors) {
      if (tensor.blocks != &kMxfp4) continue;
      const auto layer =
          static_cast<std::size_t>(tensor.name[std::size("model.layers.") - 1] - '0');
      const Tensor& chosen = trace.layers[layer].quantities.at(kExpertNumbers);
      const auto expert = static_cast<std::int64_t>(chosen.values()[0]) + further;
      tensor.view = [view = without_others(tensor.view(), expert % 4)] { return view; };
      ++changed;
    }
    EXPECT_EQ(changed, 6);
    const Checkpoint other(checkpoint.path(), checkpoint.format(), std::move(tensors), {});
    return routed(*read_model(other, "model", {}), input).logits;
  };
  EXPECT_TRUE(std::ranges::equal(logits_with(0).values(), trace.logits.values()));
  EXPECT_TRUE(std::isnan(logits_with(1).values()[0]));  // the check would notice a read
}

TEST(Experts, ComeFromTheBestGroupsByCorrectedScores) {
  Experts experts{.router = Linear(Tensor({4, 1}, {0, 2, 1, 1}), {}),
                  .mlps = std::vector<Mlp>(4),
                  .active = 1,
                  .sums_to_one = false};
  experts.score = ExpertScore::sigmoid;
  experts.scale = 2;
  const Tensor token({1, 1}, {1});
  const auto chosen = [&] { return experts.route(seen(token)).experts.values()[0]; };
  EXPECT_EQ(chosen(), 1);
  experts.groups = 2;
  experts.group_best = 2;
  EXPECT_EQ(chosen(), 2) << "the sums of two are 1.38 and 1.46";
  experts.corrections = {0, 0, -0.1F, 0};
  EXPECT_EQ(chosen(), 1) << "the sums are 1.38 and 1.36";
  experts.corrections = {0, 0, 0, 0.1F};
  const Routing routing = experts.route(seen(token));
  EXPECT_EQ(routing.experts.values()[0], 3);
  EXPECT_NEAR(routing.weights.values()[0], 2 / (1 + std::exp(-1.0)), 1e-6) << "without correction";
}

TEST(Experts, FilesThatDoNotFitNameWhatIsWrong) {
  const NamedShapes whole = family_shapes("hugging_face_mixtral");
  const auto without = [&](const std::string& part) {
    NamedShapes shapes = whole;
    EXPECT_GT(
        std::erase_if(
            shapes, [&](const auto& entry) { return entry.first.find(part) != std::string::npos; }),
        0U);
    return shapes;
  };
  const auto reshaped = [&](const std::string& name, Shape shape) {
    NamedShapes shapes = whole;
    for (auto& [each, old] : shapes) {
      if (each == name) old = shape;
    }
    return shapes;
  };
  const std::string layer = "model.layers.1.block_sparse_moe.";
  EXPECT_EQ(refusal_with(whole), "");
  EXPECT_THAT(refusal_with(without("1.block_sparse_moe.experts.0.w2")),
              HasSubstr(layer + "experts.0.w2.weight"));
  EXPECT_THAT(refusal_with(without("1.block_sparse_moe.experts.2.w2")),
              AllOf(HasSubstr(layer + "experts.3.w2.weight"), HasSubstr("after a missing one")));
  EXPECT_THAT(refusal_with(without("1.block_sparse_moe.experts.3.")),
              AllOf(HasSubstr(layer + "experts.2."), HasSubstr("the router's rows"),
                    HasSubstr("expected 4 experts, found 3")));
  EXPECT_THAT(refusal_with(without("1.block_sparse_moe.experts.3.w1")),
              AllOf(HasSubstr("experts.2.w1"), HasSubstr("expected 4 experts, found 3")));
  EXPECT_THAT(
      refusal_with(reshaped(layer + "gate.weight", {4, 30})),
      AllOf(HasSubstr(layer + "gate.weight"), HasSubstr("expected [4, 32], found [4, 30]")));
  EXPECT_THAT(
      refusal_with(reshaped(layer + "gate.weight", {5, 32})),
      AllOf(HasSubstr(layer + "gate.weight"), HasSubstr("expected [4, 32], found [5, 32]")));
  EXPECT_THAT(refusal_with(reshaped("model.layers.0.block_sparse_moe.gate.weight", {5, 32})),
              AllOf(HasSubstr("layer.mlp.experts"), HasSubstr("4"), HasSubstr("5")));
  EXPECT_THAT(refusal_with(reshaped(layer + "experts.1.w3.weight", {20, 32})),
              AllOf(HasSubstr(layer + "experts.1.w3.weight"), HasSubstr("[20, 32]")));
  EXPECT_THAT(refusal_with(whole, {{"num_experts_per_tok", 5}}),
              AllOf(HasSubstr("layer.mlp.active_experts"), HasSubstr("1 to 4"), HasSubstr("5")));
  EXPECT_THAT(refusal_with(whole, {{"num_local_experts", 8}}),
              AllOf(HasSubstr("layer.mlp.experts"), HasSubstr("8"), HasSubstr("4")));
}

TEST(Experts, SharedExpertsAndLatentsThatDoNotFitNameWhatIsWrong) {
  const std::string name = "hugging_face_deepseek_v2_lite", v3 = "hugging_face_deepseek_v3";
  const NamedShapes shapes = family_shapes(name);
  const auto refused = [&](const json& changes) { return refusal_with(shapes, changes, name); };
  EXPECT_EQ(refused(json::object()), "");
  EXPECT_THAT(refused({{"n_shared_experts", 1}}), HasSubstr("layer.mlp.shared_width"));
  EXPECT_THAT(refused({{"first_k_dense_replace", 2}}), HasSubstr("layer.1.router.weight"));
  EXPECT_THAT(refused({{"kv_lora_rank", 18}}), HasSubstr("layer.attention.latent_width"));
  EXPECT_THAT(refused({{"q_lora_rank", 18}}), HasSubstr("layer.attention.query_latent_width"));
  EXPECT_THAT(refused({{"v_head_dim", 8}}), HasSubstr("kv_b_proj"));
  EXPECT_THAT(refused({{"qk_rope_head_dim", 8}}), HasSubstr("heads"));
  EXPECT_THAT(refused({{"num_key_value_heads", 2}}), HasSubstr("layer.attention.key_heads"));
  EXPECT_THAT(refused({{"rope_scaling", {{"mscale_all_dim", nullptr}}}}), HasSubstr("mscale"));
  EXPECT_THAT(refused({{"topk_method", "group_limited_greedy"}, {"n_group", 4}}),
              HasSubstr("layer.mlp.expert_groups"));
  EXPECT_EQ(model_of(v3, family_shapes(v3))->spec().layers, 2) << "the third predicts more tokens";
}

TEST(Experts, LayersWithoutExpertsAreThoseOfTheConfiguration) {
  const std::string name = "hugging_face_qwen3_moe_plain_layers";
  const NamedShapes shapes = family_shapes(name);
  EXPECT_THAT(refusal_with(shapes, {{"mlp_only_layers", json::array()}}, name),
              AllOf(HasSubstr("layer.3.router.weight"), HasSubstr("6 experts")));
  EXPECT_THAT(refusal_with(shapes, {{"mlp_only_layers", {1, 3}}}, name),
              AllOf(HasSubstr("layer.1.router.weight"), HasSubstr("one MLP")));
  EXPECT_THAT(refusal_with(shapes, {{"mlp_only_layers", "3"}}, name), HasSubstr("mlp_only_layers"));
  const auto model = model_of(name, shapes);
  EXPECT_EQ(layer_of(model->spec(), 1).mlp.experts, 6);
  EXPECT_EQ(layer_of(model->spec(), 1).mlp.width, 20);
  EXPECT_EQ(layer_of(model->spec(), 2).mlp.experts, 0);
  EXPECT_EQ(layer_of(model->spec(), 2).mlp.width, 28);
}

TEST(Experts, TheMlpOfAllTokensIsThatOfEveryLayerWithExperts) {
  const std::string name = "hugging_face_qwen2_moe";
  NamedShapes shapes = family_shapes(name);
  const json same = json::object();
  EXPECT_EQ(refusal_with(shapes, same, name), "");
  shapes.emplace_back("model.layers.2.mlp.shared_expert_gate.weight", Shape{1, 32});
  EXPECT_THAT(refusal_with(shapes, same, name),
              AllOf(HasSubstr("layer.2.shared_gate.weight"), HasSubstr("expected none")));
  NamedShapes stacked = family_shapes("hugging_face_qwen2_moe_stacked");
  EXPECT_EQ(std::erase_if(stacked,
                          [](const auto& entry) {
                            return entry.first == "model.layers.1.mlp.shared_expert_gate.weight";
                          }),
            1U);
  EXPECT_THAT(refusal_with(stacked, same, "hugging_face_qwen2_moe_stacked"),
              HasSubstr("layer.1.shared_gate.weight"));
}

TEST(Experts, AreAskedForWhereNoConfigurationGivesTheirNumber) {
  // A user's description that does not say how many experts a token passes through.
  const TemporaryFolder folder;
  const std::string name = "hugging_face_mixtral_without_config";
  write_hashed_safetensors(folder / "model.safetensors", family_shapes(name));
  ModelOptions options;
  options.description = folder.write("description.json",
                                     R"({"like": "Hugging Face Mixtral", "model": {"heads": 4},
          "reasons": {"layer.mlp.active_experts": null}})");
  EXPECT_THAT(error_of([&] { return load_model(folder / "model.safetensors", options); }),
              AllOf(HasSubstr("layer.mlp.active_experts"), HasSubstr("--option")));
  options.overrides["layer.mlp.active_experts"] = "2";
  EXPECT_EQ(load_model(folder / "model.safetensors", options)->spec().layer.mlp.experts, 3);
}

}  // namespace
}  // namespace attnscope
