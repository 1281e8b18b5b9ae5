#!/usr/bin/python3
"""Writes the seeds for readers that tests/data has no files of. Run it in this folder."""
import glob
import gzip
import json
import os
import shutil
import struct
import zipfile

header = json.dumps({
    "__metadata__": {"format": "pt"},
    "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
    "b": {"dtype": "BF16", "shape": [1, 3], "data_offsets": [8, 14]},
    "c": {"dtype": "I64", "shape": [], "data_offsets": [14, 22]},
    "d": {"dtype": "BOOL", "shape": [0, 5], "data_offsets": [22, 22]},
}).encode()
with open("seeds/safetensors/four", "wb") as f:
    f.write(struct.pack("<Q", len(header)) + header + bytes(range(22)))

os.makedirs("seeds/json", exist_ok=True)
for name, text in [
    ("header", header),
    ("config", b'{"model_type": "vit", "hidden_size": 48, "layer_norm_eps": 1e-12, "id2label": {"0": "cat", "1": "d\\u00f6g"}}'),
    ("nested", b'[[1, -2, 3.5e-7, true, false, null, "", {"a": {"b": []}}], 18446744073709551615]'),
]:
    with open(f"seeds/json/{name}", "wb") as f:
        f.write(text)

os.makedirs("seeds/template", exist_ok=True)
for name, text in [
    ("marks", "{{ bos_token }}{% for m in messages %}{{ '<|' + m['role'] + '|>' + m.content | trim }}\n{% endfor %}{% if add_generation_prompt %}A:{% endif %}"),
    ("names", "{%- set ns = namespace(n=0) -%}{% for m in messages if m.role == 'user' %}{% set ns.n = ns.n + 1 %}{{ loop.last }}{% endfor %}{{ ns.n }}"),
    ("macro", "{% macro f(x, y=2) %}{{ x ~ y }}{% endmacro %}{{ f([1, 2][0], y='a'[::-1]) if messages is defined else {'a': 1} | tojson }}"),
]:
    with open(f"seeds/template/{name}", "w") as f:
        f.write(text)


def frame(header, arrays=b""):
    text = json.dumps(header).encode()
    return b"attn" + struct.pack("<IQ", len(text), len(arrays)) + text + arrays


os.makedirs("seeds/wire", exist_ok=True)
ones = struct.pack("<8f", *[0.5] * 8)
for name, data in [
    ("messages", frame({"message": "hello", "version": 1}) + frame({"message": "close", "name": "a"})),
    ("show", frame({
        "message": "show", "name": "a", "step": 3,
        "attributes": {"token_texts": ["To", " be"], "causal": 0, "layer_kinds": ["layer"],
                       "layer_mechanisms": [{"name": "softmax", "parameters": {}, "identity": False}],
                       "rank_bounds": [1], "score_scales": [0.5], "known_masks": [True]},
        "arrays": [{"name": "layer_00/implied_map", "dtype": "float32", "shape": [2, 2, 2]},
                   {"name": "layer_00/seen_keys", "dtype": "int64", "shape": [2, 2]},
                   {"name": "image", "dtype": "uint8", "shape": [1, 1, 3]}],
    }, ones + struct.pack("<4q", 0, 2, 0, 2) + b"abc")),
    ("blocks", frame({
        "message": "show",
        "arrays": [{"name": "layer_00/map_blocks", "dtype": "float64", "shape": [1, 2]},
                   {"name": "layer_00/block_sizes", "dtype": "int64", "shape": [2]},
                   {"name": "layer_00/block_tokens", "dtype": "int64", "shape": [2]}],
    }, struct.pack("<2d4q", 1, 1, 1, 1, 0, 1))),
    ("arrays", frame({
        "message": "show",
        "arrays": [{"name": "0", "dtype": "float16", "shape": [1, 2, 2]},
                   {"name": "1", "dtype": "float32", "shape": [0, 5]}],
    }, struct.pack("<4e", 1, 0, 0.5, 0.5))),
]:
    with open(f"seeds/wire/{name}", "wb") as f:
        f.write(b"\x40" + data)

images = struct.pack(">BBBBIII", 0, 0, 8, 3, 2, 2, 3) + bytes(range(12))
for name, data in [("images", images), ("images.gz", gzip.compress(images, mtime=0))]:
    with open(f"seeds/idx/{name}", "wb") as f:
        f.write(data)

# The pickles inside PyTorch's archives: mutations outside an archive still reach the interpreter.
for path in sorted(glob.glob("../data/checkpoint/*.pt*")):
    if not zipfile.is_zipfile(path):
        continue
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith("data.pkl"))
        stem = os.path.splitext(os.path.basename(path))[0]
        with open(f"seeds/pytorch/{stem}.pkl", "wb") as f:
            f.write(archive.read(name))
for path in sorted(glob.glob("../data/checkpoint/dumped*.pkl")):
    shutil.copy(path, "seeds/pytorch")
