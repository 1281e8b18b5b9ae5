// Runs the worked examples of docs/architecture-descriptions.md.
#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>

#include "core/architecture/architecture.h"
#include "core/error.h"
#include "core/model/transformer/transformer.h"
#include "tests/support/model_shapes.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

/// The JSON blocks of the document.
std::vector<std::string> documented_examples() {
  std::ifstream stream(source_folder() + "/docs/architecture-descriptions.md");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::vector<std::string> blocks;
  const std::string opening = "```json\n";
  for (std::size_t at = text.find(opening); at != std::string::npos; at = text.find(opening, at)) {
    at += opening.size();
    blocks.push_back(text.substr(at, text.find("```", at) - at));
  }
  return blocks;
}

class DocumentedExample : public testing::Test {
 protected:
  [[nodiscard]] ModelOptions described_by(const std::string& json) const {
    std::ofstream(path_) << json;
    return {{}, path_};
  }

  static Trace run(const Checkpoint& checkpoint, const ModelOptions& options) {
    Architecture architecture = recognise_architecture(checkpoint, options);
    EXPECT_THAT(architecture.unused, testing::IsEmpty());
    TransformerWeights weights = read_transformer_weights(checkpoint, architecture);
    const Transformer model(checkpoint.path(), "model", std::move(architecture),
                            std::move(weights));
    Input input;
    input.content =
        hashed_input("input", {3, model.spec().input.image_height, model.spec().input.image_width});
    TraceRequest request;
    request.implied_maps = true;
    return model.run(input, model.spec().mechanism, request, {});
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "architecture.json";
};

/// A checkpoint in memory with the given tensors.
Checkpoint checkpoint_of(std::vector<std::pair<std::string, Tensor>> named) {
  std::vector<StoredTensor> stored;
  for (auto& [name, tensor] : named) {
    const auto values = std::make_shared<const Tensor>(std::move(tensor));
    stored.push_back({name, DType::f32, values->shape(), 4 * values->size(), [values] {
                        TensorView view;
                        view.shape = values->shape();
                        view.strides = TensorView::contiguous_strides(view.shape);
                        view.data = reinterpret_cast<const std::byte*>(values->data());
                        view.storage = values;
                        return view;
                      }});
  }
  return {"in memory", "test", std::move(stored), {}};
}

Tensor transposed(const Tensor& matrix) {
  Tensor result({matrix.extent(1), matrix.extent(0)});
  result.matrix() = matrix.matrix().transpose();
  return result;
}

/// timm's fused weight or bias with its rows in the order (head, part).
Tensor heads_first(const Tensor& fused, std::int64_t heads) {
  const std::int64_t rows = fused.extent(0), each = rows / 3 / heads;
  const std::int64_t columns = fused.size() / rows;
  Tensor result(fused.shape());
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t part = 0; part < 3; ++part) {
      const std::int64_t from = (part * heads + head) * each, to = (head * 3 + part) * each;
      std::copy_n(fused.data() + from * columns, each * columns, result.data() + to * columns);
    }
  }
  return result;
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
}

TEST_F(DocumentedExample, BlockNGivesWhatTheSameWeightsGiveUnderTimmsNames) {
  const std::vector<std::string> examples = documented_examples();
  ASSERT_EQ(examples.size(), 3U);
  const VitExtents extents = {.width = 96, .mlp_width = 192};
  std::vector<std::pair<std::string, Tensor>> timm, described;
  for (const auto& [name, shape] : timm_shapes(extents)) {
    // The attention and the classifier of the example have no biases.
    if (name.find("attn") != std::string::npos && name.ends_with("bias")) continue;
    if (name == "head.bias") continue;
    Tensor tensor = hashed_weight(name, shape);
    std::string renamed = name;
    const std::pair<const char*, const char*> names[] = {
        {"cls_token", "params.cls"},
        {"pos_embed", "params.pos"},
        {"patch_embed.proj.weight", "params.stem.kernel"},
        {"patch_embed.proj.bias", "params.stem.offset"},
        {"head.weight", "params.classifier"},
        {"blocks.", "params.block_"},
        {"norm1.weight", "before_attn.scale"},
        {"norm1.bias", "before_attn.offset"},
        {"norm2.weight", "before_mlp.scale"},
        {"norm2.bias", "before_mlp.offset"},
        {"norm.weight", "params.last_norm.scale"},
        {"norm.bias", "params.last_norm.offset"},
        {"attn.qkv.weight", "attn.qkv"},
        {"attn.proj.weight", "attn.proj"},
        {"mlp.fc1.weight", "mlp.up"},
        {"mlp.fc1.bias", "mlp.up_offset"},
        {"mlp.fc2.weight", "mlp.down"},
        {"mlp.fc2.bias", "mlp.down_offset"}};
    for (const auto& [from, to] : names) replace(renamed, from, to);
    Tensor stored = name.ends_with("attn.qkv.weight") ? heads_first(tensor, 6) : tensor;
    if (shape.size() == 2) stored = transposed(stored);
    described.emplace_back(renamed, std::move(stored));
    timm.emplace_back(name, std::move(tensor));
  }
  const Trace expected =
      run(checkpoint_of(std::move(timm)), {{{"heads", "6"}, {"activation", "gelu_tanh"}}, {}});
  const Trace found = run(checkpoint_of(std::move(described)), described_by(examples[0]));
  EXPECT_EQ(found.heads(), 6);
  EXPECT_EQ(expected.heads(), 6);
  EXPECT_TRUE(std::ranges::equal(found.logits.values(), expected.logits.values()));
  EXPECT_TRUE(std::ranges::equal(found.layers[1].implied_map.values(),
                                 expected.layers[1].implied_map.values()));
}

