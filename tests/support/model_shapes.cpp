#include "tests/support/model_shapes.h"

#include <algorithm>
#include <array>

namespace attnscope {

namespace {

void add_linear(NamedShapes& shapes, const std::string& name, std::int64_t out, std::int64_t in) {
  shapes.push_back({name + ".weight", {out, in}});
  shapes.push_back({name + ".bias", {out}});
}

void add_norm(NamedShapes& shapes, const std::string& name, std::int64_t width) {
  shapes.push_back({name + ".weight", {width}});
  shapes.push_back({name + ".bias", {width}});
}

void add_convolution(NamedShapes& shapes, const std::string& name, const VitExtents& e) {
  shapes.push_back({name + ".weight", {e.width, e.channels, e.patch, e.patch}});
  shapes.push_back({name + ".bias", {e.width}});
}

}  // namespace

NamedShapes timm_shapes(const VitExtents& e, bool distilled) {
  NamedShapes shapes = {{"cls_token", {1, 1, e.width}}};
  if (distilled) shapes.push_back({"dist_token", {1, 1, e.width}});
  shapes.push_back({"pos_embed", {1, e.patches() + 1 + distilled, e.width}});
  add_convolution(shapes, "patch_embed.proj", e);
  for (std::int64_t i = 0; i < e.layers; ++i) {
    const std::string block = "blocks." + std::to_string(i) + ".";
    add_norm(shapes, block + "norm1", e.width);
    add_linear(shapes, block + "attn.qkv", 3 * e.width, e.width);
    add_linear(shapes, block + "attn.proj", e.width, e.width);
    add_norm(shapes, block + "norm2", e.width);
    add_linear(shapes, block + "mlp.fc1", e.mlp_width, e.width);
    add_linear(shapes, block + "mlp.fc2", e.width, e.mlp_width);
  }
  add_norm(shapes, "norm", e.width);
  add_linear(shapes, "head", e.classes, e.width);
  if (distilled) add_linear(shapes, "head_dist", e.classes, e.width);
  return shapes;
}

NamedShapes hugging_face_shapes(const VitExtents& e, bool deit) {
  const std::string root = deit ? "deit." : "vit.";
  NamedShapes shapes = {{root + "embeddings.cls_token", {1, 1, e.width}}};
  if (deit) shapes.push_back({root + "embeddings.distillation_token", {1, 1, e.width}});
  shapes.push_back({root + "embeddings.position_embeddings", {1, e.patches() + 1 + deit, e.width}});
  add_convolution(shapes, root + "embeddings.patch_embeddings.projection", e);
  for (std::int64_t i = 0; i < e.layers; ++i) {
    const std::string layer = root + "encoder.layer." + std::to_string(i) + ".";
    for (const char* part : {"query", "key", "value"}) {
      add_linear(shapes, layer + "attention.attention." + part, e.width, e.width);
    }
    add_linear(shapes, layer + "attention.output.dense", e.width, e.width);
    add_linear(shapes, layer + "intermediate.dense", e.mlp_width, e.width);
    add_linear(shapes, layer + "output.dense", e.width, e.mlp_width);
    add_norm(shapes, layer + "layernorm_before", e.width);
    add_norm(shapes, layer + "layernorm_after", e.width);
  }
  add_norm(shapes, root + "layernorm", e.width);
  add_linear(shapes, deit ? "cls_classifier" : "classifier", e.classes, e.width);
  if (deit) add_linear(shapes, "distillation_classifier", e.classes, e.width);
  return shapes;
}

NamedShapes torchvision_shapes(const VitExtents& e) {
  NamedShapes shapes = {{"class_token", {1, 1, e.width}}};
  add_convolution(shapes, "conv_proj", e);
  shapes.push_back({"encoder.pos_embedding", {1, e.patches() + 1, e.width}});
  for (std::int64_t i = 0; i < e.layers; ++i) {
    const std::string layer = "encoder.layers.encoder_layer_" + std::to_string(i) + ".";
    add_norm(shapes, layer + "ln_1", e.width);
    shapes.push_back({layer + "self_attention.in_proj_weight", {3 * e.width, e.width}});
    shapes.push_back({layer + "self_attention.in_proj_bias", {3 * e.width}});
    add_linear(shapes, layer + "self_attention.out_proj", e.width, e.width);
    add_norm(shapes, layer + "ln_2", e.width);
    add_linear(shapes, layer + "mlp.0", e.mlp_width, e.width);
    add_linear(shapes, layer + "mlp.3", e.width, e.mlp_width);
  }
  add_norm(shapes, "encoder.ln", e.width);
  add_linear(shapes, "heads.head", e.classes, e.width);
  return shapes;
}

NamedShapes vit_pytorch_shapes(const VitExtents& e, std::int64_t inner) {
  const std::int64_t numbers = e.channels * e.patch * e.patch;
  NamedShapes shapes = {{"pos_embedding", {1, e.patches() + 1, e.width}},
                        {"cls_token", {1, 1, e.width}}};
  add_norm(shapes, "to_patch_embedding.1", numbers);
  add_linear(shapes, "to_patch_embedding.2", e.width, numbers);
  add_norm(shapes, "to_patch_embedding.3", e.width);
  add_norm(shapes, "transformer.norm", e.width);
  for (std::int64_t i = 0; i < e.layers; ++i) {
    const std::string layer = "transformer.layers." + std::to_string(i) + ".";
    add_norm(shapes, layer + "0.norm", e.width);
    shapes.push_back({layer + "0.to_qkv.weight", {3 * inner, e.width}});
    add_linear(shapes, layer + "0.to_out.0", e.width, inner);
    add_norm(shapes, layer + "1.net.0", e.width);
    add_linear(shapes, layer + "1.net.1", e.mlp_width, e.width);
    add_linear(shapes, layer + "1.net.4", e.width, e.mlp_width);
  }
  add_linear(shapes, "mlp_head", e.classes, e.width);
  return shapes;
}

NamedShapes vit_pytorch_2021_shapes(const VitExtents& e, std::int64_t inner) {
  NamedShapes shapes = {{"pos_embedding", {1, e.patches() + 1, e.width}},
                        {"cls_token", {1, 1, e.width}}};
  add_linear(shapes, "to_patch_embedding.1", e.width, e.channels * e.patch * e.patch);
  for (std::int64_t i = 0; i < e.layers; ++i) {
    const std::string layer = "transformer.layers." + std::to_string(i) + ".";
    add_norm(shapes, layer + "0.norm", e.width);
    shapes.push_back({layer + "0.fn.to_qkv.weight", {3 * inner, e.width}});
    add_linear(shapes, layer + "0.fn.to_out.0", e.width, inner);
    add_norm(shapes, layer + "1.norm", e.width);
    add_linear(shapes, layer + "1.fn.net.0", e.mlp_width, e.width);
    add_linear(shapes, layer + "1.fn.net.3", e.width, e.mlp_width);
  }
  add_norm(shapes, "mlp_head.0", e.width);
  add_linear(shapes, "mlp_head.1", e.classes, e.width);
  return shapes;
}

NamedShapes torch_encoder_shapes(std::int64_t width, std::int64_t mlp_width, std::int64_t layers) {
  NamedShapes shapes;
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string layer = "encoder.layers." + std::to_string(i) + ".";
    shapes.push_back({layer + "self_attn.in_proj_weight", {3 * width, width}});
    shapes.push_back({layer + "self_attn.in_proj_bias", {3 * width}});
    add_linear(shapes, layer + "self_attn.out_proj", width, width);
    add_linear(shapes, layer + "linear1", mlp_width, width);
    add_linear(shapes, layer + "linear2", width, mlp_width);
    add_norm(shapes, layer + "norm1", width);
    add_norm(shapes, layer + "norm2", width);
  }
  return shapes;
}

