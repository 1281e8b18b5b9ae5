#!/usr/bin/python3
"""What the Python module costs beside the command line, and beside the script that people write with
PyTorch and NumPy: spectra and equivalent ranks of DeiT-Tiny's maps at 224 × 224 pixels, with and without
I. All take turns, from the image's file to the ranks, which must be the same. Prints a table of ratios
to the command line.

    PYTHONPATH=build/release/python /usr/bin/python3 tests/bench/python_module.py build/release/bin/attnscope [ROUNDS]
"""
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import attnscope

program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7
HERE = pathlib.Path(__file__).resolve().parent
SESSION = ("import attnscope, sys\n"
           "trace = attnscope.open(sys.argv[1], crop_fraction=1).run(sys.argv[2])\n"
           "attnscope.spectrum(trace, identity='both')")
# DeiT enlarges images and crops them, which torch_sweep.py does not.
UNCROPPED = ("--option", "crop_fraction=1")


class Script:
    """torch_sweep.py in a process of its own, which has imported everything and read the weights."""

    def __init__(self, folder, images):
        self.process = subprocess.Popen(
            [sys.executable, HERE / "torch_sweep.py", folder, "softmax", str(images)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.seconds()  # waits for its files

    def seconds(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline().split()[0])


def seconds_of(task):
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def started(*command):
    return lambda: seconds_of(lambda: subprocess.run(list(map(str, command)), check=True,
                                                     stdout=subprocess.DEVNULL))


def measure(title, tasks):
    """Rounds of all tasks in turn; the median of each task's ratio to the first of its round."""
    for task in tasks.values():
        task()
    ratios = {name: [] for name in tasks}
    for _ in range(rounds):
        times = {name: task() for name, task in tasks.items()}
        first = next(iter(times.values()))
        for name, one in times.items():
            ratios[name].append(one / first)
    for name, found in ratios.items():
        print(f"| {title}, {name} | {statistics.median(found):.2f} | {min(found):.2f} to {max(found):.2f} |", flush=True)


def check(model, image):
    """Compares the input and the ranks of A and A + I with those of NumPy."""
    trace = model.run(f"{image}#0")
    assert np.array_equal(trace.image, np.load(image)["images"][0])
    for row in attnscope.spectrum(trace, identity="both", threshold=0.9):
        weights = trace.maps[row["layer"]][row["head"]]
        values = np.linalg.svd(weights + row["identity"] * np.eye(len(weights), dtype=np.float32), compute_uv=False)
        assert row["equivalent_rank"] == (values.cumsum() < 0.9 * values.sum()).sum() + 1, row


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    image, result = folder / "images.npz", folder / "sweep.h5"
    print("| | time / command line's | least to most |\n|---|---|---|")
    script = Script(folder, 1)
    weights = folder / "deit_tiny.safetensors"
    model = attnscope.open(weights, crop_fraction=1)
    check(model, image)
    measure("one image", {
        "command line": started(program, "spectrum", weights, "--input", f"{image}#0", "--identity", "both", "--json",
                                *UNCROPPED),
        "Python, from its start": started(sys.executable, "-c", SESSION, weights, f"{image}#0"),
        "Python, model open": lambda: seconds_of(
            lambda: attnscope.spectrum(model.run(f"{image}#0"), identity="both")),
        "PyTorch and NumPy, model open": script.seconds})
    script = Script(folder, 16)
    measure("16 images", {
        "command line": started(program, "sweep", weights, "--dataset", image, "--identity", "both", "--restart",
                                "--out", result, *UNCROPPED),
        "Python, model open": lambda: seconds_of(
            lambda: attnscope.sweep(model, image, result, identity="both", restart=True)),
        "PyTorch and NumPy, model open": script.seconds})
