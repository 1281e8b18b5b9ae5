#!/usr/bin/python3
"""What NumPy finds in weights without input: symmetry and directionality of W_QK, products of whole
layers, composition of heads, and spectra of whole matrices with the power law of their tails. All
products are multiplied out as [D, D].

    python3 make_weights.py            writes weights.json beside this file

Two of the functions are the authors' own if folders with their code are on PYTHONPATH; otherwise the
transcriptions below, which give the same file:

    matteosaponati/attention-geometry   utils/scores.py: symmetry_score, directionality_score
    CalculatedContent/WeightWatcher     weightwatcher/WW_powerlaw.py: WWFit

Weights of the small models are hashed from their names (../models/make_reference.py); the tests make
them again. The sample model's weights are read with h5py.
"""

import importlib.util
import json
import math
import pathlib
import sys
import types

import h5py
import numpy as np
import torch

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "models"))
from make_reference import uniform, weights  # noqa: E402


def authors_module(package, name, absent):
    """A module of a checkout on PYTHONPATH; None without one. `absent` are modules that it imports,
    but that the used functions do not need."""
    for folder in sys.path:
        file = pathlib.Path(folder) / package / (name + ".py")
        if file.exists():
            for other, members in absent.items():
                sys.modules[other] = types.ModuleType(other)
                for member in members:
                    setattr(sys.modules[other], member, None)
            sys.modules[package] = types.ModuleType(package)
            sys.modules[package].__path__ = [str(file.parent)]
            spec = importlib.util.spec_from_file_location(f"{package}.{name}", file)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    return None


SCORES = authors_module("utils", "scores", {
    "utils.funs": ["get_M_checkpoints", "get_M_shard", "get_M_fullmodel"]})
LAWS = authors_module("weightwatcher", "WW_powerlaw", {
    "powerlaw": ["Power_Law", "Lognormal", "Exponential", "Truncated_Power_Law",
                 "Stretched_Exponential", "Lognormal_Positive"]})


def symmetry(m):
    if SCORES:
        return float(SCORES.symmetry_score(torch.from_numpy(m)))
    return (((m + m.T) / 2) ** 2).sum() / (m**2).sum()


def directionality(m):
    if SCORES:
        return float(SCORES.directionality_score(torch.from_numpy(m)))

    def excess(norms):
        bound = norms.mean() + 2 * norms.std(ddof=1)
        return (norms[norms > bound] - bound).sum()

    rows, columns = excess(np.linalg.norm(m, axis=1)), excess(np.linalg.norm(m, axis=0))
    return (columns - rows) / (columns + rows) if columns + rows else 0.0


def tail(values):
    """α, Kolmogorov–Smirnov distance, x_min, and number of the values from x_min on."""
    values = np.sort(values)
    if LAWS:
        fit = LAWS.WWFit(values)
        return [fit.alpha, fit.D, fit.xmin, int((values >= fit.xmin).sum())]
    best = None
    for i, least in enumerate(values[:-1]):
        above = values[i:]
        n = len(above)
        alpha = 1 + n / np.log(above / least).sum()
        distance = np.abs(1 - (above / least) ** (1 - alpha) - np.arange(n) / n).max()
        if best is None or distance < best[1]:
            best = [alpha, distance, least, n]
    return best


def copying(m):
    values = np.linalg.eigvals(m)
    return float(values.sum().real / np.abs(values).sum())


def composition(a, b):
    return np.linalg.norm(a @ b) / np.linalg.norm(a) / np.linalg.norm(b)


def rank(values, share=0.9):
    return 1 + int((np.cumsum(values) / values.sum() < share).sum())


