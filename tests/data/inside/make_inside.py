#!/usr/bin/python3
"""What PyTorch says of the inside of three small models, in double precision and straight from the
papers' equations, token by token: norms of what is added, mixing, GlobEnc, ALTI, value zeroing,
logit lens, logit attribution, spectra of weights, truncated and ablated maps, similar heads.

    python3 make_inside.py            writes the *.npz beside this file

The models' weights are those that ../models/make_reference.py makes from names; the tests make them
again: a ViT in timm's names (pre-LN, classes), BERT (post-LN) and GPT-2 (pre-LN, causal) in Hugging
Face's.
"""

import math
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "models"))
from make_reference import array, weights  # noqa: E402

IDS = [16, 17, 16, 17, 9, 6, 9, 14, 4, 17, 16, 25, 15, 13, 6, 27, 7, 14, 20]


def w(name, *shape):
    return weights(name, shape).double()


class Norm:
    def __init__(self, name, width, eps):
        self.weight, self.bias, self.eps = w(name + ".weight", width), w(name + ".bias", width), eps

    def deviation(self, x):
        return (x.var(-1, unbiased=False) + self.eps).sqrt()

    def __call__(self, x):
        return (x - x.mean(-1, keepdim=True)) / self.deviation(x)[..., None] * self.weight + self.bias

    def frozen(self, x, deviation):
        """The same without bias, the deviation held fast."""
        return (x - x.mean(-1, keepdim=True)) / deviation * self.weight


class Layer:
    """q, k, v [H, D, d] with biases [H, d]; out [H, d, D]; the MLP as a function."""

    def __init__(self, q, k, v, out, out_bias, mlp, norm1, norm2, post, scale, causal):
        self.q, self.k, self.v, self.out, self.out_bias, self.mlp = q, k, v, out, out_bias, mlp
        self.norm1, self.norm2, self.post, self.scale, self.causal = norm1, norm2, post, scale, causal

    def project(self, x, which):
        weight, bias = which
        return torch.einsum("nd,hde->hne", x, weight) + bias[:, None]

    def maps(self, x):
        read = x if self.post else self.norm1(x)
        scores = self.project(read, self.q) @ self.project(read, self.k).transpose(1, 2) * self.scale
        if self.causal:
            scores = scores.masked_fill(torch.ones_like(scores[0]).triu(1).bool(), -math.inf)
        return scores.softmax(-1), self.project(read, self.v)

    def run(self, x, change=None, zeroed=None):
        a, v = self.maps(x)
        if change is not None:
            a = change(a)
        if zeroed is not None:
            v = v.clone()
            v[:, zeroed] = 0
        attended = torch.einsum("hij,hjd,hde->ie", a, v, self.out) + self.out_bias
        if self.post:
            x = self.norm1(x + attended)
            return self.norm2(x + self.mlp(x))
        x = x + attended
        return x + self.mlp(self.norm2(x))


def heads_first(weight, bias, heads):
    """A torch Linear's [H·d, D] as [H, D, d]."""
    return weight.unflatten(0, (heads, -1)).transpose(1, 2), bias.unflatten(0, (heads, -1))