TEST_F(DocumentedExample, PostNormMeanAgreesWithPyTorch) {
  const std::vector<std::string> examples = documented_examples();
  ASSERT_EQ(examples.size(), 3U);
  NamedShapes shapes = {{"stem.weight", {64, 192}}};
  for (int i = 0; i < 3; ++i) {
    const std::string layer = "layers." + std::to_string(i) + ".";
    for (const char* name : {"wq", "wk", "wv", "wo"}) {
      shapes.push_back({layer + name + ".weight", {64, 64}});
    }
    for (const char* name : {"ln_a", "ln_b"}) {
      shapes.push_back({layer + name + ".weight", {64}});
      shapes.push_back({layer + name + ".bias", {64}});
    }
    shapes.push_back({layer + "up.weight", {128, 64}});
    shapes.push_back({layer + "up.bias", {128}});
    shapes.push_back({layer + "down.weight", {64, 128}});
    shapes.push_back({layer + "down.bias", {64}});
  }
  for (const auto& [name, out, in] : {std::tuple("clf.0", 32, 64), std::tuple("clf.2", 10, 32)}) {
    shapes.push_back({std::string(name) + ".weight", {out, in}});
    shapes.push_back({std::string(name) + ".bias", {out}});
  }
  const Trace trace = run(hashed_checkpoint(shapes), described_by(examples[1]));
  const Checkpoint reference =
      open_checkpoint(source_folder() + "/tests/data/models/described.npz");
  const Tensor expected = reference.at("output").view().to_float();
  ASSERT_EQ(trace.logits.size(), expected.size());
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(trace.logits.data()[i], expected.data()[i], 1e-5F);
  }
}

TEST_F(DocumentedExample, AftTowerGivesWhatTheSameWeightsGiveUnderAftPytorchsNames) {
  const std::vector<std::string> examples = documented_examples();
  ASSERT_EQ(examples.size(), 3U);
  std::vector<std::pair<std::string, Tensor>> built_in, described;
  for (const auto& [name, shape] : aft_pytorch_vit_shapes({}, 48)) {
    std::string renamed = name;
    const std::pair<const char*, const char*> names[] = {
        {"cls_token", "start"},     {"pos_embed", "places"},     {"patch_embed.proj", "stem"},
        {"head.", "classes."},      {"blocks.", "tower."},       {".norm1", ".mix_norm"},
        {".norm2", ".mlp_norm"},    {"attn.to_q", "mix.gate"},   {"attn.to_k", "mix.key"},
        {"attn.to_v", "mix.value"}, {"attn.project", "mix.out"}, {"attn.wbias", "mix.pairs"},
        {"mlp.fc1", "up"},          {"mlp.fc2", "down"}};
    for (const auto& [from, to] : names) replace(renamed, from, to);
    if (renamed.starts_with("norm.")) renamed = "last_" + renamed;
    described.emplace_back(renamed, hashed_weight(name, shape));
    built_in.emplace_back(name, hashed_weight(name, shape));
  }
  const Trace expected = run(checkpoint_of(std::move(built_in)), {});
  const Trace found = run(checkpoint_of(std::move(described)), described_by(examples[2]));
  EXPECT_EQ(found.mechanism.name, "daft-full");
  EXPECT_TRUE(std::ranges::equal(found.logits.values(), expected.logits.values()));
}

TEST_F(DocumentedExample, ReportsAMissingDescriptionOrPattern) {
  const Checkpoint checkpoint = hashed_checkpoint(timm_shapes({}));
  const auto error = [&](const ModelOptions& options) -> std::string {
    try {
      (void)recognise_architecture(checkpoint, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(error({{}, "missing.json"}), testing::HasSubstr("cannot be read"));
  EXPECT_THAT(error(described_by("{\"name\": 3}")), testing::HasSubstr(path_.string()));
  EXPECT_THAT(error(described_by(documented_examples().at(1))),
              testing::AllOf(testing::HasSubstr("matched nothing"), testing::HasSubstr("nearest")));
}

}  // namespace
}  // namespace attnscope
