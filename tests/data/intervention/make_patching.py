#!/usr/bin/python3
"""What PyTorch computes, in double precision, when three small models run on ten tokens with parts of
their run on ten others: activation patching as TransformerLens defines it (patching.py: z, pattern,
resid_pre, attn_out, mlp_out) and path patching as Wang et al. 2022 do (App. B).

    python3 make_patching.py > patching.json

The models are those of ../models/make_families.py, whose functions are watched at every projection and
norm: their tensors are read, or overwritten in place.
"""

import json
import pathlib
import sys

import torch

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "models"))
import make_families  # noqa: E402
from references import eleuther, llama  # noqa: E402

OWN = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]
OTHER = [3, 1, 8, 1, 5, 20, 2, 11, 5, 3]
ANSWER, AGAINST = 12, 25


class Watch(make_families.Weights):
    """Shows named points of a run to `see(point, layer, tensor)`, which may change the tensor."""

    def __init__(self, names, see):
        super().__init__()
        self.names, self.see = names, see

    def show(self, name, side, tensor):
        for point, (pattern, of, columns) in self.names.items():
            for layer in range(8):
                if of == side and name == pattern.format(layer):
                    self.see(point, layer, columns(tensor) if columns else tensor)

    def linear(self, x, name, out, **more):
        self.show(name, "in", x)
        y = super().linear(x, name, out, **more)
        self.show(name, "out", y)
        return y

    def norm(self, x, name, eps, **more):
        self.show(name, "in", x)
        return super().norm(x, name, eps, **more)


class Maps(list):
    """The maps of all layers, each seen before it weighs the values."""

    def __init__(self, see):
        super().__init__()
        self.see = see

    def append(self, map):
        self.see("map", len(self), map)
        super().append(map)


def third(index, heads=None):
    """A third of the columns; with `heads`, of each head."""

    def columns(x):
        if heads is None:
            return x.chunk(3, -1)[index]
        each = x.view(len(x), heads, 3, -1)
        return each[:, :, index]

    return columns


MODELS = {
    "hugging_face_gpt2": {
        "run": lambda w, ids, maps: make_families.gpt2(w, ids, maps, by_layer=True),
        "heads": 4, "key_heads": 4, "layers": 3,
        "names": {
            "residual": ("transformer.h.{}.ln_1", "in", None),
            "query": ("transformer.h.{}.attn.c_attn", "out", third(0)),
            "key": ("transformer.h.{}.attn.c_attn", "out", third(1)),
            "value": ("transformer.h.{}.attn.c_attn", "out", third(2)),
            "heads": ("transformer.h.{}.attn.c_proj", "in", None),
            "attention": ("transformer.h.{}.attn.c_proj", "out", None),
            "mlp": ("transformer.h.{}.mlp.c_proj", "out", None),
        },
    },
    "hugging_face_llama": {
        "run": lambda w, ids, maps: llama.llama(w, ids, maps),
        "heads": 4, "key_heads": 2, "layers": 2,
        "names": {
            "residual": ("model.layers.{}.input_layernorm", "in", None),
            "query": ("model.layers.{}.self_attn.q_proj", "out", None),
            "key": ("model.layers.{}.self_attn.k_proj", "out", None),
            "value": ("model.layers.{}.self_attn.v_proj", "out", None),
            "heads": ("model.layers.{}.self_attn.o_proj", "in", None),
            "attention": ("model.layers.{}.self_attn.o_proj", "out", None),
            "mlp": ("model.layers.{}.mlp.down_proj", "out", None),
        },
    },
    "hugging_face_gpt_neox": {  # attention and MLP side by side
        "run": lambda w, ids, maps: eleuther.gpt_neox(w, ids, maps),
        "heads": 4, "key_heads": 4, "layers": 2,
        "names": {
            "residual": ("gpt_neox.layers.{}.input_layernorm", "in", None),
            "query": ("gpt_neox.layers.{}.attention.query_key_value", "out", third(0, 4)),
            "key": ("gpt_neox.layers.{}.attention.query_key_value", "out", third(1, 4)),
            "value": ("gpt_neox.layers.{}.attention.query_key_value", "out", third(2, 4)),
            "heads": ("gpt_neox.layers.{}.attention.dense", "in", None),
            "attention": ("gpt_neox.layers.{}.attention.dense", "out", None),
            "mlp": ("gpt_neox.layers.{}.mlp.dense_4h_to_h", "out", None),
        },
    },
}


