#!/usr/bin/python3
"""Writes the GGUF files the reader's tests open. Needs NumPy; run it in this folder.

The file format follows ggml's docs/gguf.md, the blocks the layouts of ggml-common.h; what the blocks
mean is written once more here, an element at a time, and stands in quantised.npz."""
import struct

import numpy as np

U8, I8, U16, I16, U32, I32, F32, BOOL, TEXT, LIST, U64, I64, F64 = range(13)
NUMBERS = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "B",
           U64: "Q", I64: "q", F64: "d"}


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def value_bytes(kind, value):
    if kind == TEXT:
        return text(value)
    if kind == LIST:
        item, values = value
        return struct.pack("<IQ", item, len(values)) + b"".join(value_bytes(item, v) for v in values)
    return struct.pack("<" + NUMBERS[kind], value)


def write(name, keys, tensors, version=3, alignment=32):
    """tensors: name → (shape as NumPy has it, ggml type, bytes)"""
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(keys))
    for key, (kind, value) in keys.items():
        head += text(key) + struct.pack("<I", kind) + value_bytes(kind, value)
    data = b""
    for tensor, (shape, kind, content) in tensors.items():
        head += text(tensor) + struct.pack("<I", len(shape))
        head += b"".join(struct.pack("<Q", extent) for extent in reversed(shape))
        head += struct.pack("<IQ", kind, len(data))
        data += content + b"\0" * (-len(content) % alignment)
    with open(name, "wb") as f:
        f.write(head + b"\0" * (-len(head) % alignment) + data)


rng = np.random.default_rng(7)


def half(size):
    """A scale as they occur, as two bytes."""
    return (np.float16(rng.normal() * size)).tobytes()


def some_bytes(count):
    return rng.integers(0, 256, count, dtype=np.uint8).tobytes()


# Each layout is (ggml's number, elements, a random block, the values of a block in float32).
f16 = lambda b, at: np.float32(np.frombuffer(b[at:at + 2], np.float16)[0])
i8 = lambda byte: byte - 256 if byte > 127 else byte


def q8_0(b):
    return [f16(b, 0) * np.float32(i8(b[2 + i])) for i in range(32)]


def nibble(b, start, i):  # half a byte of a block of 32
    return b[start + i] & 15 if i < 16 else b[start + i - 16] >> 4


def q4_0(b):
    return [f16(b, 0) * np.float32(nibble(b, 2, i) - 8) for i in range(32)]


def q4_1(b):
    return [f16(b, 0) * np.float32(nibble(b, 4, i)) + f16(b, 2) for i in range(32)]


def fifth(b, start, i):
    return (int.from_bytes(b[start:start + 4], "little") >> i & 1) << 4


def q5_0(b):
    return [f16(b, 0) * np.float32((nibble(b, 6, i) | fifth(b, 2, i)) - 16) for i in range(32)]


def q5_1(b):
    return [f16(b, 0) * np.float32(nibble(b, 8, i) | fifth(b, 4, i)) + f16(b, 2) for i in range(32)]


