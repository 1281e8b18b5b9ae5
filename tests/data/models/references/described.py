"""Models that only a description opens: convolutions before the patches, tensors that are joined and cut, and layers
of which each is another.

The stems are those of Xiao et al. 2021 (Early Convolutions Help Transformers See Better, section 4: 3×3 convolutions of
stride 2, each with BatchNorm and ReLU, then a 1×1 convolution) and of Graham et al. 2021 (LeViT, section 4.3: 3×3
convolutions of stride 2 with BatchNorm and hard swish between them), evaluated by running statistics.
"""

import torch
import torch.nn.functional as F

from make_families import ACTIVATIONS, IMAGE, Description, attend, heads_of
from references.parts import angles_of, attend_terms, rms, rotary, turn_halves

HARD_SWISH = lambda x: x * (x + 3).clamp(0, 6) / 6


def convolved(w, x, name, width, kernel, stride, bias=True, padding=None):
    weight = w(name + ".weight", width, x.shape[0], kernel, kernel)
    offset = w(name + ".bias", width) if bias else None
    return F.conv2d(x[None], weight, offset, stride=stride, padding=kernel // 2 if padding is None else padding)[0]


def batch_normed(w, x, name, eps=1e-5):
    w(name + ".num_batches_tracked", 1)
    mean, variance = w(name + ".running_mean", x.shape[0]), w(name + ".running_var", x.shape[0])
    of = lambda values: values[:, None, None]
    scaled = (x - of(mean)) / of(variance + eps).sqrt()
    return scaled * of(w(name + ".weight", x.shape[0])) + of(w(name + ".bias", x.shape[0]))


def channel_normed(w, x, name, eps):
    return w.norm(x.permute(1, 2, 0), name, eps).permute(2, 0, 1)


def early_convolutions(w, image, maps, *, width=24, heads=3, layers=2, classes=5):
    x = image
    for i, channels in enumerate((6, 8, 12)):
        x = convolved(w, x, f"stem.{i}.conv", channels, 3, 2, bias=False)
        x = ACTIVATIONS["relu"](batch_normed(w, x, f"stem.{i}.bn"))
    x = convolved(w, x, "stem.last", width, 1, 1).flatten(1).T
    x = torch.cat([w("start", width)[None], x])
    x = x + w("places", len(x), width)
    for i in range(layers):
        b = f"trunk.{i}."
        h = w.norm(x, b + "ln_a", 1e-6)
        q, k, v = (heads_of(w.linear(h, b + part, width), heads) for part in ("wq", "wk", "wv"))
        x = x + w.linear(attend(q, k, v, maps), b + "wo", width)
        h = ACTIVATIONS["gelu"](w.linear(w.norm(x, b + "ln_b", 1e-6), b + "up", 2 * width))
        x = x + w.linear(h, b + "down", width)
    return w.linear(w.norm(x, "last_norm", 1e-6)[0], "classes", classes)


def levit_stem(w, image, maps, *, width=24, heads=3, layers=2, hidden=40, classes=5):
    """Two norms: of channels and by statistics. Queries, keys and values are stored as [H, d, 3, D]; below the
    rows of the output are those of the MLP's first weight."""
    x = HARD_SWISH(channel_normed(w, convolved(w, image, "stem.0.c", 8, 5, 2, padding=1), "stem.0.ln", 1e-3))
    x = HARD_SWISH(convolved(w, x, "stem.1.c", 10, 3, 2, bias=False))
    x = batch_normed(w, convolved(w, x, "patch.c", width, 3, 2, bias=False), "patch.bn", 1e-3)
    x = x.flatten(1).T
    x = x + w("places", len(x), width)
    for i in range(layers):
        b = f"trunk.{i}."
        packed = w(b + "packed.weight", 3 * width, width).unflatten(0, (heads, -1, 3))
        offsets = w(b + "packed.bias", 3 * width).unflatten(0, (heads, -1, 3))
        inner, offset = w(b + "inner.weight", width + hidden, width), w(b + "inner.bias", width + hidden)
        h = w.norm(x, b + "ln_a", 1e-6)
        q, k, v = (heads_of(h @ packed[:, :, j].flatten(0, 1).T + offsets[:, :, j].flatten(), heads) for j in range(3))
        x = x + attend(q, k, v, maps) @ inner[:width].T + offset[:width]
        h = w.norm(x, b + "ln_b", 1e-6) @ inner[width:].T + offset[width:]
        x = x + w.linear(ACTIVATIONS["gelu"](h), b + "down", width)
    return w.linear(w.norm(x, "last_norm", 1e-6).mean(0), "classes", classes)


def layers_that_differ(w, image, maps, *, width=24, classes=5):
    x = w.patches(image, "stem", width, 8)
    x = x + w("places", len(x), width)
    tokens = len(x)
    place = torch.arange(tokens)

    def projected(h, b, queries, keys, d):
        of = lambda part, count: heads_of(w.linear(h, b + part, count * d), count)
        return of("wq", queries), of("wk", keys), of("wv", keys)

    def mlp(h, b, hidden, act, gate=False):
        up = w.linear(h, b + "up", hidden)
        up = ACTIVATIONS[act](w.linear(h, b + "gate", hidden)) * up if gate else ACTIVATIONS[act](up)
        return w.linear(up, b + "down", width)

    b = "trunk.0."  # the layer of the description's defaults
    x = x + w.linear(attend(*projected(w.norm(x, b + "ln_a", 1e-6), b, 3, 3, 8), maps), b + "wo", width)
    x = x + mlp(w.norm(x, b + "ln_b", 1e-6), b, 48, "gelu")

    b = "trunk.1."  # RMS norms after the residuals, other heads, a gated MLP of another width
    x = rms(w, x + w.linear(attend(*projected(x, b, 6, 6, 4), maps), b + "wo", width), b + "ln_a", 1e-4)
    x = rms(w, x + mlp(x, b, 36, "silu", gate=True), b + "ln_b", 1e-4)

    b = "trunk.2."  # parallel parts after one norm, rotated and grouped heads, a soft cap
    h = w.norm(x, b + "ln_a", 1e-6)
    q, k, v = projected(h, b, 4, 2, 6)
    angles = angles_of(tokens, rotary(4, 100))
    q, k = turn_halves(q, angles), turn_halves(k, angles)
    out = attend_terms(q, k, v, maps, width**-0.5, soft_cap=2.5)
    x = x + w.linear(out, b + "wo", width) + mlp(h, b, 48, "relu2")

    b = "trunk.3."  # a window, another scale, no MLP
    far = (place[:, None] - place).abs() > 2
    q, k, v = projected(rms(w, x, b + "ln_a", 1e-5, plus_one=True), b, 2, 2, 10)
    x = x + w.linear(attend_terms(q, k, v, maps, 0.3, hidden=far), b + "wo", width)

    b = "trunk.4."  # norms of the outputs of the parts, ALiBi
    q, k, v = projected(x, b, 2, 2, 12)
    slopes = torch.tensor([2.0**-4, 2.0**-8]).double()
    scores = q @ k.transpose(-1, -2) * 0.005 - slopes[:, None, None] * (place[:, None] - place).abs()
    maps.append(scores.softmax(-1))
    out = (maps[-1] @ v).transpose(0, 1).flatten(1)
    x = x + w.norm(w.linear(out, b + "wo", width), b + "ln_a", 1e-6)
    x = x + w.norm(mlp(x, b, 48, "gelu_tanh"), b + "ln_b", 1e-6)
    return w.linear(w.norm(x, "last_norm", 1e-6).mean(0), "classes", classes)


MODEL = {
    "heads": 3,
    "norm_position": "pre",
    "norm_eps": 1e-6,
    "activation": "gelu",
    "input_mean": [0.5],
    "input_std": [0.5],
}

LAYERS = {
    "positions": "places",
    "layer.norm1": "trunk.{layer}.ln_a",
    "layer.out": "trunk.{layer}.wo",
    "layer.norm2": "trunk.{layer}.ln_b",
    "layer.mlp1": "trunk.{layer}.up",
    "layer.mlp2": "trunk.{layer}.down",
    "final_norm": "last_norm",
    "head": "classes",
}

EARLY = Description(
    name="early convolutions",
    model={**MODEL, "readout": "class", "input": {"stem": {"strides": [2, 2, 2], "activation": "relu"}}},
    tensors={
        **LAYERS,
        **{f"stem.{i}": f"stem.{i}.conv" for i in range(3)},
        **{f"stem_norm.{i}": f"stem.{i}.bn" for i in range(3)},
        "patch": "stem.last",
        "class_token": "start",
        "layer.qkv": {"join": ["trunk.{layer}.wq", "trunk.{layer}.wk", "trunk.{layer}.wv"]},
    },
)

LEVIT = Description(
    name="LeViT's stem",
    model={
        **MODEL,
        "readout": "mean",
        "patch_stride": 2,
        "patch_padding": 1,
        "embedding_norm_eps": 1e-3,
        "input": {
            "stem": {"strides": [2, 2], "paddings": [1, 1], "activation": "hard_swish", "norm_eps": 1e-3},
        },
    },
    tensors={
        **LAYERS,
        "stem.0": "stem.0.c",
        "stem_norm.0": "stem.0.ln",
        "stem.1": "stem.1.c",
        "patch": "patch.c",
        "patch_norm_after": "patch.bn",
        "layer.qkv.weight": {"pattern": "trunk.{layer}.packed.weight", "shape": [3, 8, 3, -1], "axes": [[2, 0, 1], 3]},
        "layer.qkv.bias": {"pattern": "trunk.{layer}.packed.bias", "shape": [3, 8, 3], "axes": [[2, 0, 1]]},
        "layer.out": {"pattern": "trunk.{layer}.inner", "rows": [0, 24]},
        "layer.mlp1": {"pattern": "trunk.{layer}.inner", "rows": [24, 40]},
    },
)

DIFFERENT = Description(
    name="layers that differ",
    model={
        **MODEL,
        "readout": "mean",
        "differences": [
            {
                "layers": [1],
                "norm": {"kind": "rms", "position": "post", "eps": 1e-4},
                "attention": {"heads": 6, "head_width": 4},
                "mlp": {"form": "gated", "activation": "silu", "width": 36},
            },
            {
                "layers": [2],
                "residual": "parallel",
                "attention": {"heads": 4, "key_heads": 2, "head_width": 6},
                "rotary": {"form": "half", "theta": 100, "width": 4},
                "scores": {"scale": "width^-1/2", "soft_cap": 2.5},
                "mlp": {"activation": "relu2"},
            },
            {
                "layers": [3],
                "norm": {"kind": "rms_plus_one", "eps": 1e-5},
                "attention": {"heads": 2, "head_width": 10},
                "scores": {"scale": 0.3, "window": 4, "window_form": "around"},
                "mlp": {"form": "none"},
            },
            {
                "layers": [4],
                "norm": {"position": "branch"},
                "attention": {"heads": 2, "head_width": 12},
                "scores": {"bias": "alibi", "scale": 0.005},
                "mlp": {"activation": "gelu_tanh"},
            },
        ],
    },
    tensors={
        **LAYERS,
        "patch": "stem",
        "layer.query": "trunk.{layer}.wq",
        "layer.key": "trunk.{layer}.wk",
        "layer.value": "trunk.{layer}.wv",
        "layer.norm2": "trunk.{layer}.ln_b?",
        "layer.mlp1": "trunk.{layer}.up?",
        "layer.mlp_gate": "trunk.{layer}.gate?",
        "layer.mlp2": "trunk.{layer}.down?",
    },
)

CASES = {
    "described_early_convolutions": (
        "early convolutions", early_convolutions, {}, IMAGE, EARLY, {}, None, "trunk.1.wk.weight",
        "stem.1.bn.temperature",
    ),
    "described_levit_stem": (
        "LeViT's stem", levit_stem, {}, IMAGE, LEVIT, {}, None, "patch.bn.running_var", "stem.0.bn.running_mean",
    ),
    "described_layers_that_differ": (
        "layers that differ", layers_that_differ, {}, IMAGE, DIFFERENT, {}, None, "trunk.2.wq.weight",
        "trunk.4.gate_of_attention.weight",
    ),
}
