"""Writes the results of attnscope_bench as a table in Markdown: each goal's ratio beside its goal, by wall and by processor
time, with the machine, the kernels and the versions. Arguments: the JSON that --benchmark_out wrote, the revision."""
import json
import os
import sys

# Title, beginning of the benchmark's name, its counter, the goal.
GOALS = [
    ("Spectra of 36 softmax maps, N = 197, cumulative curve / NumPy's svd in float32",
     "spectra_beside_numpy/softmax_cumulative/N:197", "times_numpy", 10),
    ("the same of adder maps", "spectra_beside_numpy/adder_cumulative/N:197", "times_numpy", 10),
    ("every value", "spectra_beside_numpy/softmax_every_value/N:197", "times_numpy", 8),
    *((f"N = {n}, {title}", f"spectra_beside_numpy/softmax_{kind}/N:{n}", "times_numpy", goal if n >= 577 else None)
      for n in (50, 577, 785, 1024)
      for title, kind, goal in (("cumulative curve", "cumulative", 6), ("every value", "every_value", 3))),
    *((f"N = 4,096, estimated / every value found: {title}", f"estimated_beside_lapack/{kind}/4096", "times_lapack", 6)
      for title, kind in (("softmax", "softmax"), ("adder", "adder"), ("softmax + I", "softmax_with_identity"),
                          ("adder + I", "adder_with_identity"))),
    ("Sweep of DeiT-Tiny at 224², ± I, softmax / the same in PyTorch and NumPy", "sweep_beside_python/softmax", "times_python", 10),
    ("the same, adder", "sweep_beside_python/adder", "times_python", 10),
    ("from one core to two", "sweep_beside_python/softmax", "two_cores", 1.9),
    ("DAFT-full (1024, 512) / what GEMM reaches on two cores", "daft_full/T:1024/d:512/n:128/cores:2", "of_gemm", 0.8),
    ("DAFT-full on two cores / PyTorch", "daft_full/T:1024/d:512/n:128/cores:2", "times_torch", None),
    ("DAFT-conv (1024, 512), k = 63 / PyTorch", "daft_conv", "times_torch", 5),
    ("Causal additive, 2048 × 128 / PyTorch's cumsum", "causal_additive", "times_torch", 8),
    ("Softmax with its map (12, 197, 64) / PyTorch", "softmax_with_map", "times_torch", 2),
    *((f"Softmax with its map (12, 197, 64) / {title} with its map", f"beside_softmax/{name}", "times_softmax", 0.77)
      for title, name in (("sigmoid", "sigmoid"), ("ReLU", "relu"), ("SSMax", "ssmax"), ("sparsemax", "sparsemax"),
                          ("1.5-entmax", "entmax"))),
    ("SOFT (1024, 4 × 64), 49 landmarks / PyTorch", "soft_output", "times_torch", None),
    *((f"{title}, 2048 × 256, output / PyTorch, {how}", f"recurrent_output/{name}", "times_torch", None)
      for title, name, how in (
          ("Retention", "retention", "all pairs"), ("Mamba-2", "mamba2", "all pairs"),
          ("Forgetting attention", "forgetting", "all pairs"), ("Gated delta rule", "gated_delta", "all pairs"),
          ("GLA", "gla", "token by token"), ("Kimi delta attention", "kda", "token by token"))),
    ("Adder scores (12, 197, 64) / what the floating-point ports can do", "adder_scores/12/197/64", "of_limit", None),
]


def processor():
    with open("/proc/cpuinfo") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return f"{len(names)} × {names[0]}" if names else "unknown"


def version_of(module):
    try:
        return __import__(module).__version__
    except ImportError:
        return "missing"


def cell(value):
    return "" if value is None else f"{value:.2f}"


with open(sys.argv[1]) as file:
    found = json.load(file)
context = found["context"]
print(f"{processor()}; OpenBLAS's kernels {context.get('blas_kernels', 'unknown')}; NumPy {version_of('numpy')}, PyTorch "
      f"{version_of('torch')}; revision {sys.argv[2]}; {context['date'][:10]}, load {context['load_avg'][0]:.1f} "
      f"on {os.cpu_count()} cores at the start.\n")
print("| | ratio | by processor time | goal |\n|---|---|---|---|")
for what, name, counter, goal in GOALS:
    run = next((one for one in found["benchmarks"] if one["name"].startswith(name)), {})
    if run.get("error_occurred") or counter not in run:
        print(f"| {what} | not measured | | {cell(goal)} |")
        continue
    print(f"| {what} | {cell(run[counter])} | {cell(run.get(counter + '_processor'))} | {cell(goal)} |")
