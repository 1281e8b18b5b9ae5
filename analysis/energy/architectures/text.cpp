// Text models: the Long Range Arena encoder of EcoFormer, Fastformer-LM, GPT-2.
#include "analysis/energy/architectures/extents.h"

namespace attnscope {

namespace {

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
  architecture.linear_biases = false;
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