namespace {

/// `shapes` with DAFT under these names in place of timm's qkv and proj.
NamedShapes with_daft(const NamedShapes& shapes, const VitExtents& e, std::int64_t inner,
                      const std::array<const char*, 5>& names, std::int64_t tokens) {
  NamedShapes result;
  for (const auto& [name, shape] : shapes) {
    const std::size_t attention = name.find("attn.");
    if (attention == std::string::npos) {
      result.push_back({name, shape});
    } else if (name.ends_with("qkv.weight")) {
      const std::string prefix = name.substr(0, attention + 5);
      for (std::size_t i = 0; i < 3; ++i) add_linear(result, prefix + names[i], inner, e.width);
      add_linear(result, prefix + names[3], e.width, inner);
      result.push_back({prefix + names[4], {tokens, tokens}});
    }
  }
  return result;
}

}  // namespace

NamedShapes aft_pytorch_vit_shapes(const VitExtents& e, std::int64_t inner) {
  return with_daft(timm_shapes(e), e, inner, {"to_q", "to_k", "to_v", "project", "wbias"},
                   e.patches() + 1);
}

NamedShapes labml_vit_shapes(const VitExtents& e) {
  NamedShapes shapes = with_daft(timm_shapes(e), e, e.width,
                                 {"query", "key", "value", "output", "pos_bias"}, e.patches());
  std::erase_if(shapes, [](const auto& entry) {
    return entry.first == "cls_token" || entry.first == "pos_embed";
  });
  for (std::int64_t i = 0; i < e.layers; ++i) {
    shapes.push_back(
        {"blocks." + std::to_string(i) + ".attn.local_mask", {e.patches(), e.patches()}});
  }
  return shapes;
}

