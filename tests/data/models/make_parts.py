#!/usr/bin/python3
"""Writes parts.json: rotary positions with their scalings, ALiBi's slopes, T5's and DeBERTa's buckets and
tables of relative positions, in PyTorch from their papers and from huggingface/transformers'
modeling_rope_utils.py, modeling_bloom.py, modeling_t5.py, modeling_deberta_v2.py and timm's
swin_transformer.py and beit.py.

    python3 make_parts.py
"""
import json
import math
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "attention"))
from make_adder import rounded, uniform  # noqa: E402


def base_angles(width, theta):
    return 1.0 / theta ** (torch.arange(0, width, 2).double() / width)


def scaled_angles(width, tokens, theta, scaling, p):
    """Angles a token, and what cosines and sines are multiplied with."""
    angles = base_angles(width, theta)
    context = p.get("context")
    if scaling == "linear":
        return angles / p["factor"], 1.0
    if scaling == "dynamic":
        if tokens > context:
            theta = theta * (p["factor"] * tokens / context - (p["factor"] - 1)) ** (width / (width - 2))
        return base_angles(width, theta), 1.0
    if scaling == "llama3":
        wavelength = 2 * math.pi / angles
        kept, divided = wavelength < context / p["high"], wavelength > context / p["low"]
        smooth = (context / wavelength - p["low"]) / (p["high"] - p["low"])
        mixed = (1 - smooth) * angles / p["factor"] + smooth * angles
        return torch.where(kept, angles, torch.where(divided, angles / p["factor"], mixed)), 1.0
    if scaling == "yarn":
        place = lambda turns: width * math.log(context / (turns * 2 * math.pi)) / (2 * math.log(theta))
        low, high = max(math.floor(place(32)), 0), min(math.ceil(place(1)), width - 1)
        ramp = ((torch.arange(width // 2).double() - low) / (high - low)).clamp(0, 1)
        return angles / p["factor"] * ramp + angles * (1 - ramp), 0.1 * math.log(p["factor"]) + 1
    if scaling == "longrope":
        factors = torch.tensor(p["long"] if tokens > context else p["short"]).double()
        return angles / factors, math.sqrt(1 + math.log(p["factor"]) / math.log(context))
    return angles, 1.0


def rotary(form, heads, each, width, tokens, theta, scaling, seed, **p):
    x = torch.from_numpy(uniform(seed, tokens, heads * each)).reshape(tokens, heads, each)
    angles, amplitude = scaled_angles(width, tokens, theta, scaling, p)
    turns = torch.outer(torch.arange(tokens).double(), angles)[:, None]
    cos, sin = amplitude * turns.cos(), amplitude * turns.sin()
    turned, rest = x[..., :width], x[..., width:]
    if form == "half":
        a, b = turned.chunk(2, -1)
        turned = torch.cat([a * cos - b * sin, b * cos + a * sin], -1)
    else:
        a, b = turned[..., 0::2], turned[..., 1::2]
        turned = torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)
    return dict(form=form, heads=heads, each=each, width=width, tokens=tokens, theta=theta, scaling=scaling,
                seed=seed, **p, turned=rounded(torch.cat([turned, rest], -1)))


def slopes(heads):
    """As BLOOM builds them."""
    power = 2 ** math.floor(math.log2(heads))
    base = 2 ** (-(2 ** -(math.log2(power) - 3)))
    result = [base**h for h in range(1, 1 + power)]
    if power < heads:
        extra = 2 ** (-(2 ** -(math.log2(2 * power) - 3)))
        result += [extra**h for h in range(1, 1 + 2 * min(power, heads - power), 2)]
    return result


def bucket(relative, bidirectional, buckets, furthest):
    """As T5: relative = key - query, in float32."""
    result = torch.zeros_like(relative)
    if bidirectional:
        buckets //= 2
        result += (relative > 0).long() * buckets
        relative = relative.abs()
    else:
        relative = -torch.min(relative, torch.zeros_like(relative))
    exact = buckets // 2
    far = exact + (torch.log(relative.float() / exact) / math.log(furthest / exact) * (buckets - exact)).long()
    far = torch.min(far, torch.full_like(far, buckets - 1))
    return result + torch.where(relative < exact, relative, far)


def signed_bucket(relative, buckets, furthest):
    """As DeBERTa: relative = query - key, in float32; its own up to half of the buckets, a logarithm beyond."""
    middle = buckets // 2
    scale = torch.log(relative.abs().clamp(min=middle) / middle) / torch.log(torch.tensor((furthest - 1) / middle))
    beyond = torch.ceil(scale * (middle - 1)) + middle
    result = torch.where(relative.abs() <= middle, relative.float(), beyond * relative.sign()).long()
    return result.clamp(-buckets, buckets - 1)


def grid_index(rows, columns, with_class):
    """Index of each pair into the table, as Swin and BEiT."""
    cells = torch.stack(torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")).flatten(1)
    offsets = (cells[:, :, None] - cells[:, None]).permute(1, 2, 0)
    index = (offsets[..., 0] + rows - 1) * (2 * columns - 1) + offsets[..., 1] + columns - 1
    if not with_class:
        return index
    entries = (2 * rows - 1) * (2 * columns - 1)
    whole = torch.full((rows * columns + 1,) * 2, entries)
    whole[1:, 1:] = index
    whole[0, 1:], whole[1:, 0], whole[0, 0] = entries, entries + 1, entries + 2
    return whole


def main():
    short, long = [1.0, 1.1, 1.2, 1.3], [1.5, 2.0, 3.0, 4.0]
    parts = {
        "torch": torch.__version__,
        "rotary": [
            rotary("half", 2, 8, 8, 9, 10000.0, "none", 1),
            rotary("pair", 2, 8, 8, 9, 10000.0, "none", 2),
            rotary("half", 3, 8, 4, 9, 500.0, "none", 3),
            rotary("pair", 1, 10, 6, 9, 10000.0, "none", 4),
            rotary("half", 2, 8, 8, 9, 10000.0, "linear", 5, factor=4.0),
            rotary("half", 2, 8, 8, 9, 10000.0, "dynamic", 6, factor=2.0, context=6),
            rotary("half", 2, 8, 8, 5, 10000.0, "dynamic", 7, factor=2.0, context=6),
            rotary("half", 1, 16, 16, 33, 500000.0, "llama3", 8, factor=8.0, low=1.0, high=4.0, context=64),
            rotary("half", 1, 32, 32, 33, 10000.0, "yarn", 9, factor=16.0, context=4096),
            rotary("half", 2, 8, 8, 12, 10000.0, "longrope", 10, factor=4.0, context=10, short=short, long=long),
            rotary("half", 2, 8, 8, 9, 10000.0, "longrope", 11, factor=4.0, context=10, short=short, long=long),
        ],
        "slopes": {str(heads): slopes(heads) for heads in (1, 2, 6, 8, 12, 16, 20)},
        "buckets": [
            dict(bidirectional=both, buckets=count, furthest=furthest,
                 of=bucket(torch.arange(-300, 301), both, count, furthest).tolist())
            for both in (True, False) for count, furthest in ((32, 128), (16, 40))
        ],
        "signed_buckets": [
            dict(buckets=count, furthest=furthest,
                 of=signed_bucket(torch.arange(-600, 601), count, furthest).tolist())
            for count, furthest in ((256, 512), (6, 14), (8, 40))
        ],
        "grids": [
            dict(rows=rows, columns=columns, with_class=with_class,
                 index=grid_index(rows, columns, with_class).flatten().tolist())
            for rows, columns, with_class in ((3, 4, False), (2, 3, True), (1, 1, True))
        ],
    }
    pathlib.Path(__file__).with_name("parts.json").write_text(json.dumps(parts) + "\n")


if __name__ == "__main__":
    main()
