#!/usr/bin/python3
"""Principal components by NumPy's SVD, for tests/analysis/features/principal_plane_test.cpp."""
import json
import pathlib

import numpy as np

rng = np.random.default_rng(7)
cases = []
for rows, width in [(12, 5), (4, 9), (30, 30), (2, 3)]:
    points = (rng.normal(size=(rows, width)) * np.linspace(3, 0.2, width) + 5).astype(np.float32)
    centred = points.astype(np.float64) - points.astype(np.float64).mean(axis=0)
    _, values, axes = np.linalg.svd(centred, full_matrices=False)
    axes = axes[:2]
    signs = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
    axes = axes * signs[:, None]
    places = centred @ axes.T
    share = values[:2] ** 2 / (values ** 2).sum()
    if rows == 2:  # two points lie on a line: the second direction is only rounding
        places[:, 1] = 0
        share[1] = 0
    cases.append({"rows": rows, "width": width,
                  "points": [float(v) for v in points.ravel()],
                  "x": places[:, 0].tolist(), "y": places[:, 1].tolist(),
                  "share": share.tolist()})
path = pathlib.Path(__file__).with_name("principal_plane.json")
path.write_text(json.dumps(cases) + "\n")
