#include "tests/support/pyramid_shapes.h"

#include <regex>

namespace attnscope {

namespace {

void add(NamedShapes& shapes, const std::string& name, const Shape& weight) {
  shapes.push_back({name + ".weight", weight});
  shapes.push_back({name + ".bias", {weight[0]}});
}

/// Adds the tensors of spatially reduced keys and values.
void add_reduced(NamedShapes& shapes, const std::string& attention, const PyramidStage& stage,
                 bool linear) {
  const std::int64_t width = stage.width, side = linear ? 1 : stage.reduction;
  add(shapes, attention + "q", {width, width});
  add(shapes, attention + "kv", {2 * width, width});
  if (!linear && side == 1) return;
  add(shapes, attention + "sr", {width, width, side, side});
  add(shapes, attention + "norm", {width});
}

void add_hashed(NamedShapes& shapes, const std::string& attention, const PyramidStage& stage) {
  constexpr std::int64_t bits = 16, supports = 25;
  const std::string ksh = attention + "fast_attention.ksh.";
  add(shapes, attention + "to_qk", {stage.width, stage.width});
  add(shapes, attention + "to_v", {stage.width, stage.width});
  shapes.push_back({ksh + "A", {stage.heads, bits, supports}});
  shapes.push_back({ksh + "mvec", {1, stage.heads, 1, supports}});
  shapes.push_back({ksh + "anchor", {1, stage.heads, supports, stage.width / stage.heads}});
}

void add_mlp(NamedShapes& shapes, const std::string& block, const PyramidStage& stage) {
  add(shapes, block + "mlp.fc1", {stage.mlp_width, stage.width});
  add(shapes, block + "mlp.fc2", {stage.width, stage.mlp_width});
}

}  // namespace

NamedShapes pvt_v2_shapes(const std::vector<PyramidStage>& stages, std::int64_t classes,
                          PyramidKind kind) {
  NamedShapes shapes;
  std::int64_t channels = 3;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const PyramidStage& stage = stages[i];
    const std::string number = std::to_string(i + 1), embed = "patch_embed" + number;
    add(shapes, embed + ".proj", {stage.width, channels, stage.kernel, stage.kernel});
    add(shapes, embed + ".norm", {stage.width});
    for (std::int64_t k = 0; k < stage.layers; ++k) {
      const std::string block = "block" + number + "." + std::to_string(k) + ".";
      add(shapes, block + "norm1", {stage.width});
      if (kind != PyramidKind::hashed) {
        add_reduced(shapes, block + "attn.", stage, kind == PyramidKind::linear);
      } else if (i + 1 < stages.size()) {
        add_hashed(shapes, block + "attn.", stage);
      } else {
        add(shapes, block + "attn.qkv", {3 * stage.width, stage.width});
      }
      add(shapes, block + "attn.proj", {stage.width, stage.width});
      add(shapes, block + "norm2", {stage.width});
      add_mlp(shapes, block, stage);
      add(shapes, block + "mlp.dwconv.dwconv", {stage.mlp_width, 1, 3, 3});
    }
    add(shapes, "norm" + number, {stage.width});
    channels = stage.width;
  }
  add(shapes, "head", {classes, channels});
  return shapes;
}

NamedShapes timm_pvt_v2_shapes(const std::vector<PyramidStage>& stages, std::int64_t classes) {
  NamedShapes shapes = pvt_v2_shapes(stages, classes);
  for (auto& [name, shape] : shapes) {
    for (std::size_t i = 1; i <= stages.size(); ++i) {
      const std::string old = std::to_string(i), stage = "stages." + std::to_string(i - 1) + ".";
      const std::string embed = i == 1 ? "patch_embed." : stage + "downsample.";
      name = std::regex_replace(name, std::regex("^patch_embed" + old + "\\."), embed);
      name = std::regex_replace(name, std::regex("^block" + old + "\\."), stage + "blocks.");
      name = std::regex_replace(name, std::regex("^norm" + old + "\\."), stage + "norm.");
    }
    name = std::regex_replace(name, std::regex("dwconv\\.dwconv"), "dwconv");
  }
  return shapes;
}

NamedShapes twins_shapes(const std::vector<PyramidStage>& stages, std::int64_t classes) {
  NamedShapes shapes;
  std::int64_t channels = 3;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const PyramidStage& stage = stages[i];
    const std::string number = std::to_string(i), embed = "patch_embeds." + number;
    add(shapes, embed + ".proj", {stage.width, channels, stage.kernel, stage.kernel});
    add(shapes, embed + ".norm", {stage.width});
    for (std::int64_t k = 0; k < stage.layers; ++k) {
      const std::string block = "blocks." + number + "." + std::to_string(k) + ".";
      add(shapes, block + "norm1", {stage.width});
      if (k % 2 == 0) {
        add(shapes, block + "attn.qkv", {3 * stage.width, stage.width});
      } else {
        add_reduced(shapes, block + "attn.", stage, false);
      }
      add(shapes, block + "attn.proj", {stage.width, stage.width});
      add(shapes, block + "norm2", {stage.width});
      add_mlp(shapes, block, stage);
    }
    add(shapes, "pos_block." + number + ".proj.0", {stage.width, 1, 3, 3});
    channels = stage.width;
  }
  add(shapes, "norm", {channels});
  add(shapes, "head", {classes, channels});
  return shapes;
}

std::vector<PyramidStage> pvt_v2_b0_stages() {
  return {{.width = 32,
           .layers = 2,
           .heads = 1,
           .mlp_width = 256,
           .kernel = 7,
           .stride = 4,
           .reduction = 8},
          {.width = 64, .layers = 2, .heads = 2, .mlp_width = 512, .reduction = 4},
          {.width = 160, .layers = 2, .heads = 5, .mlp_width = 640, .reduction = 2},
          {.width = 256, .layers = 2, .heads = 8, .mlp_width = 1024}};
}

}  // namespace attnscope
