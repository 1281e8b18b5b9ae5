"""What the references of several families compute alike, from the equations."""

import math

import torch


def rms(w, x, name, eps, plus_one=False):
    scaled = x / (x.square().mean(-1, keepdim=True) + eps).sqrt()
    weight = w(name + ".weight", x.shape[-1])
    return scaled * (1 + weight if plus_one else weight)


def turn_halves(x, angles, amplitude=1.0):
    """x [H, N, d], angles [N, r/2]: channels i and i + r/2 of the first r turned together."""
    half = angles.shape[-1]
    cos, sin = amplitude * angles.cos(), amplitude * angles.sin()
    a, b, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], -1)


def angles_of(tokens, frequencies):
    """In float32, as libraries have them."""
    return torch.outer(torch.arange(tokens).float(), frequencies.float()).double()


def rotary(width, theta):
    return theta ** (-torch.arange(0, width, 2).double() / width)


def yarn(width, theta, factor, context, fast=32.0, slow=1.0, whole=True):
    """Frequencies between divided and kept ones, and the factor of cosines and sines."""
    low, high = (width * math.log(context / (turns * 2 * math.pi)) / (2 * math.log(theta)) for turns in (fast, slow))
    if whole:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    divided = ((torch.arange(width // 2).double() - low) / max(high - low, 0.001)).clamp(0, 1)
    kept = rotary(width, theta)
    return kept / factor * divided + kept * (1 - divided), yarn_factor(factor)


def yarn_factor(factor, scale=1.0):
    return 0.1 * scale * math.log(factor) + 1 if factor > 1 else 1.0


def causal_mask(tokens, window=None):
    """True where a key is not seen."""
    i, j = torch.arange(tokens)[:, None], torch.arange(tokens)[None]
    hidden = j > i
    return hidden if window is None else hidden | (j <= i - window)


def attend_terms(q, k, v, maps, scale, hidden=None, soft_cap=None):
    """q [H, N, d], k and v [Hk, N, d] → [N, H·d]: query head h has the keys of head ⌊h·Hk/H⌋."""
    groups = q.shape[0] // k.shape[0]
    k, v = k.repeat_interleave(groups, 0), v.repeat_interleave(groups, 0)
    scores = q @ k.transpose(-1, -2) * scale
    if soft_cap:
        scores = soft_cap * torch.tanh(scores / soft_cap)
    if hidden is not None:
        scores = scores.masked_fill(hidden, -math.inf)
    maps.append(scores.softmax(-1))
    return (maps[-1] @ v).transpose(0, 1).flatten(1)
