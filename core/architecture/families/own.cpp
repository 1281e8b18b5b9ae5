// Our own models: timm's names, everything else stated by the file, and the LayerNorms that scale
// the outputs of adder linear layers. DAFT's layers also under the names of the public ones:
// to_q, to_k, to_v, project, wbias (rish-16), query, key, value, output, pos_bias (labml). Hashed
// layers under EcoFormer's: to_qk for queries and keys, to_v, fast_attention.ksh.
#include "core/architecture/families/families.h"

namespace attnscope {

const std::string_view own_family = R"json({
  "name": "Attnscope model",
  "model": {},
  "tensors": {
    "patch": "patch_embed.proj?",
    "class_token": "cls_token?",
    "distillation_token": "dist_token?",
    "register_tokens": "reg_token?",
    "positions": "pos_embed?",
    "embedding_norm": "norm_pre?",
    "layer.norm1": "blocks.{layer}.norm1",
    "layer.qkv": "blocks.{layer}.attn.qkv?",
    "layer.query": ["blocks.{layer}.attn.to_q?", "blocks.{layer}.attn.to_qk?",
                    "blocks.{layer}.attn.query?"],
    "layer.key": ["blocks.{layer}.attn.to_k?", "blocks.{layer}.attn.to_qk?",
                  "blocks.{layer}.attn.key?"],
    "layer.value": ["blocks.{layer}.attn.to_v?", "blocks.{layer}.attn.value?"],
    "layer.query_norm": "blocks.{layer}.attn.q_norm?",
    "layer.key_norm": "blocks.{layer}.attn.k_norm?",
    "layer.qkv_norm": "blocks.{layer}.attn.qkv_norm?",
    "layer.attention_norm": "blocks.{layer}.attn.norm?",
    "layer.out": ["blocks.{layer}.attn.proj", "blocks.{layer}.attn.project",
                  "blocks.{layer}.attn.output"],
    "layer.out_norm": "blocks.{layer}.attn.proj_norm?",
    "layer.mechanism.pe0": "blocks.{layer}.attn.pe0?",
    "layer.mechanism.pe1": "blocks.{layer}.attn.pe1?",
    "layer.mechanism.w": ["blocks.{layer}.attn.w?", "blocks.{layer}.attn.wbias?",
                          "blocks.{layer}.attn.pos_bias?"],
    "layer.mechanism.local_mask": "blocks.{layer}.attn.local_mask?",
    "layer.mechanism.r": "blocks.{layer}.attn.r?",
    "layer.mechanism.gamma": "blocks.{layer}.attn.gamma?",
    "layer.mechanism.beta": "blocks.{layer}.attn.beta?",
    "layer.mechanism.E": "blocks.{layer}.attn.E?",
    "layer.mechanism.F": "blocks.{layer}.attn.F?",
    "layer.mechanism.R": "blocks.{layer}.attn.R?",
    "layer.mechanism.R1": "blocks.{layer}.attn.R1?",
    "layer.mechanism.R2": "blocks.{layer}.attn.R2?",
    "layer.mechanism.W1": "blocks.{layer}.attn.W1?",
    "layer.mechanism.b1": "blocks.{layer}.attn.b1?",
    "layer.mechanism.W2": "blocks.{layer}.attn.W2?",
    "layer.mechanism.b2": "blocks.{layer}.attn.b2?",
    "layer.mechanism.proj_l": "blocks.{layer}.attn.proj_l?",
    "layer.mechanism.proj_l_bias": "blocks.{layer}.attn.proj_l_bias?",
    "layer.mechanism.proj_w": "blocks.{layer}.attn.proj_w?",
    "layer.mechanism.proj_w_bias": "blocks.{layer}.attn.proj_w_bias?",
    "layer.mechanism.ksh.A": "blocks.{layer}.attn.fast_attention.ksh.A?",
    "layer.mechanism.ksh.mvec": "blocks.{layer}.attn.fast_attention.ksh.mvec?",
    "layer.mechanism.ksh.anchor": "blocks.{layer}.attn.fast_attention.ksh.anchor?",
    "layer.scale1": "blocks.{layer}.ls1.gamma?",
    "layer.norm2": "blocks.{layer}.norm2",
    "layer.mlp_gate": "blocks.{layer}.mlp.gate?",
    "layer.mlp1": "blocks.{layer}.mlp.fc1",
    "layer.mlp1_norm": "blocks.{layer}.mlp.fc1_norm?",
    "layer.mlp2": "blocks.{layer}.mlp.fc2",
    "layer.mlp2_norm": "blocks.{layer}.mlp.fc2_norm?",
    "layer.scale2": "blocks.{layer}.ls2.gamma?",
    "final_norm": "norm?",
    "head_norm": "fc_norm?",
    "head.0": "pre_logits.fc?",
    "head.1": "head?",
    "distillation_head": "head_dist?"
  }
})json";

}  // namespace attnscope
