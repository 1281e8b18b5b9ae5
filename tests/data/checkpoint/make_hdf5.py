#!/usr/bin/python3
"""Writes the HDF5 files the reader's tests open. Needs h5py; run it in this folder."""
import h5py
import numpy as np

ramp = np.arange(12, dtype=np.float32).reshape(3, 4) / 4 - 1

with h5py.File("model.h5", "w") as f:
    f.attrs["format"] = "attnscope-model"
    f.attrs["layers"] = 6
    f.attrs["eps"] = 1e-6
    f.attrs["mean"] = [0.5, 0.25]
    f.attrs["flag"] = True
    f.attrs["labels"] = ["ape", "zebra"]
    f.attrs["empty"] = h5py.Empty("f4")
    f.attrs["fixed"] = np.bytes_("fixed text")
    f["tensors/blocks.0.attn.qkv.weight"] = ramp
    f["tensors/head.bias"] = np.array([1.0, 2.0])
    f["notes/ignored"] = np.zeros(3)

with h5py.File("any.h5", "w") as f:
    f["f64"] = ramp.astype("f8")
    f["f32_big_endian"] = ramp.astype(">f4")
    f["f16"] = ramp.astype("f2")
    f["i64"] = np.arange(-2, 4)
    f["i32_big_endian"] = np.arange(-2, 4, dtype=">i4")
    f["u8"] = np.arange(250, 256, dtype="u1")
    f["u16"] = np.array([0, 65535], "u2")
    f["flags"] = np.array([True, False, True])
    f["scalar"] = np.float32(2.5)
    f["empty"] = np.zeros((0, 4), "f4")
    f["text"] = "not a number"
    f.create_dataset("group/deep/packed", data=ramp, chunks=(2, 3), compression="gzip", shuffle=True)
    f["group/never_written"] = h5py.Empty("f4")
    f.create_dataset("group/filled", (5,), "f4", fillvalue=7, chunks=(2,))
    f["alias"] = h5py.SoftLink("/group/deep/packed")
    f["group_alias"] = h5py.SoftLink("/group")
    f["group/round"] = f["/"]  # a cycle of hard links

with h5py.File("new_superblock.h5", "w", libver="latest", userblock_size=512) as f:
    f["ramp"] = ramp

with h5py.File("external_link.h5", "w") as f:
    f["ramp"] = ramp
    f["hidden/elsewhere"] = h5py.ExternalLink("/etc/passwd", "/")

with h5py.File("soft_link_through_external.h5", "w") as f:
    f["a_soft"] = h5py.SoftLink("/z_outside/ramp")
    f["z_outside"] = h5py.ExternalLink("any.h5", "/")

with h5py.File("dangling_link.h5", "w") as f:
    f["nowhere"] = h5py.SoftLink("/no/such/thing")

with h5py.File("external_storage.h5", "w") as f:
    f.create_dataset("outside", (4,), "f4", external=[("/etc/passwd", 0, 16)])

with h5py.File("virtual.h5", "w", libver="latest") as f:
    layout = h5py.VirtualLayout((3, 4), "f8")
    layout[...] = h5py.VirtualSource("any.h5", "f64", (3, 4))
    f.create_virtual_dataset("pieces", layout)

with h5py.File("bomb.h5", "w") as f:
    f.create_dataset("huge", (1 << 30,), "f8", chunks=(1 << 16,), compression="gzip")

with h5py.File("unknown_filter.h5", "w") as f:
    space = h5py.h5s.create_simple((4,), (4,))
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_chunk((4,))
    creation.set_filter(32001, h5py.h5z.FLAG_OPTIONAL)  # blosc, a plug-in
    h5py.h5d.create(f.id, b"packed", h5py.h5t.NATIVE_FLOAT, space, creation)

# The link message has only zeros: H5G__link_release_table of libhdf5 1.10.8 then frees entries that
# it has not filled, and crashes depending on the content of memory (with MALLOC_PERTURB_=165 it
# does).
with open("soft_link_through_external.h5", "rb") as f:
    broken = bytearray(f.read())
broken[725] = 0x8C
broken[1178:] = bytes(len(broken) - 1178)
with open("hostile/links-of-zeros.h5", "wb") as f:
    f.write(broken)

# One bit of an element is flipped after its checksum (Fletcher 32) was computed; the other tensor
# is valid.
with h5py.File("wrong_checksum.h5", "w", track_order=False) as f:
    f.create_dataset("flipped", (4,), "f4", data=[1, 2, 3, 4], chunks=(4,), fletcher32=True)
    f.create_dataset("whole", (4,), "f4", data=[1, 2, 3, 5], chunks=(4,), fletcher32=True)
with open("wrong_checksum.h5", "rb") as f:
    flipped = bytearray(f.read())
flipped[flipped.index(np.array([1, 2, 3, 4], "<f4").tobytes()) + 2] ^= 1
with open("wrong_checksum.h5", "wb") as f:
    f.write(flipped)
