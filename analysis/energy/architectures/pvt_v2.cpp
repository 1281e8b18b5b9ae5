// PVTv2 (Wang et al. 2022). EcoFormer counts its attention without spatial reduction.
#include "analysis/energy/architectures/extents.h"

namespace attnscope {

Network make_pvt_v2(const NamedNetwork& self, const NetworkExtents& extents) {
  constexpr std::int64_t kStages = 4;
  constexpr std::int64_t depths[][kStages] = {{2, 2, 2, 2},  {2, 2, 2, 2},  {3, 4, 6, 3},
                                              {3, 4, 18, 3}, {3, 8, 27, 3}, {3, 6, 40, 3}};
  constexpr std::int64_t heads[kStages] = {1, 2, 5, 8};
  constexpr std::int64_t reductions[kStages] = {8, 4, 2, 1};
  const auto size = static_cast<std::size_t>(self.name.back() - '0');
  const std::int64_t head_width = size == 0 ? 32 : 64;

  Network architecture = named(self);
  const std::vector<std::int64_t> tokens = pyramid_tokens(extents);
  std::int64_t channels = channels_of(extents);
  for (std::size_t i = 0; i < kStages; ++i) {
    Stage stage;
    stage.tokens = tokens[i];
    stage.heads = heads[i];
    stage.width = head_width * heads[i];
    stage.layers = depths[size][i];
    stage.mlp_width = (i < 2 && size < 5 ? 8 : 4) * stage.width;
    stage.mlp_convolution_taps = 9;
    stage.embedding = {.kind = StageEmbedding::Kind::convolution,
                       .outputs = tokens[i],
                       .input_channels = channels,
                       .kernel_taps = i == 0 ? 49 : 9,
                       .norm = true};
    stage.closing_norm = true;
    stage.softmax_only = i + 1 == kStages;
    stage.reduction = reductions[i];
    stage.reduction_norm = true;
    channels = stage.width;
    architecture.stages.push_back(stage);
  }
  architecture.native_attention = true;
  architecture.final_norm = false;
  architecture.head_outputs = extents.classes >= 0 ? extents.classes : 1000;
  return architecture;
}

}  // namespace attnscope
