#!/usr/bin/env python3
"""Writes baselines.json: Performer, Linformer, Reformer and Synthesizer in PyTorch, from the papers.

Inputs come from MT19937's raw output, exact in float32, so that the tests make the very same ones
(tests/support/reference_maps.cpp). Run: python3 make_baselines.py
"""
import json
import math
import pathlib

import torch

from make_adder import rounded, tensor, uniform


def drawn(seed, *shape):
    """The numbers of raw_uniform(shape, seed)."""
    return torch.from_numpy(uniform(seed, 1, math.prod(shape))).reshape(shape)


def performer(q, k, v, omega, relu, causal):
    """Choromanski et al. 2020, Algorithm 1: (Q' (K'^T V)) / (Q' (K'^T 1)), prefix sums if causal."""
    def phi(x):
        x = x / x.shape[-1] ** 0.25
        projected = x @ omega.transpose(-1, -2)
        if relu:
            return torch.relu(projected) + 0.001
        return torch.exp(projected - x.square().sum(-1, keepdim=True) / 2) / omega.shape[-2] ** 0.5

    q, k = phi(q), phi(k)
    if not causal:
        return (q @ (k.transpose(1, 2) @ v)) / (q @ k.sum(1).unsqueeze(-1))
    products = (k.unsqueeze(-1) * v.unsqueeze(-2)).cumsum(1)
    sums = k.cumsum(1)
    return torch.einsum("hnf,hnfc->hnc", q, products) / (q * sums).sum(-1, keepdim=True)


def linformer(q, k, v, e, f):
    """Wang et al. 2020, Eq. 7."""
    return torch.softmax(q @ (e @ k).transpose(1, 2) / q.shape[-1] ** 0.5, dim=-1) @ (f @ v)


def reformer(qk, v, rotations, chunk, causal):
    """Kitaev et al. 2020, Section 2 and Appendix A: rounds of sorted, chunked attention, weighted
    by their normalisers, with log N for pairs that meet in several rounds."""
    heads, n, d = qk.shape
    keys = torch.nn.functional.normalize(qk, dim=-1)
    out = torch.empty_like(v)
    for h in range(heads):
        rounds = []
        for r in rotations:
            rotated = qk[h] @ r
            bucket = torch.cat([rotated, -rotated], dim=-1).argmax(-1)
            order = torch.argsort(bucket * n + torch.arange(n))
            place = torch.empty(n, dtype=torch.long)
            place[order] = torch.arange(n)
            if causal:  # chunks are counted within each bucket
                first = torch.stack([place[bucket == b].min() for b in bucket])
                place = place - first
            chunks = torch.div(place, chunk, rounding_mode="floor")
            back = chunks[:, None] - chunks[None, :]
            allowed = (bucket[:, None] == bucket[None, :]) & ((back == 0) | (back == 1))
            if causal:
                allowed &= torch.ones(n, n, dtype=torch.bool).tril()
            rounds.append(allowed)
        times = sum(allowed.double() for allowed in rounds)
        logits = qk[h] @ keys[h].T / d ** 0.5
        logits[torch.eye(n, dtype=torch.bool)] = -1e5  # itself only if there is no other
        outputs, normalisers = [], []
        for allowed in rounds:
            scores = torch.where(allowed, logits - torch.log(times.clamp(min=1)), -math.inf)
            normalisers.append(torch.logsumexp(scores, dim=-1))
            outputs.append(torch.softmax(scores, dim=-1) @ v[h])
        weights = torch.softmax(torch.stack(normalisers), dim=0)
        out[h] = (weights.unsqueeze(-1) * torch.stack(outputs)).sum(0)
    return out


def synthesizer(scores, v, causal):
    if causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -math.inf)
    return torch.softmax(scores, dim=-1) @ v


def main():
    cases = []
    for n, heads, width, k_landmarks, chunk, seed in [
            (2, 1, 3, 1, 1, 61), (23, 2, 9, 5, 4, 71), (40, 1, 17, 8, 16, 81)]:
        q, k, v = (tensor(seed + i, n, heads, width) for i in range(3))
        omega = drawn(seed + 3, heads, 12, width)
        e, f = (drawn(seed + i, heads, k_landmarks, n) / 4 for i in (4, 5))
        chunks = -(-n // chunk)
        rotations = drawn(seed + 6, 2, width, max(2, chunks + chunks % 2) // 2)
        r = drawn(seed + 7, heads, n, n)
        r1, r2 = drawn(seed + 8, heads, n, 6), drawn(seed + 9, heads, n, 6)
        w1, b1 = drawn(seed + 10, heads, width, width) / 4, drawn(seed + 11, heads, width)
        w2, b2 = drawn(seed + 12, heads, n, width) / 4, drawn(seed + 13, heads, n)
        hidden = torch.relu(q @ w1.transpose(1, 2) + b1.unsqueeze(1))
        dense = hidden @ w2.transpose(1, 2) + b2.unsqueeze(1)
        outputs = {"linformer": linformer(q, k, v, e, f)}
        for name, causal in (("", False), ("_causal", True)):
            outputs["favor" + name] = performer(q, k, v, omega, False, causal)
            outputs["relu" + name] = performer(q, k, v, omega, True, causal)
            outputs["reformer" + name] = reformer(q, v, rotations, chunk, causal)
            outputs["random" + name] = synthesizer(r, v, causal)
            outputs["factorised" + name] = synthesizer(r1 @ r2.transpose(1, 2), v, causal)
            outputs["dense" + name] = synthesizer(dense, v, causal)
        cases.append({"n": n, "heads": heads, "width": width, "landmarks": k_landmarks,
                      "chunk": chunk, "seed": seed,
                      **{name: [float(f"{x:.7g}") for x in rounded(o.transpose(0, 1))]
                         for name, o in outputs.items()}})
    path = pathlib.Path(__file__).with_name("baselines.json")
    path.write_text(json.dumps({"torch": torch.__version__, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
