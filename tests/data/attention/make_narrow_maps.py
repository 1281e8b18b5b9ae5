#!/usr/bin/python3
"""Writes narrow_maps.json: the outputs and maps of the authors' own attention modules whose maps are products
of narrow matrices, for the tests to agree with. UPSTREAM is a folder with checkouts of

    github.com/LeapLabTHU/FLatten-Transformer   models/flatten_pvt.py          focused
    github.com/LeapLabTHU/InLine                models/inline_deit.py          inline
    github.com/UCDvision/sima                   sima.py                        sima
    github.com/LeapLabTHU/Agent-Attention       agent_transformer/models/agent_deit.py   agent
    github.com/qhfan/RALA                       classfication/RALA.py          rala, whose gate of the output is 1
    github.com/LeapLabTHU/MLLA                  models/mlla.py                 mlla
    github.com/mlpen/Nystromformer              LRA/code/attention_nystrom.py (nystrom) and
        ImageNet/T2T-ViT/models/token_nystromformer.py (nystrom with divisor=head, whose output has the values added)
    github.com/fudan-zvg/SOFT                   models/softmax_free_transformer.py, SOFT/kernel/inverse.py   soft, whose
        compiled distances are those of its PyTorch code, and whose landmarks are means where the layer has no kernel

Their modules are imported as they are, in float64. Only the linear layers around the core are replaced, so that
queries, keys and values are the tests' own, and timm's names, which the core does not use. Biases of
convolutions are 0. A map is the module's output for values that are 1 at one token and 0 at all others.

Inputs come from MT19937's raw output, exact in float32, so that the tests make the very same ones
(tests/support/reference_maps.cpp). Run: UPSTREAM=/path/to/checkouts /usr/bin/python3 make_narrow_maps.py
"""
import importlib.util
import json
import os
import pathlib
import sys
import types
from unittest import mock

import torch

from make_adder import uniform

UPSTREAM = pathlib.Path(os.environ.get("UPSTREAM", "."))


