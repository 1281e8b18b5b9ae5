#!/usr/bin/python3
"""Writes folders of adapters as PEFT saves them, their base, and what both are together. Needs NumPy; run it in this
folder."""
import json
import os
import struct

import numpy as np

rng = np.random.default_rng(3)


def random(*shape):
    return (rng.integers(-8, 9, shape) / 8).astype(np.float32)


def save(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + tensor.nbytes]}
        data += tensor.tobytes()
    text = json.dumps(header).encode()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def config(path, **settings):
    whole = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 2, "lora_alpha": 8, "lora_dropout": 0.05, "bias": "none",
             "fan_in_fan_out": False, "use_rslora": False, "use_dora": False, "init_lora_weights": True,
             "inference_mode": True, "target_modules": ["q_proj", "v_proj"], "modules_to_save": None,
             "rank_pattern": {}, "alpha_pattern": {}, "layers_to_transform": None, "layers_pattern": None,
             "layer_replication": None, "megatron_config": None, "megatron_core": "megatron.core", "loftq_config": {},
             "revision": None, "auto_mapping": None, "base_model_name_or_path": "someone/base", **settings}
    with open(path, "w") as f:
        json.dump(whole, f, indent=1)


base = {"model.embed_tokens.weight": random(5, 4), "model.layers.0.self_attn.q_proj.weight": random(6, 4),
        "model.layers.0.self_attn.q_proj.bias": random(6), "model.layers.0.self_attn.v_proj.weight": random(6, 4),
        "model.layers.1.self_attn.q_proj.weight": random(6, 4), "model.conv.weight": random(3, 4, 2, 2),
        "model.norm.weight": random(4), "lm_head.weight": random(5, 4)}
save("adapters/base/model.safetensors", base)
expected = {}


def name(module, factor):
    return f"base_model.model.{module}.lora_{factor}.weight"


# The plain adapter has two modules, a replaced bias, and one module with its own rank and alpha.
q, v, q1 = "model.layers.0.self_attn.q_proj", "model.layers.0.self_attn.v_proj", "model.layers.1.self_attn.q_proj"
a, b, a2, b2, a3, b3 = random(2, 4), random(6, 2), random(2, 4), random(6, 2), random(3, 4), random(6, 3)
bias, head = random(6), random(7, 4)
save("adapters/plain/adapter_model.safetensors", {
    name(q, "A"): a, name(q, "B"): b, name(v, "A"): a2, name(v, "B"): b2, name(q1, "A"): a3, name(q1, "B"): b3,
    f"base_model.model.{q}.bias": bias, "base_model.model.lm_head.weight": head})
config("adapters/plain/adapter_config.json", bias="lora_only", modules_to_save=["lm_head"],
       rank_pattern={"layers.1.self_attn.q_proj": 3}, alpha_pattern={"^" + q1: 5, "v_proj": 1})
expected |= {"plain/" + k: w for k, w in base.items()}
expected["plain/" + q + ".weight"] = base[q + ".weight"] + np.float32(8 / 2) * (b @ a)
expected["plain/" + v + ".weight"] = base[v + ".weight"] + np.float32(1 / 2) * (b2 @ a2)
expected["plain/" + q1 + ".weight"] = base[q1 + ".weight"] + np.float32(5 / 3) * (b3 @ a3)
expected["plain/" + q + ".bias"] = bias
expected["plain/lm_head.weight"] = head

# This adapter is scaled by the root of the rank and has weights [in, out] (transposed factors) and
# an embedding. The next one has a convolution.
a, b = random(2, 6), random(4, 2)  # factors of W [6, 4] as [in, out]
ea, eb = random(2, 5), random(4, 2)
save("adapters/transposed/adapter_model.safetensors", {
    name(q, "A"): a, name(q, "B"): b, "base_model.model.model.embed_tokens.lora_embedding_A": ea,
    "base_model.model.model.embed_tokens.lora_embedding_B": eb})
config("adapters/transposed/adapter_config.json", use_rslora=True, fan_in_fan_out=True)
scale = np.float32(8 / np.sqrt(2))
expected["transposed/" + q + ".weight"] = base[q + ".weight"] + scale * (b @ a).T
expected["transposed/model.embed_tokens.weight"] = base["model.embed_tokens.weight"] + scale * (eb @ ea).T

ca, cb = random(2, 4, 2, 2), random(3, 2, 1, 1)
save("adapters/convolution/adapter_model.safetensors", {name("model.conv", "A"): ca, name("model.conv", "B"): cb})
config("adapters/convolution/adapter_config.json", base_model_name_or_path="../base")
expected["convolution/model.conv.weight"] = base["model.conv.weight"] + np.float32(4) * np.einsum(
    "or,rikl->oikl", cb[:, :, 0, 0], ca)
np.savez("adapters/expected.npz", **expected)
