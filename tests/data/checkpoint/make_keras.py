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


def tensorflow(f):  # keras/src/legacy/saving/legacy_h5_format.py, as TFPreTrainedModel.save_pretrained writes it
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
