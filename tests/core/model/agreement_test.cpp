// Maps and outputs compared with PyTorch's in double precision on the same weights:
// tests/data/models/make_reference.py and make_upstream.py.
#include <cstdlib>
#include <gtest/gtest.h>

#include "core/checkpoint/checkpoint.h"
#include "core/model/model.h"
#include "tests/support/expected_maps.h"
#include "tests/support/model_shapes.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

const std::filesystem::path kAgreementData = source_folder() + "/tests/data/models";
constexpr float kAgreementTolerance = 1e-5F;

class AgreementWithPyTorch : public testing::Test {
 protected:
  static Trace run(const std::filesystem::path& file, decltype(Input::content) input,
                   const ModelOptions& options = {}) {
    const auto model = load_model(file, options);
    Input shown;
    shown.content = std::move(input);
    TraceRequest request;
    request.tokens = true;
    request.token_logits = true;
    return model->run(shown, model->spec().mechanism, request, {});
  }

  /// The token ids of the reference.
  static Text ids_of(const char* reference) {
    return {{}, open_checkpoint(kAgreementData / reference).at("ids").view().to_int64()};
  }

  /// Expects `output` and the rows of every map to equal the reference.
  static void expect_agreement(const char* reference, const Trace& trace, const Tensor& output) {
    const Checkpoint expected = open_checkpoint(kAgreementData / reference);
    const Tensor expected_output = expected.at("output").view().to_float();
    ASSERT_EQ(output.size(), expected_output.size());
    for (std::int64_t i = 0; i < output.size(); ++i) {
      ASSERT_NEAR(output.data()[i], expected_output.data()[i], kAgreementTolerance) << i;
    }
    expect_map_rows(trace, expected);
  }

  /// labml's mask under the name before + layer + after + ".local_mask" for each layer.
  static std::map<std::string, Tensor> masks(std::int64_t layers, const std::string& before,
                                             const std::string& after, const Tensor& mask) {
    std::map<std::string, Tensor> all;
    for (std::int64_t i = 0; i < layers; ++i) {
      all[before + std::to_string(i) + after + ".local_mask"] = mask;
    }
    return all;
  }

  const TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "model.safetensors";
};

const VitExtents kDeitTiny = {
    .width = 192, .layers = 12, .image = 224, .patch = 16, .classes = 1000, .mlp_width = 768};

TEST_F(AgreementWithPyTorch, DeitTinyInSafetensors) {
  write_hashed_safetensors(path_, timm_shapes(kDeitTiny));
  const Trace trace = run(path_, hashed_input("input", {3, 224, 224}));
  expect_agreement("deit_tiny.npz", trace, trace.logits);
}

TEST_F(AgreementWithPyTorch, DeitTinyAsTorchSaves) {
  path_.replace_extension(".pth");
  const std::string make = "/usr/bin/python3 -B '" +
                           (kAgreementData / "make_reference.py").string() + "' '" +
                           path_.string() + "' 2>/dev/null";
  if (std::system("/usr/bin/python3 -c 'import torch' 2>/dev/null") != 0) {
    GTEST_SKIP() << "PyTorch (python3-torch) is not installed: no .pth can be made";
  }
  ASSERT_EQ(std::system(make.c_str()), 0);
  const Trace trace = run(path_, hashed_input("input", {3, 224, 224}));
  expect_agreement("deit_tiny.npz", trace, trace.logits);
}

TEST_F(AgreementWithPyTorch, DistilledDeit) {
  write_hashed_safetensors(path_, timm_shapes({.layers = 3}, true));
  const Trace trace = run(path_, hashed_input("input", {3, 32, 32}), {{{"heads", "4"}}, {}});
  EXPECT_EQ(trace.layout.prefix, 2);
  expect_agreement("distilled.npz", trace, trace.logits);
}

