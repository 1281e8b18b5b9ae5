#!/usr/bin/python3
"""Writes recurrences.json: the outputs and maps of the authors' own plain code of forgetting attention and of
mechanisms that carry a state from token to token, for the tests to agree with. UPSTREAM is a folder with checkouts of

    github.com/fla-org/flash-linear-attention   fla/ops/NAME/naive.py
    github.com/state-spaces/mamba               mamba_ssm/modules/ssd_minimal.py   mamba2

Their functions are imported as they are; float() and torch.float32 mean float64 in them. Those of gla, gated-delta,
kda and the delta rule are loops over the tokens. Retention in both directions, which neither has, is written out
here. A map is the output for values that are 1 at one token and 0 at all others.

Inputs come from MT19937's raw output, exact in float32, so that the tests make the very same ones
(tests/support/reference_maps.cpp). With u of these numbers in [-2, 2), logarithms of decays are -|u| * factor, and
strengths (u + 2) / 4. Run: UPSTREAM=/path/to/checkouts /usr/bin/python3 make_recurrences.py
"""
import importlib.util
import json
import math
import os
import pathlib
import sys
from unittest import mock

import torch

from make_adder import rounded, uniform

UPSTREAM = pathlib.Path(os.environ.get("UPSTREAM", "."))
FLA = "flash-linear-attention/fla/ops"


# The patterns of einops in those functions, so that it is not needed. Queries have as many heads as keys.
PATTERNS = {
    "b t h d -> b t (h g) d": lambda x, g: x,
    "b t h -> b h t 1": lambda x: x.transpose(1, 2)[..., None],
    "b t h -> b h 1 t": lambda x: x.transpose(1, 2)[..., None, :],
    "b (c l) ... -> b c l ...": lambda x, l: x.unflatten(1, (-1, l)),
    "b c l h -> b h c l": lambda x: x.permute(0, 3, 1, 2),
    "... d -> ... d e": lambda x, e: x[..., None].expand(*x.shape, e),
    "b c l h p -> b (c l) h p": lambda x: x.flatten(1, 2),
}