def load(file):
    """A module of a checkout, with its neighbours but without its package's __init__."""
    for name in ("timm", "timm.data", "timm.models", "timm.models.helpers", "timm.models.layers",
                 "timm.models.registry", "timm.models.vision_transformer", "einops", "einops.layers",
                 "einops.layers.torch", "fvcore", "fvcore.nn"):
        sys.modules.setdefault(name, mock.MagicMock())
    path = UPSTREAM / file
    package = types.ModuleType(path.parts[-3].replace("-", "_") + path.parts[-2])
    package.__path__ = [str(path.parent)]
    sys.modules[package.__name__] = package
    # Nyströmformer's module for images imports a file of another repository, which it does not use.
    sys.modules.setdefault(f"{package.__name__}.transformer_block", mock.MagicMock())
    spec = importlib.util.spec_from_file_location(f"{package.__name__}.{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Fixed(torch.nn.Module):
    """A layer with this output."""

    def __init__(self, output):
        super().__init__()
        self.output = output

    def forward(self, *_):
        return self.output.clone()


def numbers(shape, seed, factor=1.0):
    count = 1
    for extent in shape:
        count *= extent
    return factor * torch.from_numpy(uniform(seed, 1, count)).reshape(shape)


def rounded(values):
    return [float(f"{value:.7g}") for value in values.flatten().tolist()]


def set_parameter(parameter, values):
    with torch.no_grad():
        parameter.copy_(values.reshape(parameter.shape))


def make_focused(case, heads, channels, grid, tensors):
    module = load("FLatten-Transformer/models/flatten_pvt.py").FocusedLinearAttention(
        channels, grid[0] * grid[1], heads, focusing_factor=case["parameters"].get("power", 3),
        kernel_size=tensors["dwc"].shape[-1] if "dwc" in tensors else 3).double()
    for name in ("scale", "positional_encoding"):
        if name in tensors:
            set_parameter(getattr(module, name), tensors[name])
    set_parameter(module.dwc.weight, tensors.get("dwc", torch.zeros_like(module.dwc.weight)))
    set_parameter(module.dwc.bias, torch.zeros_like(module.dwc.bias))

    def run(q, k, v):
        module.q, module.kv, module.proj = Fixed(q), Fixed(torch.cat([k, v], -1)), torch.nn.Identity()
        return module(q, *grid)
    return run


def make_inline(case, heads, channels, grid, tensors):
    module = load("InLine/models/inline_deit.py").InLineAttention(channels, heads).double()
    kernels = tensors.get("dwc", torch.zeros(channels, 3, 3, dtype=torch.float64))
    module.residual, module.proj = Fixed(kernels), torch.nn.Identity()

    def run(q, k, v):
        module.qkv = Fixed(torch.cat([q, k, v], -1))
        return module(q)
    return run


def make_sima(case, heads, channels, grid, tensors):
    module = load("sima/sima.py").SimA(channels, heads).double()
    module.proj = torch.nn.Identity()

    def run(q, k, v):
        module.qkv = Fixed(torch.cat([q, k, v], -1))
        return module(q)
    return run


class Recorded(torch.nn.Module):
    """A softmax that keeps its arguments."""

    def __init__(self):
        super().__init__()
        self.arguments = []

    def forward(self, scores):
        self.arguments.append(scores)
        return scores.softmax(-1)


def make_agent(case, heads, channels, grid, tensors):
    module = load("Agent-Attention/agent_transformer/models/agent_deit.py").AgentAttention(
        channels, heads, agent_num=case["parameters"]["agents"], window=grid[0]).double()
    module.proj, module.softmax = torch.nn.Identity(), Recorded()
    set_parameter(module.dwc.weight, tensors.get("dwc", torch.zeros_like(module.dwc.weight)))
    set_parameter(module.dwc.bias, torch.zeros_like(module.dwc.bias))

    def run(q, k, v):
        module.qkv = Fixed(torch.cat([q, k, v], -1))
        return module(q)

    # The eight tables of biases are drawn here. Without queries and keys the scores are their sums.
    tables = sorted(name for name, _ in module.named_parameters() if name.endswith("_bias"))
    for index, name in enumerate(tables):
        table = getattr(module, name)
        set_parameter(table, numbers(table.shape, case["seed"] + 20 + index, 0.3))
    nothing = torch.zeros(1, 1 + grid[0] * grid[1], channels, dtype=torch.float64)
    run(nothing, nothing, nothing)
    for name, biases in zip(("an", "na"), module.softmax.arguments):
        case["tensors"].append({"name": name, "shape": list(biases.shape[1:]), "values": rounded(biases)})
    return run


def make_nystrom(case, heads, channels, grid, tensors):
    n, width, landmarks = grid[0] * grid[1], channels // heads, case["parameters"]["landmarks"]
    if case["parameters"].get("divisor") == "head":
        module = load("Nystromformer/ImageNet/T2T-ViT/models/token_nystromformer.py").NysAttention(
            width, heads, in_dim=width, num_landmarks=landmarks).double()
        module.proj = torch.nn.Identity()

        def run(q, k, v):
            module.qkv = Fixed(torch.cat([q, k, v], -1))
            return module(q) - v
        return run
    module = load("Nystromformer/LRA/code/attention_nystrom.py").NystromAttention(
        {"head_dim": width, "num_head": heads, "num_landmarks": landmarks, "seq_len": n})

    def run(q, k, v):
        q, k, v = (x.reshape(1, n, heads, width).transpose(1, 2) for x in (q, k, v))
        return module(q, k, v, torch.ones(1, n, dtype=torch.float64)).transpose(1, 2).reshape(1, n, channels)
    return run


def set_lepe(module, channels, tensors):
    set_parameter(module.lepe.weight, tensors.get("dwc", torch.zeros_like(module.lepe.weight)))
    set_parameter(module.lepe.bias, torch.zeros_like(module.lepe.bias))


def make_rala(case, heads, channels, grid, tensors):
    upstream = load("RALA/classfication/RALA.py")
    # Without einops: the module splits into projections and heads, and joins the heads.
    upstream.rearrange = lambda x, pattern, **sizes: (
        x.reshape(1, 3, heads, channels // heads, -1).permute(1, 0, 2, 4, 3) if "m" in sizes
        else x.transpose(2, 3).reshape(1, channels, *grid))
    module = upstream.GateLinearAttentionNoSilu(channels, heads).double()
    module.proj = torch.nn.Identity()
    set_lepe(module, channels, tensors)
    sine, cosine = upstream.RoPE(channels, heads).double()(grid)

    def run(q, k, v):
        ones = torch.ones_like(v)  # the gate of the output
        module.qkvo = Fixed(torch.cat([q, k, v, ones], -1).transpose(1, 2).reshape(1, 4 * channels, *grid))
        return module(v.transpose(1, 2).reshape(1, channels, *grid), sine, cosine).flatten(2).transpose(1, 2)
    return run


def make_mlla(case, heads, channels, grid, tensors):
    module = load("MLLA/models/mlla.py").LinearAttention(channels, grid, heads)
    set_lepe(module, channels, tensors)

    def run(q, k, v):
        module.qk = Fixed(torch.cat([q, k], -1).float())  # its rotation makes everything float32
        return module(v.float()).double()
    return run


class Means(torch.nn.Module):
    """Means of areas of side × side, in the place of a landmark convolution."""

    def __init__(self, side):
        super().__init__()
        self.pool = torch.nn.AvgPool2d(side)

    def forward(self, x):
        return self.pool(x)


def make_soft(case, heads, channels, grid, tensors):
    side = grid[0] // round(case["parameters"]["landmarks"] ** 0.5)
    sys.modules.setdefault("SOFT", types.ModuleType("SOFT"))
    sys.modules.setdefault("SOFT.kernel", types.ModuleType("SOFT.kernel"))
    sys.modules.setdefault("SOFT.kernel.subtraction", mock.MagicMock())
    inverse = load("SOFT/SOFT/kernel/inverse.py")
    sys.modules["SOFT.kernel.inverse"] = inverse
    upstream = load("SOFT/models/softmax_free_transformer.py")
    upstream.newton_inverse_kernel = inverse.newton_inv  # without the check that it runs on a GPU
    module = upstream.SoftmaxFreeAttentionKernel(channels, heads, side, 3, kernel_method="torch").double()
    if "landmark_kernel" in tensors:
        set_parameter(module.Qlandmark_op.weight, tensors["landmark_kernel"])
        set_parameter(module.Qnorm_act[0].weight, tensors["landmark_norm"][0])
        set_parameter(module.Qnorm_act[0].bias, tensors["landmark_norm"][1])
    else:
        module.Qlandmark_op, module.Qnorm_act = Means(side), torch.nn.Identity()
    # Channels of a head share their kernel: the first one's.
    kernels = tensors.get("dwc", torch.zeros(channels, 3, 3, dtype=torch.float64))
    set_parameter(module.conv.weight, kernels[::channels // heads])

    def run(q, k, v):
        q, v = (x.reshape(1, -1, heads, channels // heads).transpose(1, 2) for x in (q, v))
        with mock.patch.object(torch.Tensor, "cuda", lambda self: self.double()):
            return module(q, v, *grid).transpose(1, 2).reshape(1, -1, channels)
    return run


MAKERS = {"focused": make_focused, "inline": make_inline, "sima": make_sima, "agent": make_agent,
          "nystrom": make_nystrom, "soft": make_soft, "rala": make_rala, "mlla": make_mlla}


def case(mechanism, grid, heads, width, seed, prefix=0, factor=1, parameters=None, tensors=None):
    """`tensors` has shapes and factors; they are drawn from seed + 3, seed + 4, … in the order of their names."""
    result = {"mechanism": mechanism, "rows": grid[0], "columns": grid[1], "prefix": prefix, "heads": heads,
              "width": width, "seed": seed, "factor": factor, "parameters": parameters or {},
              "tensors": [{"name": name, "shape": list(shape), "seed": seed + 3 + i, "factor": scale}
                          for i, (name, (shape, scale)) in enumerate(sorted((tensors or {}).items()))]}
    drawn = {one["name"]: numbers(one["shape"], one["seed"], one["factor"]) for one in result["tensors"]}
    n, channels = prefix + grid[0] * grid[1], heads * width
    q, k, v = (numbers([1, n, channels], seed + i) for i in range(3))
    with torch.no_grad():
        run = MAKERS[mechanism](result, heads, channels, grid, drawn)
        result["output"] = rounded(run(factor * q, k, v))
        # Without T the channels of a head have one map; with T the first channel's is kept.
        columns = []
        for token in range(n):
            one = torch.zeros_like(v)
            one[:, token] = 1
            columns.append(run(factor * q, k, one)[0, :, ::width].T)
        result["map"] = rounded(torch.stack(columns, -1))
    return result


def main():
    cases = [
        case("focused", (3, 4), 2, 4, 1000),
        case("focused", (3, 3), 2, 6, 1010, factor=0.1, parameters={"power": 4}),
        case("focused", (4, 4), 2, 4, 1020, parameters={"term": True},
             tensors={"dwc": ((4, 5, 5), 0.2), "scale": ((1, 1, 8), 1), "positional_encoding": ((1, 16, 8), 0.5)}),
        case("inline", (3, 3), 2, 4, 1100, prefix=1),
        case("inline", (3, 3), 1, 6, 1110, prefix=1, factor=5),
        case("inline", (4, 4), 2, 4, 1120, prefix=1, parameters={"term": True}, tensors={"dwc": ((8, 3, 3), 0.2)}),
        case("sima", (3, 3), 2, 4, 1200),
        case("sima", (1, 3), 1, 6, 1210, factor=5),
        case("agent", (5, 5), 1, 4, 1300, prefix=1, parameters={"agents": 4}),
        case("agent", (4, 4), 2, 4, 1340, prefix=1, factor=4, parameters={"agents": 9, "term": True},
             tensors={"dwc": ((8, 3, 3), 0.2)}),
        case("nystrom", (1, 12), 2, 4, 1400, parameters={"landmarks": 4}),
        case("nystrom", (1, 12), 2, 4, 1410, factor=4, parameters={"landmarks": 6}),
        case("nystrom", (1, 8), 2, 4, 1420, parameters={"landmarks": 8}),
        case("nystrom", (1, 14), 1, 4, 1430, parameters={"landmarks": 4, "divisor": "head"}),
        case("soft", (4, 4), 2, 4, 1440, parameters={"landmarks": 4}),
        case("soft", (6, 6), 2, 4, 1450, factor=3, parameters={"landmarks": 9},
             tensors={"landmark_kernel": ((4, 4, 2, 2), 0.5), "landmark_norm": ((2, 4), 1)}),
        case("soft", (4, 4), 3, 1, 1460, parameters={"landmarks": 4, "term": True}, tensors={"dwc": ((3, 3, 3), 0.2)}),
        case("rala", (3, 4), 2, 8, 1500),
        case("rala", (4, 3), 1, 8, 1510, factor=3, parameters={"term": True}, tensors={"dwc": ((8, 5, 5), 0.2)}),
        case("mlla", (3, 3), 2, 4, 1600),
        case("mlla", (4, 4), 1, 8, 1610, factor=3, parameters={"term": True}, tensors={"dwc": ((8, 3, 3), 0.2)}),
    ]
    path = pathlib.Path(__file__).with_name("narrow_maps.json")
    path.write_text(json.dumps({"torch": torch.__version__, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