class Layer:
    """Q, K, V [D, d] and O [d, D] of each query head."""

    def __init__(self, q, k, v, o, heads, key_heads):
        def columns(m, groups):
            return [np.split(m, groups, 1)[h * groups // heads] for h in range(heads)]

        self.qk = [a @ b.T for a, b in zip(columns(q, heads), columns(k, key_heads))]
        self.ov = [a @ b for a, b in zip(columns(v, key_heads), np.split(o, heads, 0))]


def w(name, *shape):
    return weights(name, shape).double().numpy()


def mistral():
    """Width 32, 4 query heads and 2 key heads of width 12."""
    layers = []
    for i in range(2):
        p = f"model.layers.{i}.self_attn."
        layers.append(Layer(w(p + "q_proj.weight", 48, 32).T, w(p + "k_proj.weight", 24, 32).T,
                            w(p + "v_proj.weight", 24, 32).T, w(p + "o_proj.weight", 32, 48).T, 4, 2))
    return layers


def gpt2():
    """Weights [in, out], queries, keys and values fused; biases are no part of the products."""
    family = json.loads((HERE.parent / "models/families/hugging_face_gpt2.json").read_text())
    config, shapes = family["config"], family["tensors"]
    prefix = next(name for name in shapes if name.endswith("h.0.attn.c_attn.weight"))
    layers = []
    for i in range(config["n_layer"]):
        name = prefix.replace("h.0.", f"h.{i}.")
        q, k, v = np.split(w(name, *shapes[name]), 3, 1)
        out = name.replace("c_attn", "c_proj")
        layers.append(Layer(q, k, v, w(out, *shapes[out]), config["n_head"], config["n_head"]))
    return layers


def latents(layers, query_latent, heads=4, nope=10, rope=6, value=7, latent=20, width=32):
    """Singular values of each head's W_UQ W_UKᵀ, between latents and without the rotated channels, and W_UV W_O."""
    found = {"qk": [], "ov": []}
    for i in range(layers):
        p = f"model.layers.{i}.self_attn."
        name, inner = ("q_b_proj", query_latent) if query_latent else ("q_proj", width)
        q = w(p + name + ".weight", heads * (nope + rope), inner).reshape(heads, nope + rope, inner)
        both = w(p + "kv_b_proj.weight", heads * (nope + value), latent).reshape(heads, nope + value, latent)
        o = w(p + "o_proj.weight", width, heads * value).reshape(width, heads, value)
        for h in range(heads):
            qk, ov = q[h, :nope].T @ both[h, :nope], both[h, nope:].T @ o[:, h].T
            found["qk"].append(np.linalg.svd(qk, compute_uv=False)[:nope].tolist())
            found["ov"].append(np.linalg.svd(ov, compute_uv=False)[:value].tolist())
    return found


def products(layers):
    pairs = [(a, i, b, k) for a in range(len(layers)) for b in range(a + 1, len(layers))
             for i in range(len(layers[a].ov)) for k in range(len(layers[b].ov))]
    whole = [sum(layer.qk) for layer in layers], [sum(layer.ov) for layer in layers]
    return {
        "heads": [[[symmetry(m), directionality(m)] for m in layer.qk] for layer in layers],
        "qk_layers": [[symmetry(m), directionality(m)] for m in whole[0]],
        "ov_layers": [copying(m) for m in whole[1]],
        "qk_layer_values": [np.linalg.svd(m, compute_uv=False)[:4].tolist() for m in whole[0]],
        "ov_layer_values": [np.linalg.svd(m, compute_uv=False)[:4].tolist() for m in whole[1]],
        "pairs": [list(pair) for pair in pairs],
        "q": [composition(layers[a].ov[i], layers[b].qk[k]) for a, i, b, k in pairs],
        "k": [composition(layers[a].ov[i], layers[b].qk[k].T) for a, i, b, k in pairs],
        "v": [composition(layers[a].ov[i], layers[b].ov[k]) for a, i, b, k in pairs],
    }


def matrix_numbers(m):
    values = np.linalg.svd(m, compute_uv=False)
    edge = m.std() * sum(map(math.sqrt, m.shape))
    return {"shape": list(m.shape), "norm": float(np.linalg.norm(m)), "largest": values[0],
            "rank": rank(values), "stable": float((values**2).sum() / values[0] ** 2),
            "edge": edge, "above": int((values > edge).sum()), "tail": tail(values**2)}


def sample(name):
    """The six matrices of each layer, [in, out]: query, key, value, output, MLP in, MLP out."""
    with h5py.File(HERE.parents[2] / "sample_data/models" / (name + ".h5")) as file:
        tensors = {key: value[:].astype(np.float64) for key, value in file["tensors"].items()}
    layers = []
    while (p := f"transformer.h.{len(layers)}.") + "attn.c_attn.weight" in tensors:
        layers.append([*np.split(tensors[p + "attn.c_attn.weight"].T, 3, 1),
                       *(tensors[p + rest + ".weight"].T
                         for rest in ("attn.c_proj", "mlp.c_fc", "mlp.c_proj"))])
    return layers


def of_vit(name, layer):
    with h5py.File(HERE.parents[2] / "sample_data/models" / (name + ".h5")) as file:
        return file["tensors"][f"blocks.{layer}.mlp.fc1.weight"][:].astype(np.float64).T


reference = {
    "mistral": products(mistral()),
    "gpt2": products(gpt2()),
    "latents": {"deepseek_v2": latents(2, 14), "deepseek_v2_lite": latents(3, None)},
    # Entries u³ of hashed u have a heavier tail than Marchenko and Pastur's law.
    "hashed": {name: matrix_numbers(uniform(name, rows * columns).reshape(rows, columns) ** power)
               for name, rows, columns, power in
               (("even", 60, 90, 1), ("cubes", 80, 64, 3), ("wide", 50, 400, 9))},
    "sample": [[matrix_numbers(m) for m in layer] for layer in sample("shakespeare-softmax")[::5]],
    "difference": matrix_numbers(of_vit("fashion-softmax", 1) - of_vit("fashion-hash", 1)),
    "relative": float(np.linalg.norm(of_vit("fashion-softmax", 1) - of_vit("fashion-hash", 1))
                      / np.linalg.norm(of_vit("fashion-hash", 1))),
}


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


(HERE / "weights.json").write_text(json.dumps(rounded(reference)) + "\n")
print("symmetry, directionality:", "the authors'" if SCORES else "transcribed",
      "- power law:", "the authors'" if LAWS else "transcribed")