def load(file):
    """A module of a checkout, without the packages around it."""
    einops = sys.modules.setdefault("einops", mock.MagicMock())
    einops.rearrange = einops.repeat = lambda x, pattern, **sizes: (
        [PATTERNS[pattern](one, **sizes) for one in x] if isinstance(x, (list, tuple)) else PATTERNS[pattern](x, **sizes))
    for name in ("fla", "fla.ops", "fla.ops.utils", "fla.ops.utils.head", "mamba_ssm", "mamba_ssm.ops",
                 "mamba_ssm.ops.triton", "mamba_ssm.ops.triton.ssd_combined"):
        sys.modules.setdefault(name, mock.MagicMock())
    sys.modules["fla.ops.utils.head"].get_gqa_group_size = lambda q, k: q.shape[2] // k.shape[2]
    spec = importlib.util.spec_from_file_location(file.replace("/", "_"), UPSTREAM / file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def of_length_one(x):
    return x / (x.pow(2).sum(-1, keepdim=True) + 1e-6).sqrt()


def run(mechanism, parameters, q, k, v, gates):
    """[B, N, H, d] to [B, N, H, dv]."""
    if mechanism == "retention-both-ways":
        n, heads = q.shape[1], q.shape[2]
        i = torch.arange(n)
        gammas = torch.tensor([1 - 2.0 ** (-5 - h) for h in range(heads)], dtype=q.dtype)
        decays = gammas[:, None, None] ** (i[:, None] - i[None]).abs()
        scores = torch.einsum("bihc,bjhc->bhij", q, k) / math.sqrt(q.shape[-1]) * decays
        return torch.einsum("bhij,bjhc->bihc", scores, v)
    if mechanism == "retention":
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        return load(f"{FLA}/retention/naive.py").naive_retention(q, k, v).transpose(1, 2)
    if mechanism == "forgetting":
        return load(f"{FLA}/forgetting_attn/naive.py").naive_forgetting_attn(q, k, v, gates["log_decay"])
    if mechanism == "gla":
        return load(f"{FLA}/gla/naive.py").naive_recurrent_gla(q, k, v, gates["log_decay"])[0]
    if mechanism == "mamba2":
        ssd = load("mamba/mamba_ssm/modules/ssd_minimal.py")
        q = q / math.sqrt(q.shape[-1])
        return ssd.ssd_minimal_discrete(v * gates["step"][..., None], gates["log_decay"], k, q, block_len=4)[0]
    q, k = of_length_one(q), of_length_one(k)
    if mechanism == "gated-delta" and parameters.get("rate") == 0:
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        beta = gates["beta"].transpose(1, 2)
        return load(f"{FLA}/delta_rule/naive.py").delta_rule_recurrence(q, k, v, beta)[0].transpose(1, 2)
    if mechanism == "gated-delta":
        rule = load(f"{FLA}/gated_delta_rule/naive.py").naive_recurrent_gated_delta_rule
        return rule(q, k, v, gates["beta"], gates["log_decay"])[0]
    return load(f"{FLA}/kda/naive.py").naive_recurrent_kda(q, k, v, gates["log_decay"], gates["beta"])[0]


def case(mechanism, n, heads, width, seed, gates=(), decay=0.25, parameters=None):
    q, k, v = (torch.from_numpy(uniform(seed + i, n, heads * width)).reshape(1, n, heads, width) for i in range(3))
    tensors, drawn = [], {}
    for index, (name, channels) in enumerate(gates):
        shape = [heads, n] + ([width] if channels else [])
        raw = torch.from_numpy(uniform(seed + 3 + index, 1, math.prod(shape))).reshape(shape)
        values = -raw.abs() * decay if name == "log_decay" else (raw + 2) / 4
        tensors.append({"name": name, "shape": shape, "seed": seed + 3 + index})
        drawn[name] = values.transpose(0, 1)[None]
    with mock.patch.object(torch.Tensor, "float", torch.Tensor.double), \
         mock.patch.object(torch, "float", torch.float64), mock.patch.object(torch, "float32", torch.float64):
        def output(values):
            return run(mechanism, parameters or {}, q, k, values, drawn)[0]
        maps = []
        for token in range(n):
            one = torch.zeros_like(v)
            one[:, token] = 1
            maps.append(output(one)[..., 0].T)
        result = {"mechanism": mechanism.removesuffix("-both-ways"), "n": n, "heads": heads, "width": width, "seed": seed,
                  "causal": not mechanism.endswith("-both-ways"), "decay": decay, "parameters": parameters or {},
                  "tensors": tensors, "output": rounded(output(v))}
        # The last rows are enough for long texts.
        result["first_row"] = max(n - 12, 0)
        result["map"] = rounded(torch.stack(maps, -1)[:, result["first_row"]:])
        return result


def main():
    per_token, per_channel = ("log_decay", False), ("log_decay", True)
    beta, step = ("beta", False), ("step", False)
    cases = [
        case("forgetting", 12, 2, 5, 2000, [per_token]),
        case("retention", 12, 3, 5, 2100),
        case("retention-both-ways", 12, 3, 5, 2110),
        case("gla", 12, 2, 5, 2200, [per_channel]),
        case("gla", 12, 1, 4, 2210, [per_channel], decay=64),
        case("mamba2", 12, 2, 5, 2300, [per_token, step]),
        case("gated-delta", 12, 2, 5, 2400, [per_token, beta]),
        case("gated-delta", 12, 2, 5, 2410, [beta], parameters={"rate": 0}),
        case("kda", 12, 2, 5, 2500, [per_channel, beta]),
        case("kda", 12, 1, 4, 2510, [per_channel, beta], decay=64),
    ]
    # Longer than a chunk of the program, and only one head, to keep the file small.
    cases += [case("gla", 80, 1, 3, 2600, [per_channel], decay=1 / 64),
              case("kda", 80, 1, 3, 2610, [per_channel, beta], decay=1 / 64),
              case("gated-delta", 80, 1, 3, 2620, [per_token, beta], decay=1 / 64)]
    path = pathlib.Path(__file__).with_name("recurrences.json")
    path.write_text(json.dumps({"torch": torch.__version__, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
