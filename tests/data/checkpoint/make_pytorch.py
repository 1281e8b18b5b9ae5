#!/usr/bin/python3
"""Writes the PyTorch files the reader's tests open. Needs torch; run it in this folder."""
import argparse
import collections
import dataclasses
import datetime
import functools
import io
import os
import pathlib
import pickle
import zipfile

import numpy as np
import torch

ramp = torch.arange(12, dtype=torch.float32).reshape(3, 4) / 4 - 1
shared = torch.arange(24, dtype=torch.float32)


def state_dict():
    state = collections.OrderedDict()
    for dtype in [torch.float64, torch.float32, torch.float16, torch.bfloat16]:
        state[str(dtype)] = ramp.to(dtype)
    for dtype in [torch.int64, torch.int32, torch.int16, torch.int8]:
        state[str(dtype)] = torch.arange(-2, 4, dtype=dtype)
    state["torch.uint8"] = torch.arange(250, 256, dtype=torch.uint8)
    state["torch.bool"] = torch.tensor([True, False, True])
    state["scalar"] = torch.tensor(2.5)
    state["empty"] = torch.zeros(0, 4)
    state["transposed"] = ramp.t().contiguous().t()
    state["every_second"] = shared[1::2]
    state["tail"] = shared[20:].view(2, 2)
    state["tied"] = shared
    state["expanded"] = torch.tensor([1.0, 2.0]).expand(3, 2)
    state["parameter"] = torch.nn.Parameter(ramp)
    state["steps"] = 7
    state._metadata = collections.OrderedDict({"": {"version": 1}})
    return state


torch.save(state_dict(), "zip.pt")
torch.save(state_dict(), "legacy.pt", _use_new_zipfile_serialization=False)
for protocol in [3, 4, 5]:
    torch.save(state_dict(), f"protocol{protocol}.pt", pickle_protocol=protocol)
torch.save(state_dict(), "legacy_protocol4.pt", pickle_protocol=4, _use_new_zipfile_serialization=False)
with zipfile.ZipFile("zip.pt") as source, zipfile.ZipFile("deflated.pt", "w", zipfile.ZIP_DEFLATED) as packed:
    for name in source.namelist():
        packed.writestr(name, source.read(name))

layer = collections.OrderedDict({"module.head.weight": ramp, "module.head.bias": torch.ones(3)})
for key in ["model", "state_dict", "model_state_dict", "net"]:
    torch.save(
        {
            "epoch": 3,
            "accuracy": 0.5,
            "arch": "deit_tiny",
            "args": argparse.Namespace(lr=0.001, device=torch.device("cpu"), size=torch.Size([2, 3])),
            key: layer,
            "optimizer": {"state": {0: {"exp_avg": torch.zeros(2)}}, "param_groups": [{"lr": 0.1}]},
        },
        f"under_{key}.pth",
    )
averaged = collections.OrderedDict((name, tensor * 2) for name, tensor in layer.items())
torch.save({"MODEL_EMA": averaged, "epoch": 3, "Model": layer, "optimizer": {"state": {0: {"exp_avg": torch.zeros(2)}}}},
           "averaged.pth")
torch.save({"student": layer, "teacher": averaged, "epoch": 3}, "dino.pth")
torch.save({"meta": {"epoch": 2}, "state_dict": {
    **layer, "module.steps": torch.tensor(5),
    **{"ema_" + name.replace(".", "_"): tensor * 3 for name, tensor in layer.items()}}}, "twins.pth")
for protocol in [2, 4]:
    torch.save({"model": layer, "best": np.float64(-0.7), "step": np.int64(300), "small": np.float32(1)},
               f"numpy_numbers{protocol}.pt", pickle_protocol=protocol)
torch.save({"model": layer, "curve": np.zeros(3)}, "numpy_array.pt")
torch.save({"encoder": {"w": ramp, "more": {0: ramp}}, "pair": [ramp, (ramp,)]}, "nested.pt")
torch.save(ramp, "tensor.pt")
torch.save(torch.nn.Linear(2, 2), "module.pt")


class Block(torch.nn.Module):
    """A module whose class the reader does not know: buffers saved and not, modules inside."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(ramp.clone())
        self.bias = None
        self.register_parameter("none", None)
        self.register_buffer("mean", torch.ones(2))
        self.register_buffer("mask", torch.zeros(2), persistent=False)
        self.inner = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.LayerNorm(2))
        self.comment = "not a weight"


@dataclasses.dataclass
class Config:
    n_head: int = 3
    block_size: int = 64
    act: str = "gelu"
    nested: dict = dataclasses.field(default_factory=lambda: {"a": 1})


class Listed(list):
    """A list of a class of its own, with attributes."""


torch.manual_seed(0)
block = Block()
torch.save(block, "unknown_module.pt")
torch.save(block.state_dict(), "unknown_module_state.pt")
# Tutorials save whole models like this: pickle writes each storage as a separate file of
# torch.save.
for protocol in [3, 4]:
    with open(f"dumped{protocol}.pkl", "wb") as f:
        pickle.dump(state_dict(), f, protocol=protocol)
with open("dumped_module.pkl", "wb") as f:
    pickle.dump(block, f)
torch.save(
    {
        "MODEL_STATE": layer,
        "path": pathlib.PosixPath("/home/someone/runs"),
        "config": Config(),
        "history": Listed([1, 2, 3]),
        "when": datetime.datetime(2024, 5, 6),
        "part": functools.partial(max, 3),
        "optimizer_tensors": functools.partial(max, ramp),
    },
    "opaque_beside.pt",
)
torch.save({"w": torch.quantize_per_tensor(ramp, 0.1, 0, torch.qint8)}, "quantized.pt")
torch.save({"w": ramp.to_sparse()}, "sparse.pt")
torch.save({"w": ramp.to(torch.complex64)}, "complex.pt")
torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), "scripted.pt")
with open("plain_pickle.pth", "wb") as f:
    pickle.dump({"w": [1.0, 2.0]}, f, protocol=2)


class Evil:
    """What an attacker writes: unpickling it would run a command."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


torch.save({"w": ramp, "x": Evil(os.system, "touch /tmp/attnscope-was-here")}, "evil_zip.pt")
torch.save({"w": ramp, "x": Evil(eval, "1 + 1")}, "evil_legacy.pt", _use_new_zipfile_serialization=False)
torch.save({"w": ramp, "x": Evil(exec, "pass")}, "evil_protocol4.pt", pickle_protocol=4)