NamedShapes labml_aft_shapes(const TextExtents& e) {
  NamedShapes shapes = {{"src_embed.linear.weight", {e.vocabulary, e.width}},
                        {"src_embed.positional_encodings", {e.positions, 1, e.width}}};
  for (std::int64_t i = 0; i < e.layers; ++i) {
    const std::string layer = "encoder.layers." + std::to_string(i) + ".";
    for (const char* part : {"query", "key", "value", "output"}) {
      add_linear(shapes, layer + "self_attn." + part, e.width, e.width);
    }
    for (const char* part : {"pos_bias", "local_mask"}) {
      shapes.push_back({layer + "self_attn." + part, {e.context, e.context}});
    }
    add_linear(shapes, layer + "feed_forward.layer1", e.mlp_width, e.width);
    add_linear(shapes, layer + "feed_forward.layer2", e.width, e.mlp_width);
    add_norm(shapes, layer + "norm_self_attn", e.width);
    add_norm(shapes, layer + "norm_ff", e.width);
  }
  add_norm(shapes, "encoder.norm", e.width);
  add_linear(shapes, "generator.projection", e.vocabulary, e.width);
  return shapes;
}

NamedShapes fastformer_shapes(const TextExtents& e) {
  const std::string root = "fastformer_model.";
  NamedShapes shapes = {{"word_embedding.weight", {e.vocabulary, e.width}},
                        {root + "position_embeddings.weight", {e.context, e.width}}};
  add_norm(shapes, root + "LayerNorm", e.width);
  for (std::int64_t i = 0; i < e.layers; ++i) {
    const std::string layer = root + "encoders." + std::to_string(i) + ".";
    for (const char* part : {"query", "key", "transform"}) {
      add_linear(shapes, layer + "attention.self." + part, e.width, e.width);
    }
    for (const char* part : {"query_att", "key_att"}) {
      add_linear(shapes, layer + "attention.self." + part, e.heads, e.width);
    }
    add_linear(shapes, layer + "attention.output.dense", e.width, e.width);
    add_norm(shapes, layer + "attention.output.LayerNorm", e.width);
    add_linear(shapes, layer + "intermediate.dense", e.mlp_width, e.width);
    add_linear(shapes, layer + "output.dense", e.width, e.mlp_width);
    add_norm(shapes, layer + "output.LayerNorm", e.width);
  }
  add_linear(shapes, root + "poolers.0.att_fc1", e.width, e.width);
  add_linear(shapes, root + "poolers.0.att_fc2", 1, e.width);
  add_linear(shapes, "dense_linear", e.classes, e.width);
  return shapes;
}

Tensor local_mask(std::int64_t tokens, std::int64_t window) {
  Tensor mask({tokens, tokens});
  for (std::int64_t i = 0; i < tokens; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(0, i - window + 1); j <= i; ++j) {
      mask.matrix()(i, j) = 1;
    }
  }
  return mask;
}

NamedShapes prefixed(const std::string& prefix, NamedShapes shapes) {
  for (auto& [name, shape] : shapes) name = prefix + name;
  return shapes;
}

}  // namespace attnscope