def pair(b, start, i):  # 2 bits of two halves of 128 elements, each with four groups of 32
    return b[start + 32 * (i // 128) + i % 32] >> (2 * (i % 128 // 32)) & 3


def q2_k(b):
    d, least = f16(b, 80), f16(b, 82)
    return [d * np.float32(b[i // 16] & 15) * np.float32(pair(b, 16, i))
            - least * np.float32(b[i // 16] >> 4) for i in range(256)]


def q3_k(b):
    d, scales = f16(b, 108), b[96:108]
    values = []
    for i in range(256):
        group = i // 16
        low = scales[group % 8] >> (4 * (group // 8)) & 15
        high = scales[8 + group % 4] >> (2 * (group // 4)) & 3
        code = pair(b, 32, i) - (0 if b[i % 32] >> (i // 32) & 1 else 4)
        values.append(d * np.float32((low | high << 4) - 32) * np.float32(code))
    return values


def scale_and_minimum(packed, group):
    if group < 4:
        return packed[group] & 63, packed[group + 4] & 63
    return (packed[group + 4] & 15 | packed[group - 4] >> 6 << 4,
            packed[group + 4] >> 4 | packed[group] >> 6 << 4)


def long_nibble(b, start, i):  # the low halves of each 32 bytes, then the high ones
    return b[start + 32 * (i // 64) + i % 32] >> (4 * (i % 64 // 32)) & 15


def q4_k(b):
    values = []
    for i in range(256):
        scale, least = scale_and_minimum(b[4:16], i // 32)
        values.append(f16(b, 0) * np.float32(scale) * np.float32(long_nibble(b, 16, i))
                      - f16(b, 2) * np.float32(least))
    return values


def q5_k(b):
    values = []
    for i in range(256):
        scale, least = scale_and_minimum(b[4:16], i // 32)
        code = long_nibble(b, 48, i) | (b[16 + i % 32] >> (i // 32) & 1) << 4
        values.append(f16(b, 0) * np.float32(scale) * np.float32(code)
                      - f16(b, 2) * np.float32(least))
    return values


def q6_k(b):
    values = []
    for i in range(256):
        half_, j = divmod(i, 128)
        low = b[64 * half_ + j % 64] >> (4 * (j // 64)) & 15
        high = b[128 + 32 * half_ + j % 32] >> (2 * (j // 32)) & 3
        scale = i8(b[192 + i // 16])
        values.append(f16(b, 208) * np.float32(scale) * np.float32((low | high << 4) - 32))
    return values


UNEVEN = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113]
E2M1 = [0, .5, 1, 1.5, 2, 3, 4, 6]


def iq4_nl(b):
    return [f16(b, 0) * np.float32(UNEVEN[nibble(b, 2, i)]) for i in range(32)]


def iq4_xs(b):
    values = []
    for i in range(256):
        group, j = divmod(i, 32)
        low = b[4 + group // 2] >> (4 * (group % 2)) & 15
        high = int.from_bytes(b[2:4], "little") >> (2 * group) & 3
        values.append(f16(b, 0) * np.float32((low | high << 4) - 32) * np.float32(UNEVEN[nibble(b, 8 + 16 * group, j)]))
    return values


def mxfp4(b):
    codes = [nibble(b, 1, i) for i in range(32)]
    return [np.float32(np.ldexp(E2M1[code % 8] * (-1 if code > 7 else 1), b[0] - 127)) for code in codes]


LAYOUTS = {
    "q4_0": (2, 32, lambda: half(.1) + some_bytes(16), q4_0),
    "q4_1": (3, 32, lambda: half(.1) + half(1) + some_bytes(16), q4_1),
    "q5_0": (6, 32, lambda: half(.1) + some_bytes(20), q5_0),
    "q5_1": (7, 32, lambda: half(.1) + half(1) + some_bytes(20), q5_1),
    "q8_0": (8, 32, lambda: half(.01) + some_bytes(32), q8_0),
    "q2_k": (10, 256, lambda: some_bytes(80) + half(.01) + half(.01), q2_k),
    "q3_k": (11, 256, lambda: some_bytes(108) + half(.01), q3_k),
    "q4_k": (12, 256, lambda: half(.01) + half(.01) + some_bytes(140), q4_k),
    "q5_k": (13, 256, lambda: half(.01) + half(.01) + some_bytes(172), q5_k),
    "q6_k": (14, 256, lambda: some_bytes(208) + half(.001), q6_k),
    "iq4_nl": (20, 32, lambda: half(.01) + some_bytes(16), iq4_nl),
    "iq4_xs": (23, 256, lambda: half(.001) + some_bytes(134), iq4_xs),
    "mxfp4": (39, 32, lambda: bytes(rng.integers(0, 3, 1, np.uint8) * 60) + some_bytes(16), mxfp4),
}

if __name__ == "__main__":
    keys = {
        "general.architecture": (TEXT, "llama"),
        "general.alignment": (U32, 64),
        "u8": (U8, 200), "i8": (I8, -2), "u16": (U16, 60000), "i16": (I16, -300), "i32": (I32, -7),
        "u64": (U64, 1 << 40), "i64": (I64, -(1 << 40)), "f32": (F32, .5), "f64": (F64, 1e-5),
        "huge": (U64, 1 << 63), "yes": (BOOL, 1),
        "long": (TEXT, "x" * 300),
        "numbers": (LIST, (F32, [1, 2.5])),
        "wholes": (LIST, (I32, list(range(20)))),
        "none": (LIST, (TEXT, [])),
        "tokenizer.ggml.tokens": (LIST, (TEXT, ["<s>", "a", "bé", ""])),
        "nested": (LIST, (LIST, [(U8, [1]), (TEXT, ["a"])])),
    }
    tensors, expected = {}, {}
    for name, (kind, elements, block, decode) in LAYOUTS.items():
        shape = (3, 64) if elements == 32 else (2, 256)
        blocks = [block() for _ in range(shape[0] * shape[1] // elements)]
        tensors[name + ".weight"] = (shape, kind, b"".join(blocks))
        expected[name] = np.array([decode(b) for b in blocks], np.float32).reshape(shape)
    ramp = np.arange(6, dtype=np.float32).reshape(2, 3) / 4 - 1
    bf16 = (ramp.view(np.uint32) >> 16).astype(np.uint16)
    for name, kind, data in [("f32", 0, ramp), ("f16", 1, ramp.astype("f2")), ("i8", 24, ramp.astype("i1")),
                             ("i16", 25, ramp.astype("i2")), ("i32", 26, ramp.astype("i4")),
                             ("i64", 27, ramp.astype("i8")), ("f64", 28, ramp.astype("f8")), ("bf16", 30, bf16)]:
        tensors[name] = (ramp.shape, kind, data.tobytes())
    tensors["iq1_s.weight"] = ((1, 256), 19, some_bytes(50))
    tensors["cube"] = ((2, 3, 4), 0, np.arange(24, dtype=np.float32).tobytes())
    write("quantised.gguf", keys, tensors, alignment=64)
    np.savez("quantised.npz", **expected)

    parts = [{}, {"a": ((2,), 0, np.array([1, 2], "f4").tobytes())}, {"b": ((1,), 0, np.array([3], "f4").tobytes())}]
    for part, content in enumerate(parts):
        split = {"split.no": (U16, part), "split.count": (U16, 3), "split.tensors.count": (I32, 2)}
        if part == 0:
            split["general.name"] = (TEXT, "in three")
        write(f"split-{part + 1:05}-of-00003.gguf", split, content, version=2)
