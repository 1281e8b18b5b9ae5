// Maps and outputs against PyTorch's, in double precision, on the same weights:
// tests/data/models/make_reference.py.
#include <cstdlib>
#include <gtest/gtest.h>

#include "core/checkpoint/checkpoint.h"
#include "core/model/model.h"
#include "tests/support/model_shapes.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

const std::filesystem::path kData = ATTNSCOPE_SOURCE_DIR "/tests/data/models";
constexpr float kTolerance = 1e-5F;

class AgreementWithPyTorch : public testing::Test {
 protected:
  static Trace run(const std::filesystem::path& file, Tensor input,
                   const ModelOptions& options = {}) {
    const auto model = load_model(file, options);
    Input shown;
    shown.content = std::move(input);
    TraceRequest request;
    request.tokens = true;
    return model->run(shown, model->spec().mechanism, request, {});
  }

  /// `output` [.] and the reference's rows of every map.
  static void expect_agreement(const char* reference, const Trace& trace, const Tensor& output) {
    const Checkpoint expected = open_checkpoint(kData / reference);
    const Tensor expected_output = expected.at("output").view().to_float();
    ASSERT_EQ(output.size(), expected_output.size());
    for (std::int64_t i = 0; i < output.size(); ++i) {
      ASSERT_NEAR(output.data()[i], expected_output.data()[i], kTolerance) << i;
    }
    const Tensor rows = expected.at("map_rows").view().to_float();  // [L, H, rows, N]
    const std::vector<std::int64_t> which = expected.at("rows").view().to_int64();
    ASSERT_EQ(rows.extent(0), static_cast<std::int64_t>(trace.layers.size()));
    const float* value = rows.data();
    for (const LayerTrace& layer : trace.layers) {
      ASSERT_EQ(layer.implied_map.extent(0), rows.extent(1));
      ASSERT_EQ(layer.implied_map.extent(2), rows.extent(3));
      for (std::int64_t head = 0; head < rows.extent(1); ++head) {
        for (const std::int64_t row : which) {
          for (std::int64_t key = 0; key < rows.extent(3); ++key) {
            ASSERT_NEAR(layer.implied_map.slice(head)(row, key), *value++, kTolerance)
                << "head " << head << ", " << row << ", " << key;
          }
        }
      }
    }
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
  const std::string make = "/usr/bin/python3 -B '" + (kData / "make_reference.py").string() +
                           "' '" + path_.string() + "' 2>/dev/null";
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

TEST_F(AgreementWithPyTorch, PostNormTransformerEncoder) {
  write_hashed_safetensors(path_, torch_encoder_shapes(128, 256, 4));
  const Trace trace = run(path_, hashed_input("input", {33, 128}));
  EXPECT_TRUE(trace.logits.empty());
  expect_agreement("torch_encoder.npz", trace, trace.layers.back().tokens);
}

}  // namespace
}  // namespace attnscope
