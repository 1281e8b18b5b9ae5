// The lists of built-in families and of roles.
#include "core/architecture/families/families.h"

#include <array>

#include "core/architecture/architecture.h"

namespace attnscope {

std::span<const ArchitectureFamily> architecture_families() {
  static const std::array list = {
      ArchitectureFamily{"Attnscope model", own_family},
      ArchitectureFamily{"timm ViT", timm_family},
      ArchitectureFamily{"DINOv2", dinov2_family},
      ArchitectureFamily{"Hugging Face ViT", hugging_face_vit_family},
      ArchitectureFamily{"Hugging Face DINOv2", hugging_face_dinov2_family},
      ArchitectureFamily{"Hugging Face DeiT", hugging_face_deit_family},
      ArchitectureFamily{"torchvision ViT", torchvision_family},
      ArchitectureFamily{"PyTorch TransformerEncoder", torch_encoder_family},
      ArchitectureFamily{"vit-pytorch ViT", vit_pytorch_family},
      ArchitectureFamily{"vit-pytorch ViT (2021)", vit_pytorch_2021_family},
      ArchitectureFamily{"vit-pytorch ViT (early 2021)", vit_pytorch_early_2021_family},
      ArchitectureFamily{"vit-pytorch ViT (2020)", vit_pytorch_2020_family},
      ArchitectureFamily{"vit-pytorch ViT (autumn 2020)", vit_pytorch_autumn_2020_family},
      ArchitectureFamily{"vit-pytorch ViT (October 2020)", vit_pytorch_october_2020_family},
      ArchitectureFamily{"vit-pytorch ViT (first October 2020)", vit_pytorch_first_2020_family},
      ArchitectureFamily{"timm ViT with DAFT (aft-pytorch)", aft_pytorch_vit_family},
      ArchitectureFamily{"timm ViT with DAFT (labml)", labml_vit_family},
      ArchitectureFamily{"labml AFT", labml_aft_family},
      ArchitectureFamily{"Fastformer", fastformer_family},
      ArchitectureFamily{"Fastformer-LM", fastformer_lm_family},
      ArchitectureFamily{"Hugging Face GPT-2", hugging_face_gpt2_family},
      ArchitectureFamily{"minGPT or nanoGPT", min_gpt_family},
      ArchitectureFamily{"minGPT (2020)", min_gpt_2020_family},
      ArchitectureFamily{"PVTv2", pvt_v2_family},
      ArchitectureFamily{"timm PVTv2", timm_pvt_v2_family},
      ArchitectureFamily{"Twins", twins_family},
  };
  return list;
}

std::span<const TensorRole> tensor_roles() {
  static constexpr TensorRole list[] = {
      {"patch", true, "patch embedding: convolution [D, C, ph, pw] or linear [D, C·ph·pw]"},
      {"patch_norm_before", true, "LayerNorm of flattened patches [C·ph·pw]"},
      {"patch_norm_after", true, "LayerNorm of embedded patches [D]"},
      {"class_token", false, "[D]"},
      {"distillation_token", false, "second prefix token [D]"},
      {"mask_token", false, "a token that only training puts in the place of others [D]"},
      {"register_tokens", false, "further prefix tokens, before the patches [R, D]"},
      {"positions", false, "learned position embeddings [tokens, D]"},
      {"embedding_norm", true, "LayerNorm before the first block [D]"},
      {"token_embedding", true, "model of texts: of each token [vocabulary, D]"},
      {"stage.patch", true, "pyramid: embedding of each stage [D, C, k, k]"},
      {"stage.patch_norm", true, "pyramid: LayerNorm after it [D]"},
      {"stage.positions", true, "pyramid: depthwise 3×3 added after the first block [D, 1, 3, 3]"},
      {"stage.norm", true, "pyramid: LayerNorm after a stage's last block [D]"},
      {"layer.norm1", true, "LayerNorm of the attention part [D]"},
      {"layer.qkv", true, "queries, keys and values in one weight [3·H·d, D]"},
      {"layer.query", true, "[H·d, D]"},
      {"layer.key", true, "[H·d, D]"},
      {"layer.value", true, "[H·d, D]"},
      {"layer.query_norm", true, "norm of each head's queries [d]"},
      {"layer.key_norm", true, "norm of each head's keys [d]"},
      {"layer.windowed_qkv", true, "pyramid: the same, of a block that attends within windows"},
      {"layer.key_value", true, "pyramid: keys and values in one weight [2·H·d, D]"},
      {"layer.query_key", true, "pyramid: queries that are also the keys [H·d, D]"},
      {"layer.reduction", true, "pyramid: strided convolution before keys and values [D, D, r, r]"},
      {"layer.reduction_norm", true, "pyramid: LayerNorm after it [D]"},
      {"layer.qkv_norm", true, "adder arithmetic: LayerNorms of queries, keys, values [3·H·d]"},
      {"layer.attention_norm", true, "adder arithmetic: LayerNorm of the heads' output [H·d]"},
      {"layer.heads_norm", true, "norm of the heads' output [H·d]"},
      {"layer.mechanism", false, "a learned tensor of the mechanism itself: layer.mechanism.ksh.A"},
      {"layer.mask", false, "language model: a stored mask, which is not needed"},
      {"layer.query_importance", true, "text classifier: logits of its queries [H, H·d]"},
      {"layer.key_importance", true, "text classifier: logits of mean query ⊙ key [H, H·d]"},
      {"layer.transform", true, "text classifier: of mean key ⊙ value [H·d, H·d]"},
      {"layer.middle_norm", true, "Fastformer-LM: LayerNorm between its two attentions [D]"},
      {"layer.out", true, "projection of the heads' output [D, H·d]"},
      {"layer.out_norm", true, "adder arithmetic: LayerNorm after the projection [D]"},
      {"layer.scale1", false, "layer scale of the attention part [D]"},
      {"layer.norm2", true, "LayerNorm of the MLP [D]"},
      {"layer.mlp1", true, "[mlp_width, D]"},
      {"layer.mlp_gate", true, "gated MLP: its activation is multiplied with mlp1 [mlp_width, D]"},
      {"layer.mlp_gate_and_mlp1", true, "gated MLP: both in one weight [2·mlp_width, D]"},
      {"layer.mlp_convolution", true, "pyramid: depthwise 3×3 after mlp1 [mlp_width, 1, 3, 3]"},
      {"layer.mlp1_norm", true, "adder arithmetic: LayerNorm after mlp1 [mlp_width]"},
      {"layer.mlp2", true, "[D, mlp_width]"},
      {"layer.mlp2_norm", true, "adder arithmetic: LayerNorm after mlp2 [D]"},
      {"layer.scale2", false, "layer scale of the MLP [D]"},
      {"final_norm", true, "LayerNorm after the last block [D]"},
      {"head_norm", true, "LayerNorm of what the head reads [D]"},
      {"pooling1", true, "text classifier: hidden layer of its attention pooling [P, D]"},
      {"pooling2", true, "text classifier: each token's logit in it [1, P]"},
      {"head", true, "classifier [classes, D]; head.0, head.1, … for one of several layers"},
      {"distillation_head", true, "classifier of the second token [classes, D]"},
  };
  return list;
}

}  // namespace attnscope