def run(model, ids, see=lambda *point: None):
    w = Watch(model["names"], see)
    plain = llama.rms

    def watched(w, x, name, *more):
        w.show(name, "in", x)
        return plain(w, x, name, *more)

    llama.rms = watched
    try:
        logits = model["run"](w, torch.tensor(ids), Maps(see))[-1]
    finally:
        llama.rms = plain
    return float(logits[ANSWER] - logits[AGAINST])


def cached(model, ids):
    cache = {}
    difference = run(model, ids, lambda point, layer, x: cache.__setitem__((point, layer), x.clone()))
    return difference, cache


def head_of(x, head, heads):
    """A view of a head's columns; a tensor of GPT-NeoX has the heads as a dimension."""
    return x[:, head] if x.dim() == 3 else x.view(len(x), heads, -1)[:, head] if x.is_contiguous() else x.chunk(heads, -1)[head]


def put(x, given, point, place, heads):
    """Overwrites one head, at some positions, or one position."""
    if point == "map":
        x[place["head"], place["rows"]] = given[place["head"], place["rows"]]
    elif point == "heads":
        head_of(x, place["head"], heads)[place["rows"]] = head_of(given, place["head"], heads)[place["rows"]]
    else:
        x[place["rows"]] = given[place["rows"]]


def patched(model, point, layer, place, other):
    def see(at, i, x):
        if (at, i) == (point, layer):
            put(x, other[point, layer], point, place, model["heads"])

    return run(model, OWN, see)


def path_patched(model, point, layer, place, receivers, own, other, through_mlps=True):
    received = {}

    def direct(at, i, x):
        if at == "heads" or (at == "mlp" and not through_mlps):
            x[:] = own[at, i]
        if (at, i) == (point, layer):
            put(x, other[point, layer], point, place, model["heads"])
        for r in receivers:
            if r[:2] == (at, i):
                received[r] = head_of(x, r[2], heads_at(model, at)).clone()

    end = run(model, OWN, direct)
    if not receivers:
        return end

    def receive(at, i, x):
        for r in receivers:
            if r[:2] == (at, i):
                head_of(x, r[2], heads_at(model, at))[:] = received[r]

    return run(model, OWN, receive)


def heads_at(model, point):
    return model["heads"] if point == "query" else model["key_heads"]


def numbers_of(model):
    corrupted, own = cached(model, OWN)
    clean, other = cached(model, OTHER)
    layers, every = range(model["layers"]), slice(None)
    heads, positions = range(model["heads"]), range(len(OWN))
    found = {"corrupted": corrupted, "clean": clean}
    for part, point in (("head-output", "heads"), ("map", "map")):
        found[part] = [[patched(model, point, i, {"head": h, "rows": every}, other) for h in heads] for i in layers]
        rows = [9]
        found[part + " at 9"] = [[patched(model, point, i, {"head": h, "rows": rows}, other) for h in heads] for i in layers]
    for part in ("residual", "attention", "mlp"):
        found[part] = [[patched(model, part, i, {"rows": n}, other) for i in layers] for n in positions]
    last = model["layers"] - 1

    def paths(receivers, senders, **more):
        return [[path_patched(model, "heads", i, {"head": h, "rows": every}, receivers, own, other, **more)
                 for h in heads] for i in senders]

    found["to end"] = paths([], layers)
    found["to end, frozen MLPs"] = paths([], layers, through_mlps=False)
    for point in ("query", "key", "value"):
        found[f"to {last}.1.{point}"] = paths([(point, last, 1)], range(last))
    both = [("query", last, 0), ("value", last, 1)]
    found[f"to {last}.0.query,{last}.1.value"] = paths(both, range(last))
    found["mlp to end"] = [[path_patched(model, "mlp", i, {"rows": n}, [], own, other) for i in layers] for n in positions]
    return found


if __name__ == "__main__":
    # Watching a run must not change it.
    for model in MODELS.values():
        assert run(model, OWN) == cached(model, OWN)[0]
    found = {name: numbers_of(model) for name, model in MODELS.items()}
    lines = ",\n".join(f'"{name}": {{\n' + ",\n".join(f'"{key}": {json.dumps(value)}' for key, value in numbers.items()) + "}"
                       for name, numbers in found.items())
    print(f'{{"input": {OWN}, "from": {OTHER}, "answer": {ANSWER}, "against": {AGAINST}, "models": {{\n{lines}}}}}')
