// Twins-SVT (Chu et al. 2021). EcoFormer counts it without windows and spatial reduction.
#include "analysis/energy/architectures/extents.h"

namespace attnscope {

Network make_twins_svt(const NamedNetwork& self, const NetworkExtents& extents) {
  constexpr std::size_t kStages = 4;
  constexpr std::int64_t depths[kStages] = {2, 2, 10, 4}, reductions[kStages] = {8, 4, 2, 1};
  Network architecture = named(self);
  const std::vector<std::int64_t> tokens = pyramid_tokens(extents);
  std::int64_t channels = channels_of(extents);
  for (std::size_t i = 0; i < kStages; ++i) {
    Stage stage;
    stage.tokens = tokens[i];
    stage.heads = std::int64_t{2} << i;
    stage.width = 32 * stage.heads;
    stage.layers = depths[i];
    stage.mlp_width = 4 * stage.width;
    stage.position_convolution_taps = 9;
    stage.embedding = {.kind = StageEmbedding::Kind::convolution,
                       .outputs = tokens[i],
                       .input_channels = channels,
                       .kernel_taps = i == 0 ? 16 : 4,
                       .norm = true};
    stage.softmax_only = i + 1 == kStages;
    stage.reduction = reductions[i];
    stage.reduction_norm = true;
    stage.window_tokens = i + 1 == kStages ? 0 : 49;
    channels = stage.width;
    architecture.stages.push_back(stage);
  }
  architecture.native_attention = true;
  architecture.head_outputs = extents.classes >= 0 ? extents.classes : 1000;
  return architecture;
}

}  // namespace attnscope
