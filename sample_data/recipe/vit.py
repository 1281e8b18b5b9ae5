"""A small vision transformer with timm's structure and tensor names, and the Attnscope model file
it is written to.
"""

import json

import h5py
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import fashion_mnist
from attention import HEAD_WIDTH, Attention
from daft import DaftConv, DaftFull
from ecoformer import BITS, SUPPORTS, HashAttention

WIDTH, LAYERS, HEADS, MLP_WIDTH, EPS = 48, 6, 3, 192, 1e-6

MECHANISMS = {
    "fashion-softmax": {"name": "softmax", "parameters": {}},
    "fashion-adder": {"name": "adder", "parameters": {"identity": False}},
    "fashion-adder-identity": {"name": "adder", "parameters": {"identity": True}},
    "fashion-daft-full": {"name": "daft-full", "parameters": {"factors": 32}},
    "fashion-daft-conv": {
        "name": "daft-conv",
        "parameters": {"kernel": 11, "conv_heads": 16, "dimensions": 2, "full_keys": False},
    },
    "fashion-hash": {
        "name": "hash",
        "parameters": {"codes": "learned", "bits": BITS, "supports": SUPPORTS, "mode": "paper"},
    },
}

# The others are made from one of these.
TRAINED_FROM_NOTHING = [name for name in MECHANISMS if name != "fashion-hash"]


class SelfAttention(nn.Module):
    def __init__(self, adder=False, identity=False):
        super().__init__()
        assert WIDTH == HEADS * HEAD_WIDTH
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.proj = nn.Linear(WIDTH, WIDTH)
        self.adder, self.identity = adder, identity

    def forward(self, x):
        qkv = self.qkv(x).unflatten(-1, (3, HEADS, HEAD_WIDTH))
        return self.proj(Attention.apply(qkv, self.adder, self.identity).flatten(-2))


def attention(mechanism, patch):
    name, parameters, side = mechanism["name"], mechanism["parameters"], 28 // patch
    if name == "softmax":
        return SelfAttention()
    if name == "adder":
        return SelfAttention(adder=True, identity=parameters["identity"])
    if name == "daft-full":
        return DaftFull(WIDTH, 1 + side * side, parameters["factors"])
    if name == "daft-conv":
        # The window is given for patch 2; on coarser patches it covers the same part of the image.
        window = parameters["kernel"] * 2 // patch // 2 * 2 + 1
        return DaftConv(WIDTH, parameters["conv_heads"], window)
    if name == "hash":
        return HashAttention(WIDTH, HEADS)
    raise ValueError(f"unknown mechanism {name}")


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(WIDTH, MLP_WIDTH)
        self.fc2 = nn.Linear(MLP_WIDTH, WIDTH)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


class Block(nn.Module):
    def __init__(self, mechanism, patch):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH, EPS)
        self.attn = attention(mechanism, patch)
        self.norm2 = nn.LayerNorm(WIDTH, EPS)
        self.mlp = Mlp()

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class PatchEmbedding(nn.Module):
    def __init__(self, patch):
        super().__init__()
        self.proj = nn.Conv2d(1, WIDTH, patch, patch)

    def forward(self, images):
        return self.proj(images).flatten(2).transpose(1, 2)


