// Checkpoints with missing, renamed or reshaped tensors are refused with an Error or run.
#include <algorithm>
#include <gtest/gtest.h>
#include <random>

#include "core/error.h"
#include "core/model/transformer/transformer.h"
#include "tests/support/model_shapes.h"
#include "tests/support/pyramid_shapes.h"

namespace attnscope {
namespace {

void mutilate(NamedShapes& shapes, std::mt19937& random) {
  const auto any = [&](std::size_t count) { return random() % count; };
  auto& [name, shape] = shapes[any(shapes.size())];
  constexpr std::int64_t extents[] = {0, 1, 2, 3, 63, 65, 192};
  switch (any(6)) {
    case 0:
      name += "x";
      break;
    case 1:
      name[any(name.size())] = '0';
      break;
    case 2:
      if (shape.empty()) break;
      shape[any(shape.size())] = extents[any(std::size(extents))];
      break;
    case 3:
      if (shape.empty()) break;
      shape.pop_back();
      break;
    case 4:
      shape.insert(shape.begin(), extents[any(std::size(extents))]);
      break;
    default:
      std::reverse(shape.begin(), shape.end());
  }
}

std::unique_ptr<const Model> mutilated(const Checkpoint& checkpoint, Architecture architecture) {
  TransformerWeights weights = read_transformer_weights(checkpoint, architecture);
  return std::make_unique<Transformer>("file", "model", std::move(architecture),
                                       std::move(weights));
}

std::vector<PyramidStage> least_stages() {
  return {{.width = 32,
           .layers = 2,
           .heads = 1,
           .mlp_width = 64,
           .kernel = 7,
           .stride = 4,
           .reduction = 2},
          {.width = 64, .layers = 2, .heads = 2, .mlp_width = 64}};
}

class MutilatedModel : public testing::TestWithParam<int> {};

TEST_P(MutilatedModel, IsRefusedOrRuns) {
  const VitExtents e = {.width = 64, .layers = 2, .image = 16, .patch = 8, .mlp_width = 64};
  const NamedShapes families[] = {timm_shapes(e, true),
                                  hugging_face_shapes(e, true),
                                  torchvision_shapes(e),
                                  vit_pytorch_shapes(e, 128),
                                  vit_pytorch_2021_shapes(e, 64),
                                  torch_encoder_shapes(64, 64, 2),
                                  pvt_v2_shapes(least_stages(), 10),
                                  pvt_v2_shapes(least_stages(), 10, PyramidKind::hashed),
                                  twins_shapes(least_stages(), 10)};
  const bool pyramid = GetParam() >= 6;
  const ModelOptions options =
      pyramid ? ModelOptions{{{"image_height", "56"}, {"image_width", "56"}}, {}} : ModelOptions{};
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  int refused = 0;
  for (int i = 0; i < 150; ++i) {
    NamedShapes shapes = families[static_cast<std::size_t>(GetParam())];
    const int times = 1 + static_cast<int>(random() % 2);
    for (int k = 0; k < times; ++k) mutilate(shapes, random);
    try {
      const Checkpoint checkpoint = hashed_checkpoint(shapes);
      Architecture architecture = recognise_architecture(checkpoint, options);
      if (architecture.spec.tokens() > 600) continue;  // valid, but slow
      const auto model = mutilated(checkpoint, std::move(architecture));
      const ModelSpec& spec = model->spec();
      Input input;
      input.content = hashed_input(
          "input", spec.input.patch_height
                       ? Shape{spec.input.channels, spec.input.image_height, spec.input.image_width}
                       : Shape{4, spec.width});
      (void)model->run(input, spec.mechanism, {}, {});
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::io);
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Families, MutilatedModel, testing::Range(0, 9));

}  // namespace
}  // namespace attnscope
