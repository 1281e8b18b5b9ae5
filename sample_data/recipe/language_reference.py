#!/usr/bin/python3
"""What the sample language models compute for a text, in NumPy and double precision, for the
program's tests to compare themselves with.

    python3 language_reference.py ../models ../inputs/20_prospero.txt ../reference

Written apart from the training code, straight from the equations: windows are masks here, and sums
over them whole sums.
"""

import json
import math
import pathlib
import sys

import h5py
import numpy as np

erf = np.vectorize(math.erf, otypes=[float])


def softmax(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def hide(scores, window=None):
    """Keys after the query, and those before its window, get no weight."""
    back = np.arange(scores.shape[-2])[:, None] - np.arange(scores.shape[-1])[None]
    return np.where((back >= 0) & (back < (window or len(back))), scores, -np.inf)


class Model:
    def __init__(self, path):
        with h5py.File(path) as file:
            self.name = file.attrs["name"]
            self.architecture = json.loads(file.attrs["architecture"])
            self.t = {name: tensor[...].astype(float) for name, tensor in file["tensors"].items()}
        self.characters = self.architecture["labels"]
        self.layer = self.architecture["layer"]
        self.head_count = self.layer["attention"]["heads"]

    def norm(self, x, name):
        centred = x - x.mean(-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(-1, keepdims=True) + self.layer["norm"]["eps"])
        return centred / deviation * self.t[name + ".weight"] + self.t[name + ".bias"]

    def heads(self, x):
        return x.reshape(len(x), self.head_count, -1).swapaxes(0, 1)

    def pool(self, x, vector, window):
        """Fastformer-LM, Eq. 9: the means [N, D], the weights [H, N, N], the logits [H, N]."""
        parts, w = self.heads(x), vector.reshape(self.head_count, 1, -1)
        logits = (parts * w).sum(-1) / math.sqrt(parts.shape[-1])
        weights = softmax(hide(np.repeat(logits[:, None], len(x), 1), window))
        return (weights @ parts).swapaxes(0, 1).reshape(x.shape), weights, logits

    def fastformer(self, x):
        maps, logits = [], []
        for layer, mechanism in enumerate(self.architecture["layer_mechanisms"]):
            block = f"fastformer_model.decoders.{layer}."
            a, window = block + "attention.", mechanism["parameters"]["window"]
            h = self.norm(x, a + "attn_norm")
            q, k, v = (h @ self.t[a + n + ".weight"].T for n in ("Wquery", "Wkeys", "Wvalues"))
            mean, weights, first = self.pool(q, self.t[a + "query_attn"], window)
            r = h + mean @ self.t[a + "attn_proj.weight"].T * k
            mean, _, second = self.pool(self.norm(r, a + "mid_norm"), self.t[a + "key_attn"], window)
            x = r + mean * v
            maps.append(weights)
            logits.append([first, second])
            hidden = self.norm(x, block + "boom_norm") @ self.t[block + "boom.weight"].T
            hidden = hidden * 0.5 * (1 + erf(hidden / math.sqrt(2)))
            x = x + hidden @ self.t[block + "unboom.weight"].T
        return x, maps, logits

    def gpt2(self, x):
        linear = lambda x, name: x @ self.t[name + ".weight"].T + self.t[name + ".bias"]
        maps = []
        for layer in range(self.architecture["layers"]):
            block = f"transformer.h.{layer}."
            q, k, v = np.split(linear(self.norm(x, block + "ln_1"), block + "attn.c_attn"), 3, -1)
            q, k, v = self.heads(q), self.heads(k), self.heads(v)
            maps.append(softmax(hide(q @ k.swapaxes(1, 2) / math.sqrt(q.shape[-1]))))
            mixed = (maps[-1] @ v).swapaxes(0, 1).reshape(x.shape)
            x = x + linear(mixed, block + "attn.c_proj")
            hidden = linear(self.norm(x, block + "ln_2"), block + "mlp.c_fc")
            inner = math.sqrt(2 / math.pi) * (hidden + 0.044715 * hidden**3)
            x = x + linear(0.5 * hidden * (1 + np.tanh(inner)), block + "mlp.c_proj")
        return self.norm(x, "transformer.ln_f"), maps, []

    def run(self, text):
        t, ids = self.t, [self.characters.index(character) for character in text]
        if self.layer["form"] == "fastformer":
            x = t["word_embedding.weight"][ids]
            x = x + t["fastformer_model.position_embeddings.weight"][: len(ids)]
            x, maps, logits = self.fastformer(self.norm(x, "fastformer_model.LayerNorm"))
            scores = x @ t["word_embedding.weight"].T + t["proj_logits.bias"]
            return scores / math.sqrt(x.shape[-1]), maps, logits
        x = t["transformer.wte.weight"][ids] + t["transformer.wpe.weight"][: len(ids)]
        x, maps, logits = self.gpt2(x)
        return x @ t["transformer.wte.weight"].T, maps, logits


def main(models_folder, text_path, out_folder):
    text = pathlib.Path(text_path).read_text()
    for path in sorted(pathlib.Path(models_folder).glob("shakespeare-*.h5")):
        model = Model(path)
        scores, maps, logits = model.run(text)
        kept = [0, len(maps) - 1]
        np.savez_compressed(
            pathlib.Path(out_folder) / f"{model.name}.npz",
            logits=scores,
            layers=np.array(kept),
            implied_maps=np.stack([maps[layer][:2] for layer in kept]).astype(np.float32),
            importance_logits=np.array(logits).astype(np.float32),
        )
        print(model.name, repr(model.characters[scores[-1].argmax()]))


if __name__ == "__main__":
    main(*sys.argv[1:])
