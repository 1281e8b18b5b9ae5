#!/usr/bin/python3
"""Writes the Flax file the reader's tests open, as flax.serialization does. Needs NumPy and msgpack (python3-msgpack);
run it in this folder."""
import msgpack
import numpy as np

ramp = np.arange(12, dtype=np.float32).reshape(3, 4) / 4 - 1


def packed(array, name=None):
    return msgpack.packb((array.shape, name or array.dtype.name, array.tobytes("C")), use_bin_type=True)


def array(values, name=None):
    return msgpack.ExtType(1, packed(values, name))


def chunked(values, size):
    flat = values.reshape(-1)
    chunks = [flat[i:i + size] for i in range(0, flat.size, size)]
    return {"__msgpack_chunked_array__": True, "shape": {str(i): n for i, n in enumerate(values.shape)},
            "chunks": {str(i): array(chunk) for i, chunk in enumerate(chunks)}}


bf16 = (ramp.view(np.uint32) >> 16).astype("<u2")
types = {f"dense_{name}": array(ramp.astype(name)) for name in ["float64", "float32", "float16"]}
integers = {f"n_{name}": array(np.arange(3, dtype=name)) for name in
            ["int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8"]}
tree = {
    "params": {
        "encoder": {"layer": {"0": {"kernel": array(ramp), "bias": array(ramp[0]), "scale": array(bf16, "bfloat16"), **types}}},
        "embedding": chunked(ramp, 5),
        "flags": array(np.array([True, False])),
        **integers,
    },
    "step": 300,
    "rate": 1e-3,
    "count": msgpack.ExtType(3, packed(np.asarray(np.int64(7)))),
    "root": msgpack.ExtType(2, msgpack.packb((1.0, 2.0))),
    "note": "é" * 20,
    "nothing": None,
    "negative": [-1, -100, -1000, -100000, 1 << 40, True],
}
with open("flax.msgpack", "wb") as f:
    f.write(msgpack.packb(tree, strict_types=True))
for name, value in [("complex", array(ramp.astype("c8"))), ("other", msgpack.ExtType(9, b"12"))]:
    with open(f"{name}.msgpack", "wb") as f:
        f.write(msgpack.packb({"params": {"a": value}}))
