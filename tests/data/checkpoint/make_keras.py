#!/usr/bin/python3
"""Writes files laid out as Keras and TensorFlow lay them out. Needs NumPy and h5py; run it in this folder."""
import io
import json
import zipfile

import h5py
import numpy as np

ramp = np.arange(12, dtype=np.float32).reshape(3, 4) / 4 - 1
TIME = (2024, 1, 1, 0, 0, 0)


def h5(write):
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", libver=("earliest", "v108")) as f:
        write(f)
    return buffer.getvalue()


def keras3(f):  # keras/src/saving/saving_lib.py: layers/NAME/vars/I
    f.create_dataset("layers/multi_head_attention/query_dense/vars/0", data=ramp.reshape(3, 2, 2))
    f.create_dataset("layers/multi_head_attention/query_dense/vars/1", data=ramp[:2, :2])
    f.create_dataset("layers/dense/vars/0", data=ramp, chunks=(2, 2), compression="gzip")
    f.create_dataset("optimizer/vars/0", data=np.int64(3))
    f["layers/dense"].attrs["name"] = "dense"
    f.create_group("layers/dropout/vars")


weights = h5(keras3)
config = {"module": "keras.src.models.functional", "class_name": "Functional", "config": {"name": "small"}}
members = {"metadata.json": json.dumps({"keras_version": "3.4.1"}).encode(), "config.json": json.dumps(config).encode(),
           "model.weights.h5": weights}
for name, method in [("model.keras", zipfile.ZIP_STORED), ("deflated.keras", zipfile.ZIP_DEFLATED)]:
    with zipfile.ZipFile(name, "w", method) as archive:
        for member, data in members.items():
            archive.writestr(zipfile.ZipInfo(member, TIME), data, method)
with open("keras.weights.h5", "wb") as f:
    f.write(weights)
with zipfile.ZipFile("broken.keras", "w") as archive:
    archive.writestr(zipfile.ZipInfo("model.weights.h5", TIME), weights[:-300])


def of_user(f):
    """Layers by their classes in the order of config.json; a model within the model."""
    for i in range(3):
        f.create_dataset(f"layers/dense{'' if i == 0 else f'_{i}'}/vars/0", data=ramp + i)
    f.create_dataset("layers/dense_1/vars/1", data=ramp[0])
    f.create_dataset("layers/layer_normalization/vars/0", data=ramp[0])  # has no gamma
    f.create_dataset("layers/batch_normalization/vars/3", data=ramp[0])
    f.create_dataset("layers/conv2d/vars/0", data=ramp.reshape(1, 1, 3, 4))
    f.create_dataset("layers/multi_head_attention/query_dense/vars/0", data=ramp.reshape(3, 2, 2))
    f.create_dataset("layers/multi_head_attention/output_dense/vars/1", data=ramp[0])
    f.create_dataset("layers/functional/layers/embedding/vars/0", data=ramp)
    f.create_dataset("layers/functional/layers/dense/vars/0", data=ramp)
    f.create_dataset("layers/my_block/scale/vars/0", data=ramp[0])
    f.create_dataset("layers/unheard_of/vars/0", data=ramp[0])
    f.create_dataset("optimizer/vars/0", data=np.int64(3))


def layer(kind, name, **more):
    return {"module": "keras.layers", "class_name": kind, "config": {"name": name, **more}}


inner = layer("Functional", "tokens", layers=[layer("InputLayer", "ids"), layer("Embedding", "table"),
                                              layer("Dense", "widen")])
listed = layer("Functional", "vit", layers=[
    layer("InputLayer", "pixels"), layer("Dense", "mlp_0_up"), layer("Dense", "mlp_0_down"),
    layer("LayerNormalization", "ln", scale=False), layer("BatchNormalization", "bn"), layer("Conv2D", "patches"),
    layer("MultiHeadAttention", "attention_0"), inner, layer("MyBlock", "block_0"), layer("Dense", "head")])
with zipfile.ZipFile("named.keras", "w") as archive:
    for member, data in {"config.json": json.dumps(listed).encode(), "model.weights.h5": h5(of_user)}.items():
        archive.writestr(zipfile.ZipInfo(member, TIME), data)


def tensorflow(f):  # keras/src/legacy/saving/legacy_h5_format.py, written by TFPreTrainedModel.save_pretrained
    f.attrs["layer_names"] = np.array([b"bert"])
    f.attrs["backend"] = "tensorflow"
    f.attrs["keras_version"] = "2.10.0"
    bert = f.create_group("bert")
    names = ["tf_bert_model/bert/encoder/layer_._0/attention/self/query/kernel:0",
             "tf_bert_model/bert/encoder/layer_._0/attention/self/query/bias:0"]
    bert.attrs["weight_names"] = np.array([name.encode() for name in names])
    bert.create_dataset(names[0], data=ramp)
    bert.create_dataset(names[1], data=ramp[0])


with open("tf_model.h5", "wb") as f:
    f.write(h5(tensorflow))
