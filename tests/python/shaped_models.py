"""Small transformers that call attention as timm and Hugging Face's transformers do."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.functional import softmax as imported_softmax


class PatchAttention(nn.Module):
    """As timm's vision transformers attend: one linear layer for q, k and v, and either a fused
    kernel or products with a softmax between them."""

    def __init__(self, width, heads, fused, drop=0.0):
        super().__init__()
        self.num_heads, self.fused_attn = heads, fused
        self.scale = (width // heads) ** -0.5
        self.qkv = nn.Linear(width, 3 * width)
        self.q_norm, self.k_norm = nn.LayerNorm(width // heads), nn.LayerNorm(width // heads)
        self.attn_drop, self.proj_drop = nn.Dropout(drop), nn.Dropout(drop)
        self.proj = nn.Linear(width, width)

    def vectors(self, x):
        """q, k, v [batch, heads, tokens, d]."""
        parts = self.qkv(x).unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)
        return self.q_norm(parts[0]), self.k_norm(parts[1]), parts[2]

    def forward(self, x, attn_mask=None):
        q, k, v = self.vectors(x)
        if self.fused_attn:
            share = self.attn_drop.p if self.training else 0.0
            seen = F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask, dropout_p=share)
        else:
            scores = (q * self.scale) @ k.transpose(-2, -1)
            if attn_mask is not None:
                scores = scores + attn_mask
            seen = self.attn_drop(scores.softmax(dim=-1)) @ v
        return self.proj_drop(self.proj(seen.transpose(1, 2).flatten(2)))


class PatchBlock(nn.Module):
    def __init__(self, width, heads, fused, drop):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = PatchAttention(width, heads, fused, drop)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(),
                                 nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class PatchTransformer(nn.Module):
    def __init__(self, fused, width=12, heads=3, depth=3, classes=5, drop=0.0):
        super().__init__()
        self.blocks = nn.Sequential(*(PatchBlock(width, heads, fused, drop) for _ in range(depth)))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        # The softmax of the answers is not attention.
        return self.head(self.blocks(x)).softmax(-1)


def repeated(tensor, groups):
    """Keys or values of grouped queries, once for each query's head."""
    return tensor if groups == 1 else tensor.repeat_interleave(groups, dim=1)


def sdpa_attention(module, query, key, value, mask, scaling, dropout=0.0):
    key, value = (repeated(one, module.num_key_value_groups) for one in (key, value))
    is_causal = module.is_causal and mask is None and query.shape[2] > 1
    seen = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout,
                                          scale=scaling, is_causal=is_causal)
    return seen.transpose(1, 2).contiguous(), None


def eager_attention(module, query, key, value, mask, scaling, dropout=0.0):
    key, value = (repeated(one, module.num_key_value_groups) for one in (key, value))
    scores = torch.matmul(query, key.transpose(2, 3)) * scaling
    if mask is not None:
        scores = scores + mask[..., :key.shape[-2]]
    weights = nn.functional.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)
    weights = nn.functional.dropout(weights, p=dropout, training=module.training)
    return torch.matmul(weights, value).transpose(1, 2).contiguous(), weights


def softmax_module_attention(module, query, key, value, mask, scaling, dropout=0.0):
    """As older encoders of transformers attend: a module nn.Softmax made for the call."""
    key, value = (repeated(one, module.num_key_value_groups) for one in (key, value))
    scores = torch.matmul(query, key.transpose(-1, -2)) * scaling
    weights = nn.Softmax(dim=-1)(scores if mask is None else scores + mask)
    return torch.matmul(weights, value).permute(0, 2, 1, 3).contiguous(), weights


def imported_attention(module, query, key, value, mask, scaling, dropout=0.0):
    """Attention by a function that this file imported by its name."""
    key, value = (repeated(one, module.num_key_value_groups) for one in (key, value))
    scores = query @ key.transpose(-1, -2) * scaling
    weights = imported_softmax(scores if mask is None else scores + mask, dim=-1)
    return (weights @ value).transpose(1, 2).contiguous(), weights


ATTENTIONS = {"sdpa": sdpa_attention, "eager": eager_attention,
              "module": softmax_module_attention, "imported": imported_attention}


class TextAttention(nn.Module):
    """As Hugging Face's decoders attend: a linear layer each for q, k and v, grouped queries, and
    the function that the setting `attention` names."""

    def __init__(self, attention, width, heads, key_heads, is_causal=True, dropout=0.0):
        super().__init__()
        self.attention, self.is_causal, self.dropout = attention, is_causal, dropout
        self.head_dim = width // heads
        self.num_key_value_groups = heads // key_heads
        self.scaling = self.head_dim ** -0.5
        self.q_proj = nn.Linear(width, heads * self.head_dim)
        self.k_proj = nn.Linear(width, key_heads * self.head_dim)
        self.v_proj = nn.Linear(width, key_heads * self.head_dim)
        self.o_proj = nn.Linear(heads * self.head_dim, width)

    def vectors(self, x):
        shape = (*x.shape[:-1], -1, self.head_dim)
        return tuple(one(x).view(shape).transpose(1, 2)
                     for one in (self.q_proj, self.k_proj, self.v_proj))

    def forward(self, x, mask=None):
        call = ATTENTIONS[self.attention]
        seen, weights = call(self, *self.vectors(x), mask, self.scaling,
                             self.dropout if self.training else 0.0)
        return self.o_proj(seen.reshape(*x.shape[:-1], -1)), weights


class TextLayer(nn.Module):
    def __init__(self, *settings, width, **named):
        super().__init__()
        self.input_layernorm = nn.LayerNorm(width)
        self.self_attn = TextAttention(*settings, width=width, **named)
        self.mlp = nn.Sequential(nn.Linear(width, width), nn.SiLU())

    def forward(self, x, mask):
        x = x + self.self_attn(self.input_layernorm(x), mask)[0]
        return x + self.mlp(x)


class TextTransformer(nn.Module):
    def __init__(self, attention, width=16, heads=4, key_heads=2, depth=3, tokens=11, **named):
        super().__init__()
        self.attention = attention
        self.embed_tokens = nn.Embedding(tokens, width)
        self.layers = nn.ModuleList(TextLayer(attention, width=width, heads=heads,
                                              key_heads=key_heads, **named) for _ in range(depth))
        self.lm_head = nn.Linear(width, tokens)

    def forward(self, ids, padding=None):
        count = ids.shape[-1]
        mask = None
        if self.attention != "sdpa" or padding is not None:  # the least number, not −inf
            least = torch.finfo(torch.float32).min
            mask = torch.full((count, count), least).triu(1)[None, None]
            if padding is not None:
                mask = mask.masked_fill(padding[:, None, None, :], least)
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x, mask)
        return self.lm_head(x)