def vit(width=24, heads=3, layers=2, hidden=40, classes=5, patch=8):
    image = array("input", (3, 32, 32)).double()
    kernel = w("patch_embed.proj.weight", width, 3, patch, patch)
    x = F.conv2d(image[None], kernel, w("patch_embed.proj.bias", width), stride=patch)[0].flatten(1).T
    x = torch.cat([w("cls_token", 1, 1, width)[0], x]) + w("pos_embed", 1, 17, width)[0]
    blocks = []
    for i in range(layers):
        b = f"blocks.{i}."
        qkv = w(b + "attn.qkv.weight", 3 * width, width).chunk(3)
        qkv_bias = w(b + "attn.qkv.bias", 3 * width).chunk(3)
        parts = [heads_first(*part, heads) for part in zip(qkv, qkv_bias)]
        out = w(b + "attn.proj.weight", width, width).T.unflatten(0, (heads, -1))
        fc1, fc2 = w(b + "mlp.fc1.weight", hidden, width), w(b + "mlp.fc2.weight", width, hidden)
        b1, b2 = w(b + "mlp.fc1.bias", hidden), w(b + "mlp.fc2.bias", width)
        mlp = lambda x, fc1=fc1, fc2=fc2, b1=b1, b2=b2: F.gelu(x @ fc1.T + b1) @ fc2.T + b2
        blocks.append(Layer(*parts, out, w(b + "attn.proj.bias", width), mlp,
                            Norm(b + "norm1", width, 1e-6), Norm(b + "norm2", width, 1e-6), False,
                            (width // heads) ** -0.5, False))
    norm = Norm("norm", width, 1e-6)
    head, bias = w("head.weight", classes, width), w("head.bias", classes)
    read = lambda x: (norm(x)[:1] @ head.T + bias)
    return x, blocks, read, (norm, head, bias, 0)


def bert(width=24, heads=3, layers=2, hidden=40, vocabulary=29, context=24):
    e = "bert.embeddings."
    x = (w(e + "word_embeddings.weight", vocabulary, width)[IDS]
         + w(e + "position_embeddings.weight", context, width)[: len(IDS)]
         + w(e + "token_type_embeddings.weight", 2, width)[0])
    x = Norm(e + "LayerNorm", width, 1e-12)(x)
    blocks = []
    for i in range(layers):
        b = f"bert.encoder.layer.{i}."
        parts = [heads_first(w(f"{b}attention.self.{p}.weight", width, width),
                             w(f"{b}attention.self.{p}.bias", width), heads)
                 for p in ("query", "key", "value")]
        out = w(b + "attention.output.dense.weight", width, width).T.unflatten(0, (heads, -1))
        fc1, fc2 = w(b + "intermediate.dense.weight", hidden, width), w(b + "output.dense.weight", width, hidden)
        b1, b2 = w(b + "intermediate.dense.bias", hidden), w(b + "output.dense.bias", width)
        mlp = lambda x, fc1=fc1, fc2=fc2, b1=b1, b2=b2: F.gelu(x @ fc1.T + b1) @ fc2.T + b2
        blocks.append(Layer(*parts, out, w(b + "attention.output.dense.bias", width), mlp,
                            Norm(b + "attention.output.LayerNorm", width, 1e-12),
                            Norm(b + "output.LayerNorm", width, 1e-12), True,
                            (width // heads) ** -0.5, False))
    return x, blocks, None, None


def gpt2(width=32, heads=4, layers=3, vocabulary=29, context=24):
    t = "transformer."
    table = w(t + "wte.weight", vocabulary, width)
    x = table[IDS] + w(t + "wpe.weight", context, width)[: len(IDS)]
    blocks = []
    for i in range(layers):
        b = f"{t}h.{i}."
        qkv = w(b + "attn.c_attn.weight", width, 3 * width).T.chunk(3)
        qkv_bias = w(b + "attn.c_attn.bias", 3 * width).chunk(3)
        parts = [heads_first(*part, heads) for part in zip(qkv, qkv_bias)]
        out = w(b + "attn.c_proj.weight", width, width).unflatten(0, (heads, -1))
        fc1, fc2 = w(b + "mlp.c_fc.weight", width, 4 * width), w(b + "mlp.c_proj.weight", 4 * width, width)
        b1, b2 = w(b + "mlp.c_fc.bias", 4 * width), w(b + "mlp.c_proj.bias", width)
        mlp = lambda x, fc1=fc1, fc2=fc2, b1=b1, b2=b2: F.gelu(x @ fc1 + b1, approximate="tanh") @ fc2 + b2
        blocks.append(Layer(*parts, out, w(b + "attn.c_proj.bias", width), mlp,
                            Norm(b + "ln_1", width, 1e-5), Norm(b + "ln_2", width, 1e-5), False,
                            (width // heads) ** -0.5 / (i + 1), True))
    norm = Norm(t + "ln_f", width, 1e-5)
    read = lambda x: norm(x) @ table.T
    return x, blocks, read, (norm, table, torch.zeros(vocabulary).double(), len(IDS) - 1)


def contributions(layer, x, residual, second):
    """F_i(j) as [N, N, D], and y [N, D] after the norm."""
    a, v = layer.maps(x)
    given = v @ layer.out  # [H, N, D]
    f = torch.einsum("hij,hjd->ijd", a, given)
    if not residual:
        return f, None
    n = len(x)
    f[range(n), range(n)] += x
    y = x + torch.einsum("hij,hjd->id", a, given) + layer.out_bias
    if layer.post:
        deviation = layer.norm1.deviation(y)
        f = layer.norm1.frozen(f, deviation[:, None, None])
        y = layer.norm1(y)
        if second:
            f = layer.norm2.frozen(f, layer.norm2.deviation(y + layer.mlp(y))[:, None, None])
    return f, y


def mixings(layer, x):
    a, v = layer.maps(x)
    found = {"head_norms": a[1] * (v[1] @ layer.out[1]).norm(dim=-1)}
    found["norms"] = contributions(layer, x, False, False)[0].norm(dim=-1)
    f, y = contributions(layer, x, True, False)
    found["block_norms"] = f.norm(dim=-1)
    found["globenc"] = contributions(layer, x, True, True)[0].norm(dim=-1)
    found["alti"] = (y.abs().sum(-1)[:, None] - (y[:, None] - f).abs().sum(-1)).clamp(min=0)
    n = len(x)
    own = f[range(n), range(n)].norm(dim=-1)
    others = (f.sum(1) - f[range(n), range(n)]).norm(dim=-1)
    found["ratios"] = others / (others + own)
    return found


def rows_to_one(m):
    return m / m.sum(-1, keepdim=True)


def value_zeroing(layer, x):
    whole = layer.run(x)
    columns = [1 - F.cosine_similarity(whole, layer.run(x, zeroed=j), dim=-1) for j in range(len(x))]
    return rows_to_one(torch.stack(columns, 1))


def attribution(blocks, streams, readout, target):
    """Of the token that is read: [L, H] of heads, [L] of biases and of the rest, embedding, constant."""
    norm, head, bias, place = readout
    deviation = norm.deviation(streams[-1][place])
    to_logit = lambda x: norm.frozen(x, deviation) @ head[target]
    heads, biases, rest = [], [], []
    for layer, before, after in zip(blocks, streams, streams[1:]):
        a, v = layer.maps(before)
        parts = torch.einsum("hj,hjd,hde->he", a[:, place], v, layer.out)
        heads.append(to_logit(parts))
        biases.append(to_logit(layer.out_bias))
        rest.append(to_logit(after[place] - before[place] - parts.sum(0) - layer.out_bias))
    return {"dla_heads": torch.stack(heads), "dla_biases": torch.stack(biases), "dla_rest": torch.stack(rest),
            "dla_embedding": to_logit(streams[0][place]), "dla_constant": norm.bias @ head[target] + bias[target]}


def weight_spectrum(layer, head, of):
    if of == "qk":
        m = layer.q[0][head] @ layer.k[0][head].T
    else:
        m = layer.v[0][head] @ layer.out[head]
    values = torch.linalg.svdvals(m)[: layer.q[0].shape[2]]
    eigen = torch.linalg.eigvals(m)
    return values, eigen.sum().real / eigen.abs().sum()


def nearest(a, rank):
    u, s, v = torch.linalg.svd(a)
    return (u[..., :rank] * s[..., None, :rank]) @ v[..., :rank, :]


def run_all(x, blocks, read, change):
    for index, layer in enumerate(blocks):
        x = layer.run(x, lambda a, index=index: change(index, a))
    return read(x)


def swapped(layer_at, head, make):
    def change(index, a):
        if index != layer_at:
            return a
        a = a.clone()
        a[head] = make(a)
        return a
    return change


def changed_logits(x, blocks, read):
    causal = blocks[0].causal
    n = len(x)
    even = torch.ones(n, n).double()
    even = rows_to_one(even.tril() if causal else even)
    # Keys that no token sees have no weight in the nearest map either.
    cut = lambda a, rank: nearest(a, rank).tril() if causal else nearest(a, rank)
    found = {
        "rank_1": run_all(x, blocks, read, lambda index, a: cut(a, 1)),
        "rank_3_rows": run_all(x, blocks, read, lambda index, a: rows_to_one(cut(a, 3))),
        "rank_2_head": run_all(x, blocks, read, swapped(1, 0, lambda a: cut(a[0], 2))),
        "zero": run_all(x, blocks, read, swapped(1, 2, lambda a: 0 * a[2])),
        "uniform": run_all(x, blocks, read, swapped(0, 1, lambda a: even)),
        "head": run_all(x, blocks, read, swapped(1, 2, lambda a: a[0])),
    }
    # Linear attention with the same queries and keys: elu + 1, with rows divided by their sums.
    layer = blocks[1]

    def linear(a):
        read_by = blocks[0].run(x)
        normed = read_by if layer.post else layer.norm1(read_by)
        q, k = (F.elu(layer.project(normed, part)[2]) + 1 for part in (layer.q, layer.k))
        scores = q @ k.T
        return rows_to_one(scores.tril() if causal else scores)

    found["mechanism"] = run_all(x, blocks, read, swapped(1, 2, linear))
    return found


def likeness(maps):
    """[n, n]: mean cosine of columns, and 1 − mean Jensen–Shannon divergence of rows in bits."""
    n = len(maps)
    cosine, divergence = torch.ones(n, n).double(), torch.ones(n, n).double()
    entropy = lambda p: -(torch.where(p > 0, p * p.clamp(min=1e-300).log2(), 0 * p)).sum(-1)
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            a, b = maps[i], maps[j]
            cosine[i, j] = F.cosine_similarity(a, b, dim=0, eps=1e-300).mean()
            divergence[i, j] = 1 - (entropy((a + b) / 2) - (entropy(a) + entropy(b)) / 2).mean()
    return cosine, divergence


def average_linkage(similarity):
    """As scipy.cluster.hierarchy.linkage(…, "average"): rows of two clusters, distance and size, by
    the update of Lance and Williams."""
    distance = {(i, j): 1 - float(similarity[i, j]) for i in range(len(similarity)) for j in range(i)}
    size = {i: 1 for i in range(len(similarity))}
    at = lambda i, j: distance[max(i, j), min(i, j)]
    rows = []
    while len(size) > 1:
        i, j = min(((i, j) for i in size for j in size if i < j), key=lambda pair: at(*pair))
        new = len(similarity) + len(rows)
        rows.append([i, j, at(i, j), size[i] + size[j]])
        for k in size:
            if k not in (i, j):
                distance[new, k] = (size[i] * at(i, k) + size[j] * at(j, k)) / (size[i] + size[j])
        size[new] = size.pop(i) + size.pop(j)
    return np.array(rows)


def flow(streams, blocks):
    rows = []
    for index, x in enumerate(streams):
        n = len(x)
        unit = F.normalize(x, dim=-1)
        cosines = unit @ unit.T
        similarity = (cosines.sum() - cosines.trace()) / (n * (n - 1))
        centred = (x - x.mean(0)).norm() / x.norm()
        norms = x.norm(dim=-1)
        row = [similarity, centred, norms.mean(), norms.max() / np.median(norms.numpy())]
        if index:
            before, layer = streams[index - 1], blocks[index - 1]
            a, v = layer.maps(before)
            attended = torch.einsum("hij,hjd,hde->ie", a, v, layer.out) + layer.out_bias
            share = lambda part, of: (part.norm(dim=-1) / of.norm(dim=-1)).mean()
            row += [share(x - before, before), share(attended, before)]
            between = before + attended
            row += [share(x - between, between) if not layer.post else torch.tensor(math.nan)]
        else:
            row += [torch.tensor(math.nan)] * 3
        rows.append(torch.stack([torch.as_tensor(value).double() for value in row]))
    return torch.stack(rows)


def main():
    for name, made in (("vit", vit()), ("bert", bert()), ("gpt2", gpt2())):
        x, blocks, read, readout = made
        streams = [x]
        for layer in blocks:
            streams.append(layer.run(streams[-1]))
        found = {}
        for key, value in mixings(blocks[1], streams[1]).items():
            found[key] = value
        for key in ("alti", "globenc"):
            reach = torch.eye(len(x)).double()
            for layer, before in zip(blocks, streams):
                reach = rows_to_one(mixings(layer, before)[key]) @ reach
            found[key + "_rollout"] = reach
        found["value_zeroing"] = value_zeroing(blocks[1], streams[1])
        maps = torch.cat([layer.maps(before)[0] for layer, before in zip(blocks, streams)])
        found["cosine"], found["jensen_shannon"] = likeness(maps)
        found["joins"] = average_linkage(found["jensen_shannon"])
        found["flow"] = flow(streams, blocks)
        for of in ("qk", "ov"):
            values, copying = weight_spectrum(blocks[1], 1, of)
            found[of], found[of + "_copying"] = values, copying
        if read:
            found["lens"] = torch.stack([read(stream) for stream in streams])
            found["logits"] = read(streams[-1])
            target = 3
            found.update(attribution(blocks, streams, readout, target))
            for key, value in changed_logits(x, blocks, read).items():
                found["changed_" + key] = value
        np.savez_compressed(HERE / f"{name}.npz", **{k: np.asarray(v, np.float64) for k, v in found.items()})
        print(name, {k: tuple(np.shape(v)) for k, v in found.items()})


if __name__ == "__main__":
    main()