TEST_F(AgreementWithPyTorch, HuggingFaceVit) {
  write_hashed_safetensors(path_,
                           hugging_face_shapes({.width = 128, .layers = 4, .mlp_width = 512}));
  const Trace trace = run(path_, hashed_input("input", {3, 32, 32}));
  expect_agreement("hugging_face_vit.npz", trace, trace.logits);
}

TEST_F(AgreementWithPyTorch, VitPytorch) {
  write_hashed_safetensors(path_,
                           vit_pytorch_shapes({.width = 48, .layers = 3, .mlp_width = 96}, 3 * 64));
  const Trace trace = run(path_, hashed_input("input", {3, 32, 32}));
  expect_agreement("vit_pytorch.npz", trace, trace.logits);
}

TEST_F(AgreementWithPyTorch, DaftInTheNamesOfAftPytorch) {
  write_hashed_safetensors(path_, aft_pytorch_vit_shapes({.layers = 3, .mlp_width = 128}, 48));
  const Trace trace = run(path_, hashed_input("input", {3, 32, 32}));
  EXPECT_EQ(trace.layout.prefix, 1);
  expect_agreement("aft_pytorch_vit.npz", trace, trace.logits);
}

TEST_F(AgreementWithPyTorch, DaftInTheNamesOfLabml) {
  write_hashed_safetensors(path_, labml_vit_shapes({.mlp_width = 128}),
                           masks(2, "blocks.", ".attn", local_mask(16, 5)));
  const Trace trace = run(path_, hashed_input("input", {3, 32, 32}));
  EXPECT_FALSE(trace.causal);
  expect_agreement("labml_vit.npz", trace, trace.logits);
}

TEST_F(AgreementWithPyTorch, AutoregressiveAftOfLabml) {
  write_hashed_safetensors(path_, labml_aft_shapes({.layers = 3}),
                           masks(3, "encoder.layers.", ".self_attn", local_mask(24, 6)));
  const Trace trace = run(path_, ids_of("labml_aft.npz"));
  EXPECT_TRUE(trace.causal);
  expect_agreement("labml_aft.npz", trace, trace.token_logits);
}

TEST_F(AgreementWithPyTorch, FastformerOfItsAuthors) {
  write_hashed_safetensors(path_, fastformer_shapes({.width = 48, .mlp_width = 96}));
  Text text = ids_of("fastformer.npz");
  const Trace trace = run(path_, text);
  EXPECT_FALSE(trace.causal);
  EXPECT_TRUE(trace.mechanism_trained);
  expect_agreement("fastformer.npz", trace, trace.logits);
  const Checkpoint expected = open_checkpoint(kAgreementData / "fastformer.npz");
  const auto expect_quantity = [&](const char* name, std::size_t layer, std::int64_t first) {
    const Tensor reference = expected.at(name).view().to_float();
    const Tensor& found = trace.layers[layer].quantities.at(name);
    for (std::int64_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found.data()[i], reference.data()[first + i], kAgreementTolerance)
          << name << ' ' << i;
    }
  };
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const auto first = static_cast<std::int64_t>(layer) * 4 * std::ssize(text.ids);
    expect_quantity("query_importance", layer, first);
    expect_quantity("key_importance", layer, first);
  }
  expect_quantity("pooling_importance", 1, 0);
  // Upstream pads every text. Masked padding must not change the result.
  text.ids.resize(23, 0);
  const Trace padded = run(path_, text);
  EXPECT_EQ(padded.tokens(), trace.tokens());
  EXPECT_TRUE(std::ranges::equal(padded.logits.values(), trace.logits.values()));
}

TEST_F(AgreementWithPyTorch, PostNormTransformerEncoder) {
  write_hashed_safetensors(path_, torch_encoder_shapes(128, 256, 4));
  const Trace trace = run(path_, hashed_input("input", {33, 128}));
  EXPECT_TRUE(trace.logits.empty());
  expect_agreement("torch_encoder.npz", trace, trace.layers.back().tokens);
}

}  // namespace
}  // namespace attnscope
