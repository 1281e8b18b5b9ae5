#!/usr/bin/env python3
"""Does a convolution do what the identity does? Trains small networks with softmax or focused linear attention
(FLatten, Han et al. 2023), alone, with the depthwise 5 x 5 convolution T of the values that FLatten adds, or with
I in its place, and measures the equivalent ranks of A, A + T and A + I:

    convolution_term.py OUT.json DATASET [VARIANT...] [--steps 1400 --seeds 2 ...]

A VARIANT is softmax, softmax-convolution, softmax-identity, focused, focused-convolution or focused-identity; all
by default. Networks, data and optimiser are those of adder_width.py: width 64, heads 16 wide, patches of 4 x 4
(N = 50). As in FLatten's code the kernels [16, 5, 5] are shared by the heads, the focusing power is 3 and the scale
of each channel is learned; its position encoding of the keys is left out, because the tokens have one. The
convolution sees patches only: rows and columns of the class token are 0 in T.

A head has one A and, per channel c of its values, one A + T_c; ranks are means over images, heads and channels.
"""

import argparse
import json
import math
import time

import numpy as np
import torch
from torch.nn.functional import conv2d, gelu, softplus

import adder_width
from adder_width import Descent, Networks, equivalent_rank, images_of, patches_of

VARIANTS = [f"{kind}{term}" for kind in ("softmax", "focused") for term in ("", "-convolution", "-identity")]
HEADS, HEAD_WIDTH, SIDE = 4, 16, 5
OFFSET, POWER = 1e-6, 3


class Convolved(Networks):
    def __init__(self, variant, options):
        self.kind, _, self.term = variant.partition("-")
        super().__init__(f"{HEAD_WIDTH}x{HEADS}-multiplicative-{variant}", options)

    def norm(self, name, width=None):
        super().norm(name, width)
        if name.endswith("norm1"):  # the first of a layer
            at = name.removesuffix("norm1")
            if self.kind == "focused":
                self.add(at + "attn.scale", (self.width,), "zeros")
            if self.term == "convolution":
                self.add(at + "attn.dwc.weight", (HEAD_WIDTH, SIDE * SIDE), "xavier")
                self.add(at + "attn.dwc.bias", (HEAD_WIDTH,), "zeros")

    def focused(self, x, scale):
        """x [s, b, n, C] -> its features, over all channels."""
        x = (x.relu() + OFFSET) / softplus(scale)[:, None, None]
        cubed = x**POWER
        return cubed / cubed.norm(dim=-1, keepdim=True) * x.norm(dim=-1, keepdim=True)

    def convolved(self, t, at, v):
        """T v of values [s, b, h, n, d]."""
        s, b, h, n, d = v.shape
        side = math.isqrt(n - 1)
        grid = v[..., 1:, :].permute(1, 0, 2, 4, 3).reshape(b, s * h * d, side, side)
        kernels = t[at + "attn.dwc.weight"].view(s, 1, d, 1, SIDE, SIDE).expand(s, h, d, 1, SIDE, SIDE)
        biases = t[at + "attn.dwc.bias"].view(s, 1, d).expand(s, h, d)
        out = conv2d(grid, kernels.reshape(-1, 1, SIDE, SIDE), biases.reshape(-1), padding=SIDE // 2,
                     groups=s * h * d)
        out = out.view(b, s, h, d, n - 1).permute(1, 0, 2, 4, 3)
        return torch.cat([torch.zeros_like(v[..., :1, :]), out], -2)

    def forward(self, t, patches, maps=None):
        s, b, _, pixels = patches.shape
        n, d, h = self.tokens, self.width, HEADS
        x = patches.reshape(s, -1, pixels) @ t["patch_embed.proj.weight"].transpose(1, 2)
        x = (x + t["patch_embed.proj.bias"].unsqueeze(1)).view(s, b, n - 1, d)
        x = torch.cat([t["cls_token"].expand(s, b, 1, d), x], 2) + t["pos_embed"]
        x = x.reshape(s, b * n, d)
        for layer in range(self.depth):
            at = f"blocks.{layer}."
            y = self.apply_linear(t, at + "attn.qkv", None, self.layer_norm(t, at + "norm1", x))
            q, k, v = (one.reshape(s, b, n, d) for one in y.split(d, -1))
            if self.kind == "focused":
                q, k = (self.focused(one, t[at + "attn.scale"]) for one in (q, k))
            q, k, v = (one.view(s, b, n, h, -1).transpose(2, 3) for one in (q, k, v))
            scores = q @ k.transpose(-1, -2)
            if self.kind == "focused":
                a = scores / (scores.sum(-1, keepdim=True) + OFFSET)
            else:
                a = (scores / math.sqrt(HEAD_WIDTH)).softmax(-1)
            if maps is not None:
                maps.append(a)
            y = a @ v
            if self.term == "identity":
                y = y + v
            if self.term == "convolution":
                y = y + self.convolved(t, at, v)
            y = y.transpose(2, 3).reshape(s, b * n, d)
            x = x + self.apply_linear(t, at + "attn.proj", None, y)
            y = self.apply_linear(t, at + "mlp.fc1", None, self.layer_norm(t, at + "norm2", x))
            x = x + self.apply_linear(t, at + "mlp.fc2", None, gelu(y))
        x = self.layer_norm(t, "norm", x.view(s, b, n, d)[:, :, 0])
        return torch.baddbmm(t["head.bias"].unsqueeze(1), x, t["head.weight"].transpose(1, 2))


