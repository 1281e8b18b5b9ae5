"""A vision transformer of DeiT-Tiny's shape in PyTorch, whose tensors have timm's names. Its weights are
random, and large enough for maps that differ from token to token."""

import torch
from torch import nn

WIDTH, LAYERS, HEADS, PATCH, TOKENS = 192, 12, 3, 16, 197


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5).softmax(-1)
        return self.proj((weights @ v).transpose(1, 2).flatten(2))


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return self.fc2(nn.functional.gelu(self.fc1(x)))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, 1e-6), nn.LayerNorm(WIDTH, 1e-6)
        self.attn, self.mlp = Attention(), Mlp()

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class PatchEmbed(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Conv2d(3, WIDTH, PATCH, PATCH)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class DeiT(nn.Module):
    def __init__(self, seed=0):
        super().__init__()
        self.cls_token = nn.Parameter(torch.zeros(1, 1, WIDTH))
        self.pos_embed = nn.Parameter(torch.zeros(1, TOKENS, WIDTH))
        self.patch_embed = PatchEmbed()
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm, self.head = nn.LayerNorm(WIDTH, 1e-6), nn.Linear(WIDTH, 1000)
        torch.manual_seed(seed)
        for name, parameter in self.named_parameters():
            if "norm" not in name:
                nn.init.normal_(parameter, std=0.1)

    def forward(self, x):
        """Logits [batch, 1000] of pictures [batch, 3, 224, 224], normalised as ImageNet's."""
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), self.patch_embed(x)], 1) + self.pos_embed
        return self.head(self.norm(self.blocks(x))[:, 0])