class VisionTransformer(nn.Module):
    def __init__(self, mechanism, patch):
        super().__init__()
        self.mechanism, self.patch = mechanism, patch
        # DAFT-conv is fully convolutional: no class token, no positions, and the mean of all
        # tokens is read (DAFT, 5.1).
        self.has_class_token = mechanism["name"] != "daft-conv"
        if self.has_class_token:
            self.cls_token = nn.Parameter(0.02 * torch.randn(1, 1, WIDTH))
            self.pos_embed = nn.Parameter(0.02 * torch.randn(1, 1 + (28 // patch) ** 2, WIDTH))
        self.patch_embed = PatchEmbedding(patch)
        self.blocks = nn.Sequential(*(Block(mechanism, patch) for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH, EPS)
        self.head = nn.Linear(WIDTH, len(fashion_mnist.LABELS))
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    def embed(self, images):
        x = self.patch_embed(images)
        if not self.has_class_token:
            return x
        return torch.cat([self.cls_token.expand(len(x), -1, -1), x], 1) + self.pos_embed

    def forward(self, images):
        """float32 [B, 1, 28, 28] -> logits [B, 10]."""
        x = self.norm(self.blocks(self.embed(images)))
        return self.head(x[:, 0] if self.has_class_token else x.mean(1))


def refine(model):
    """The same network on patches of half the side: four tokens where there was one."""
    fine = VisionTransformer(model.mechanism, model.patch // 2)
    coarse_state, fine_state = model.state_dict(), fine.state_dict()
    for name, tensor in coarse_state.items():
        wanted = fine_state[name].shape
        if name == "patch_embed.proj.weight":
            # Sums over 2x2 pixels: the fine kernel answers a small patch as the coarse one
            # answers that patch enlarged.
            tensor = 4 * F.avg_pool2d(tensor, 2)
        elif name.endswith("attn.r"):
            tensor = F.interpolate(tensor[None], wanted[-2:], mode="bicubic", align_corners=False)[
                0
            ]
        elif tensor.shape != wanted:  # one row a token: pos_embed, pe0, pe1
            rows = tensor.reshape(-1, tensor.shape[-1])
            side = 28 // model.patch
            grid = rows[1:].T.reshape(1, -1, side, side)
            grid = F.interpolate(grid, scale_factor=2, mode="bicubic", align_corners=False)
            tensor = torch.cat([rows[:1], grid.flatten(2)[0].T]).reshape(wanted)
        coarse_state[name] = tensor
    fine.load_state_dict(coarse_state)
    return fine


def decays(name, parameter):
    """The matrices alone, as is usual: not biases, norms, the class token or the positions."""
    return name.endswith(".weight") and parameter.dim() > 1


def accuracy(model, images, labels):
    with torch.no_grad():
        predicted = torch.cat([model(batch).argmax(1) for batch in images.split(100)])
    return (predicted == labels).float().mean().item()


def write(model, path, name, training):
    """Writes an "attnscope-model" file: HDF5, one data set a tensor under /tensors, uncompressed
    so that it can be mapped.
    """
    architecture = {
        "family": "vit",
        "channels": 1,
        "image_height": 28,
        "image_width": 28,
        "patch_height": model.patch,
        "patch_width": model.patch,
        "width": WIDTH,
        "layers": LAYERS,
        "heads": HEADS,
        "mlp_width": MLP_WIDTH,
        "activation": "gelu",
        "norm_position": "pre",
        "norm_eps": EPS,
        "class_tokens": int(model.has_class_token),
        "readout": "class" if model.has_class_token else "mean",
        "input_mean": [fashion_mnist.MEAN],
        "input_std": [fashion_mnist.STD],
        "mechanism": model.mechanism,
    }
    with h5py.File(path, "w") as file:
        file.attrs["format"] = "attnscope-model"
        file.attrs["format_version"] = np.int64(1)
        file.attrs["name"] = name
        file.attrs["architecture"] = json.dumps(architecture)
        file.attrs["labels"] = json.dumps(fashion_mnist.LABELS)
        file.attrs["training"] = json.dumps(training)
        tensors = file.create_group("tensors")
        for tensor_name, tensor in model.state_dict().items():
            tensors.create_dataset(tensor_name, data=tensor.numpy().astype(np.float32))


def read(path):
    """The model in a file that `write` made."""
    with h5py.File(path) as file:
        architecture = json.loads(file.attrs["architecture"])
        model = VisionTransformer(architecture["mechanism"], architecture["patch_height"])
        model.load_state_dict(
            {name: torch.from_numpy(tensor[...]) for name, tensor in file["tensors"].items()}
        )
    return model
