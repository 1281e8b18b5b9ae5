#!/usr/bin/python3
"""Writes the NumPy files the reader's tests open. Needs NumPy; run it in this folder."""
import io
import zipfile

import numpy as np

ramp = np.arange(12, dtype=np.float32).reshape(3, 4) / 4 - 1
arrays = {
    "f64": ramp.astype("f8"),
    "f32": ramp,
    "f16": ramp.astype("f2"),
    "big_endian": ramp.astype(">f4"),
    "fortran": np.asfortranarray(ramp),
    "a_rather_long_name/with.dots.and/slashes": ramp,
    "scalar": np.float32(2.5),
    "empty": np.zeros((0, 4), "f4"),
    "flags": np.array([True, False, True]),
    "i64": np.arange(-2, 4),
    "u16_big_endian": np.array([0, 65535], ">u2"),
    "names": np.array(["not", "numbers"]),
}
np.savez("stored.npz", **arrays)
np.savez_compressed("deflated.npz", **arrays)
np.save("ramp.npy", ramp)
np.save("fortran3.npy", np.asfortranarray(np.arange(24, dtype="f4").reshape(2, 3, 4)))
np.save("objects.npy", np.array([{}, print], dtype=object), allow_pickle=True)
np.savez("objects.npz", fine=ramp, bad=np.array([None], dtype=object))
np.save("complex.npy", ramp.astype("c8"))
np.save("records.npy", np.zeros(2, dtype=[("a", "f4")]))

# JAX's bfloat16 in the form in which NumPy stores unknown types, with the names of Google's ViT.
bf16 = (ramp.view(np.uint32) >> 16).astype("<u2").view("V2")
np.savez("jax.npz", **{"Transformer/encoderblock_0/MlpBlock_3/Dense_0/kernel": bf16, "cls": ramp[:1]})

# The archive has 64-bit sizes and offsets everywhere, like files above 4 GiB.
zipfile.ZIP64_LIMIT = 10
zipfile.ZIP_FILECOUNT_LIMIT = 1
with zipfile.ZipFile("zip64.npz", "w") as archive:
    for name in ["a", "b"]:
        npy = io.BytesIO()
        np.save(npy, ramp)
        archive.writestr(f"{name}.npy", npy.getvalue())
