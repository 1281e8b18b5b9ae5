// Networks known by name, whose operations are counted without a file of weights.
#include "analysis/energy/architecture.h"
#include "core/error.h"

namespace attnscope {

namespace {

/// A network with the name, title and source of `self`.
Network named(const NamedNetwork& self) {
  Network architecture;
  architecture.name = self.name;
  architecture.title = self.title;
  architecture.source = self.source;
  return architecture;
}

/// Number of patches per side of a square image. Throws Error(usage) unless `patch` divides it.
std::int64_t sides(const NetworkExtents& extents, std::int64_t default_image, std::int64_t patch) {
  const std::int64_t image = extents.image > 0 ? extents.image : default_image;
  if (image % patch != 0) {
    throw Error(ErrorKind::usage, "patches do not cover the image")
        .about("image")
        .expected("a multiple of " + std::to_string(patch) + " pixels")
        .found(std::to_string(image));
  }
  return image / patch;
}

/// Channels of the image: 3 by default.
std::int64_t channels_of(const NetworkExtents& extents) {
  return extents.channels > 0 ? extents.channels : 3;
}

/// Number of tokens in the four stages of a pyramid whose first stage has patches of 4 x 4. Throws
/// Error(usage) unless 64 divides the number in the first stage.
std::vector<std::int64_t> pyramid_tokens(const NetworkExtents& extents) {
  constexpr std::int64_t kDefaultImage = 224, kCoarsest = 32, kShrink = 64;
  std::int64_t tokens = extents.tokens;
  if (tokens <= 0) {
    const std::int64_t side = sides(extents, kDefaultImage, kCoarsest) * (kCoarsest / 4);
    tokens = side * side;
  }
  if (tokens % kShrink != 0) {
    throw Error(ErrorKind::usage,
                "the number of tokens is not divisible by the strides of the later stages")
        .about("tokens")
        .expected("a multiple of 64")
        .found(std::to_string(tokens));
  }
  return {tokens, tokens / 4, tokens / 16, tokens / 64};
}

Stage text_stage(std::int64_t width, std::int64_t heads, std::int64_t layers,
                 std::int64_t vocabulary, std::int64_t positions, const NetworkExtents& extents) {
  Stage stage;
  stage.tokens = extents.tokens > 0 ? extents.tokens : positions;
  stage.width = width;
  stage.heads = heads;
  stage.layers = layers;
  stage.mlp_width = 4 * width;
  stage.embedding.kind = StageEmbedding::Kind::table;
  stage.embedding.vocabulary = extents.classes > 0 ? extents.classes : vocabulary;
  stage.embedding.positions = extents.positions == 0 ? 0 : std::max(positions, stage.tokens);
  return stage;
}

}  // namespace

/// DeiT (Touvron et al. 2021): patches of 16 x 16, a class token, learned positions.
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

/// PVTv2 (Wang et al. 2022). EcoFormer counts its attention without spatial reduction.
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

/// Twins-SVT (Chu et al. 2021). EcoFormer counts it without windows and spatial reduction.
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

/// The Long Range Arena encoder of EcoFormer.
Network make_lra_text(const NamedNetwork& self, const NetworkExtents& extents) {
  Network architecture = named(self);
  Stage stage = text_stage(64, 2, 2, 512, 4096, extents);
  stage.mlp_width = 128;
  stage.embedding.vocabulary = 512;
  architecture.stages = {stage};
  architecture.head_outputs = std::max<std::int64_t>(extents.classes, 0);
  architecture.note = "without a classifier, as EcoFormer's Table 3 counts";
  return architecture;
}

Network make_fastformer_lm(const NamedNetwork& self, const NetworkExtents& extents) {
  Network architecture = named(self);
  Stage stage = text_stage(128, 4, 6, 32100, 2048, extents);
  // Windows of 4·2^i tokens; the last layer attends to all tokens.
  for (std::int64_t layer = 0; layer < stage.layers; ++layer) {
    stage.windows.push_back(layer + 1 == stage.layers ? 0 : std::int64_t{4} << layer);
  }
  architecture.mechanism = {"additive", {{"causal", true}}};
  architecture.linear_biases = architecture.output_biases = false;
  architecture.query_key_value_biases = false;
  architecture.head_outputs = stage.embedding.vocabulary;
  architecture.head_tokens = stage.tokens;
  architecture.tied_head = true;
  architecture.stages = {stage};
  return architecture;
}

Network make_gpt2(const NamedNetwork& self, const NetworkExtents& extents) {
  struct Size {
    std::string_view name;
    std::int64_t layers, heads;
  };
  constexpr Size sizes[] = {
      {"gpt2", 12, 12}, {"gpt2-medium", 24, 16}, {"gpt2-large", 36, 20}, {"gpt2-xl", 48, 25}};
  Network architecture = named(self);
  for (const Size& size : sizes) {
    if (size.name != self.name) continue;
    architecture.stages = {
        text_stage(64 * size.heads, size.heads, size.layers, 50257, 1024, extents)};
  }
  const Stage& stage = architecture.stages.front();
  architecture.causal = true;
  architecture.activation = Activation::gelu_tanh;
  architecture.head_outputs = stage.embedding.vocabulary;
  architecture.head_tokens = stage.tokens;
  architecture.tied_head = true;
  architecture.head_bias = false;
  return architecture;
}

}  // namespace attnscope
