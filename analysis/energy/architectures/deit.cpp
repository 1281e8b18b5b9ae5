// DeiT (Touvron et al. 2021): patches of 16 x 16, a class token, learned positions.
#include "analysis/energy/architectures/extents.h"

namespace attnscope {

Network make_deit(const NamedNetwork& self, const NetworkExtents& extents) {
  constexpr std::int64_t kPatch = 16, kDefaultImage = 224;
  Network architecture = named(self);
  Stage stage;
  stage.heads = self.name == "deit-tiny" ? 3 : self.name == "deit-small" ? 6 : 12;
  stage.width = 64 * stage.heads;
  stage.layers = 12;
  stage.mlp_width = 4 * stage.width;

  StageEmbedding& embedding = stage.embedding;
  embedding.kind = StageEmbedding::Kind::convolution;
  embedding.class_tokens = extents.class_tokens >= 0 ? extents.class_tokens : 1;
  if (extents.tokens > 0) {
    embedding.outputs = extents.tokens - embedding.class_tokens;
  } else {
    const std::int64_t side = sides(extents, kDefaultImage, kPatch);
    embedding.outputs = side * side;
  }
  embedding.input_channels = channels_of(extents);
  embedding.kernel_taps = kPatch * kPatch;
  stage.tokens = embedding.outputs + embedding.class_tokens;
  embedding.positions = extents.positions == 0 ? 0 : stage.tokens;
  architecture.stages = {stage};
  architecture.head_outputs = extents.classes >= 0 ? extents.classes : 1000;
  architecture.head_copies = embedding.class_tokens == 2 ? 2 : 1;
  return architecture;
}

}  // namespace attnscope
