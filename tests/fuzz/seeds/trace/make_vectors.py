#!/usr/bin/python3
"""Writes a trace that has queries and keys instead of a map. Needs h5py; run it in this folder."""
import h5py
import numpy

random = numpy.random.default_rng(1)
with h5py.File("vectors.h5", "w", libver="latest") as file:
    layer = file.create_group("layer_00")
    for name, heads in (("queries", 2), ("keys", 1)):
        layer[name] = random.standard_normal((heads, 3, 2)).astype("float32")
    file.attrs["mechanism"] = "softmax"
    file.attrs["maps_of_vectors"] = "[true]"
