#!/usr/bin/env python3
"""Writes daft.json: DAFT in PyTorch as the paper's Algorithms 1 and 2 state it.

Inputs come from MT19937's raw output, exact in float32, so that the tests make the very same ones
(tests/support/reference_maps.cpp). Run: python3 make_daft.py
"""
import json
import pathlib

import torch
import torch.nn.functional as F

from make_adder import rounded, uniform


def drawn(seed, *shape):
    rows = shape[0]
    columns = 1
    for extent in shape[1:]:
        columns *= extent
    return torch.from_numpy(uniform(seed, rows, columns)).reshape(shape)


def full(q, k, v, w):
    """Algorithm 1, from w on. [T, d] each."""
    w = w.exp()
    k = k.exp()
    numerator = torch.einsum("lt,td->ld", w, k * v)
    denominator = torch.einsum("lt,td->ld", w, k)
    return q.sigmoid() * numerator / denominator


def reparameterised(r, gamma, beta):
    """Eq. 9, of each head."""
    flat = r.flatten(1)
    flat = gamma * (flat - flat.mean(1, keepdim=True)) / flat.std(1, unbiased=False, keepdim=True)
    return (flat + beta).reshape(r.shape)


def conv(q, k, v, r, causal=False, everywhere=True):
    """Algorithm 2. q, k, v [d, T] or [d, H, W]; r [d, 2s+1] or [d, 2s+1, 2s+1], r of all d channels.
    Causal: taps and sums over what came before. Not `everywhere`: the window alone."""
    s = r.shape[-1] // 2
    convolve = F.conv2d if r.dim() == 3 else F.conv1d
    kernel = r.exp() - 1 if everywhere else r.exp()
    if causal:
        kernel = kernel[:, :s + 1]

    def aggregate(x):
        padded = F.pad(x, (s, 0)) if causal else F.pad(x, (s, s) * (r.dim() - 1))
        near = convolve(padded[None], kernel[:, None], groups=len(x))[0]
        if not everywhere:
            return near
        if causal:
            return near + x.cumsum(1)
        return near + x.sum(dim=tuple(range(1, x.dim())), keepdim=True)

    k = k.exp()
    return q.sigmoid() * aggregate(k * v) / aggregate(k)


def full_case(n, width, factors, seed):
    q, k, v = (drawn(seed + i, n, width) for i in range(3))
    pe0, pe1 = drawn(seed + 3, n, factors), drawn(seed + 4, n, factors)
    w = pe0 @ pe1.T
    free = drawn(seed + 5, n, n)
    past = torch.zeros(n, n, dtype=w.dtype).masked_fill(torch.ones(n, n).tril() == 0, -torch.inf)
    return {"n": n, "width": width, "factors": factors, "seed": seed,
            "factorised": rounded(full(q, k, v, w)),
            "free": rounded(full(q, k, v, free)),
            "causal": rounded(full(q, k, v, w + past))}


def window_case(rows, columns, width, heads, kernel, seed):
    n, dimensions = rows * columns, 2 if rows > 1 else 1
    q, k, v = (drawn(seed + i, n, width) for i in range(3))
    k_of_heads = drawn(seed + 9, n, heads)
    r = drawn(seed + 3, heads, *(kernel,) * dimensions)
    gamma, beta = drawn(seed + 4, heads, 1), drawn(seed + 5, heads, 1)
    each = width // heads
    r = reparameterised(r, gamma, beta)

    def run(k, r, **how):
        r = r.repeat_interleave(each, 0)
        if k.shape[1] == heads:
            k = k.repeat_interleave(each, 1)
        lie = lambda x: x.T.reshape(width, rows, columns) if dimensions == 2 else x.T
        return rounded(conv(lie(q), lie(k), lie(v), r, **how).reshape(width, n).T)

    flat = r.flatten(1)
    one_hot = (flat * F.one_hot(flat.argmax(1), flat.shape[1])).reshape(r.shape)
    case = {"rows": rows, "columns": columns, "width": width, "heads": heads, "kernel": kernel,
            "seed": seed, "daft-conv": run(k_of_heads, r), "full_keys": run(k, r),
            "daft-local": run(k_of_heads, r, everywhere=False),
            "daft-one-hot": run(k_of_heads, one_hot)}
    if dimensions == 1:
        case["causal"] = run(k_of_heads, r, causal=True)
        case["causal_local"] = run(k_of_heads, r, causal=True, everywhere=False)
    return case


def main():
    reference = {
        "torch": torch.__version__,
        "full": [full_case(1, 1, 1, 101), full_case(17, 6, 4, 111), full_case(41, 5, 3, 121)],
        "window": [window_case(1, 1, 1, 1, 3, 201), window_case(1, 23, 6, 3, 5, 211),
                   window_case(1, 7, 4, 4, 11, 221), window_case(4, 5, 6, 2, 3, 231),
                   window_case(3, 6, 4, 1, 7, 241)]}
    path = pathlib.Path(__file__).with_name("daft.json")
    path.write_text(json.dumps(reference) + "\n")


if __name__ == "__main__":
    main()
