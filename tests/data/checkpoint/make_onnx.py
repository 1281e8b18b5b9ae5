#!/usr/bin/python3
"""Writes the ONNX files the reader's tests open. Needs NumPy and onnx (python3-onnx); run it in this folder."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ramp = np.arange(12, dtype=np.float32).reshape(3, 4) / 4 - 1
tensors = []
for name in ["float64", "float32", "float16"]:
    tensors.append(numpy_helper.from_array(ramp.astype(name), f"raw/{name}"))
for name in ["int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8"]:
    tensors.append(numpy_helper.from_array(np.arange(250, 253).astype(name), f"raw/{name}"))
tensors.append(numpy_helper.from_array(np.array([True, False]), "raw/bool"))
tensors.append(helper.make_tensor("raw/bfloat16", TensorProto.BFLOAT16, [3, 4],
                                  (ramp.view(np.uint32) >> 16).astype("<u2").tobytes(), raw=True))
for name, kind in [("float", TensorProto.FLOAT), ("double", TensorProto.DOUBLE), ("float16", TensorProto.FLOAT16),
                   ("bfloat16", TensorProto.BFLOAT16)]:
    tensors.append(helper.make_tensor(f"typed/{name}", kind, [3, 4], ramp.reshape(-1)))
for name in ["int64", "int32", "int16", "int8"]:
    tensors.append(helper.make_tensor(f"typed/{name}", getattr(TensorProto, name.upper()), [3], [-2, 0, 100]))
for name in ["uint64", "uint32", "uint16", "uint8"]:
    tensors.append(helper.make_tensor(f"typed/{name}", getattr(TensorProto, name.upper()), [3], [1, 2, 200]))
tensors.append(helper.make_tensor("typed/bool", TensorProto.BOOL, [2], [True, False]))
tensors.append(helper.make_tensor("text", TensorProto.STRING, [1], [b"a"]))
tensors.append(numpy_helper.from_array(np.array(2.5, np.float32), "scalar"))
tensors.append(numpy_helper.from_array(np.zeros((0, 4), np.float32), "empty"))


def model(tensors):
    node = helper.make_node("MatMul", ["x", tensors[0].name], ["y"])
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])
    made = helper.make_model(helper.make_graph([node], "small", [x], [y], tensors), producer_name="attnscope tests")
    made.metadata_props.add(key="author", value="nobody")
    return made


def save(name, made):
    with open(name, "wb") as f:
        f.write(made.SerializeToString(deterministic=True))


save("model.onnx", model(tensors))


def external(location, **places):
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[3, 4], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **places}.items():
        tensor.external_data.add(key=key, value=str(value))
    return model([tensor])


with open("external.onnx_data", "wb") as f:
    f.write(b"\0" * 16 + ramp.tobytes())
save("external.onnx", external("external.onnx_data", offset=16, length=48))
save("external_elsewhere.onnx", external("../checkpoint/external.onnx_data", offset=16))
save("external_beyond.onnx", external("external.onnx_data", offset=17))
onnx.load("model.onnx")


def named_by_nodes():
    """As PyTorch exports: biases keep their names, weights of products are numbered; older ones number all."""
    tensors, nodes = [], []
    for name in ("onnx::MatMul_31", "blocks.0.attn.qkv.bias", "onnx::Gemm_33", "onnx::Gemm_34", "57", "val_8", "58",
                 "onnx::Add_40", "mlp/MatMul", "onnx::MatMul_41"):
        tensors.append(numpy_helper.from_array(ramp + len(tensors), name))
    add = lambda kind, inputs, name: nodes.append(helper.make_node(kind, inputs, [f"{name}_out"], name=name))
    add("MatMul", ["x", "onnx::MatMul_31"], "/blocks.0/attn/qkv/MatMul")
    add("Add", ["blocks.0.attn.qkv.bias", "/blocks.0/attn/qkv/MatMul_out"], "/blocks.0/attn/qkv/Add")
    add("Gemm", ["x", "onnx::Gemm_33", "onnx::Gemm_34"], "/head/Gemm")
    add("MatMul", ["44", "57"], "MatMul_46")  # 44 is not a weight
    add("MatMul", ["x", "val_8"], "node_MatMul_9")
    add("MatMul", ["x", "val_8"], "node_MatMul_10")
    add("MatMul", ["x", "58"], "")
    add("Add", ["x", "onnx::Add_40"], "/blocks.0/Add")
    add("MatMul", ["x", "onnx::MatMul_41"], "/mlp/MatMul")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3])
    return helper.make_model(helper.make_graph(nodes, "named", [x], [], tensors), producer_name="attnscope tests")


save("nodes.onnx", named_by_nodes())