def term_of(kernel, tokens):
    """T [N, N] of a kernel [5, 5]."""
    side = math.isqrt(tokens - 1)
    term = np.zeros((tokens, tokens))
    for i in range(side * side):
        for j in range(side * side):
            down, right = j // side - i // side + SIDE // 2, j % side - i % side + SIDE // 2
            if 0 <= down < SIDE and 0 <= right < SIDE:
                term[1 + i, 1 + j] = kernel[down, right]
    return term


@torch.no_grad()
def ranks_of(net, patches):
    """Per seed and layer: the mean ranks of A, A + I and, if the network has T, of A + T_c and T_c."""
    t, maps = net.tensors(net.values), []
    net.forward(t, patches.expand(net.seeds, *patches.shape), maps)
    found = {"rank": [], "identity_rank": [], "term_rank": [], "rank_of_term": []}
    one = np.eye(net.tokens)
    for layer, of_layer in enumerate(maps):
        of_layer = of_layer.double().cpu().numpy().reshape(net.seeds, -1, net.tokens, net.tokens)
        mean = lambda ranks: float(np.mean(ranks))
        found["rank"].append([mean([equivalent_rank(a) for a in some]) for some in of_layer])
        found["identity_rank"].append([mean([equivalent_rank(a + one) for a in some]) for some in of_layer])
        if net.term == "convolution":
            kernels = t[f"blocks.{layer}.attn.dwc.weight"].view(net.seeds, -1, SIDE, SIDE).double().cpu().numpy()
            terms = [[term_of(kernel, net.tokens) for kernel in some] for some in kernels]
            found["rank_of_term"].append([mean([equivalent_rank(one) for one in some]) for some in terms])
            found["term_rank"].append([mean([equivalent_rank(a + term) for a in some[::4] for term in of_seed])
                                       for some, of_seed in zip(of_layer, terms)])
    return {name: np.transpose(numbers).tolist() for name, numbers in found.items() if numbers}


def main():
    reader = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    reader.add_argument("out")
    reader.add_argument("dataset")
    reader.add_argument("variants", nargs="*", default=VARIANTS)
    for name, value in dict(patch=4, depth=4, steps=1400, batch=64, warm_up=100, seeds=2, probes=20,
                            tests=10000).items():
        reader.add_argument("--" + name.replace("_", "-"), type=int, default=value)
    reader.add_argument("--rate", type=float, default=2e-3)
    options = reader.parse_args()
    images, labels = images_of(options.dataset, "train")
    mean, deviation = images[:1000].mean() / 255, images[:1000].std() / 255
    as_patches = lambda some: torch.tensor(
        ((patches_of(some, options.patch).astype(np.float32) / 255 - mean) / deviation).astype(np.float32))
    test, test_labels = (one[: options.tests] for one in images_of(options.dataset, "t10k"))
    train, test = as_patches(images), as_patches(test)
    results = {"options": vars(options), "torch": torch.__version__, "variants": []}
    for variant in options.variants:
        net = Convolved(variant, options)
        descent = Descent(net, train, torch.tensor(labels), options)
        begin = time.time()
        result = {"variant": variant, "untrained": ranks_of(net, test[: options.probes])}
        descent.advance(options.steps)
        result["trained"] = ranks_of(net, test[: options.probes])
        result["accuracy"] = adder_width.accuracy(net, test, torch.tensor(test_labels))
        result["seconds"] = round(time.time() - begin, 1)
        results["variants"].append(result)
        means = {name: round(float(np.mean(some)), 1) for name, some in result["trained"].items()}
        print(f"{variant}: {result['seconds']} s, right {np.mean(result['accuracy']):.4f}, {means}", flush=True)
        with open(options.out, "w") as file:
            json.dump(results, file)


if __name__ == "__main__":
    main()
