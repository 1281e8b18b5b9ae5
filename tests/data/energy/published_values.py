"""Checks published_values.csv: an accounting written apart from the program's, straight from the
papers' formulas. Parameter counts and figures derived from others are not among what it covers."""
import csv
import pathlib


class Sum:
    def __init__(self, mul=0, add=None):
        self.mul, self.add = mul, mul if add is None else add

    def __add__(self, other):
        return Sum(self.mul + other.mul, self.add + other.add)

    def of(self, quantity):
        return {"mul": self.mul, "add": self.add,
                "energy": 3.7 * self.mul + 0.9 * self.add}[quantity] / 1e9


def linear(n, i, o): return Sum(n * i * o)
def conv(n, taps, i, o): return Sum(n * (taps * i * o + o))
def norm(n, d): return Sum(2 * n * d)
def phi(n, h, c, f): return h * n * f * c + 2 * h * n * c + 2 * h * n * f
def softmax(n, d, h): return Sum(2 * n * n * d + h * n * n, 2 * n * n * d)


def codes(n, d, h, b):
    c = d // h
    return Sum(h * n * b + h * n + h * n * c, 2 * h * n * b + 2 * h * n * b * c + h * n * c)


def ecoformer(m=25, b=16):
    def core(n, d, h):
        c = d // h
        return Sum(2 * h * n * m + h * n * m * b, 2 * h * n * m * c + h * n * m * b) + codes(n, d, h, b)
    return core


def lsh(n, d, h): return Sum(phi(n, h, d // h, 256) + h * n * 256 * 16) + codes(n, d, h, 16)
def binary(n, d, h): return Sum(phi(n, h, d // h, 256)) + codes(n, d, h, 256)


def performer(n, d, h, f=256):
    t = 2 * phi(n, h, d // h, f) + 2 * n * f * d
    return Sum(t + h * n * f + h * n + n * d, t + 2 * h * n * f)


def released(f):
    return lambda n, d, h: Sum(2 * phi(n, h, d // h, f) + 3 * n * f * d + 2 * h * n * f)


def linformer(k, mask=False):
    return lambda n, d, h: Sum(4 * n * k * d + h * n * k + (2 * n * d if mask else 0), 4 * n * k * d)


def reformer(hashes, rotations=True, scaled=False):
    def core(n, d, h):
        t = Sum(hashes * n * 2 * 64 * d * 2)
        if rotations: t += Sum(hashes * n * d * (n // 64) // 2)
        if scaled: return t + Sum(hashes * h * n * 128, 0)
        return t + Sum(2 * n * d, n * d)
    return core


def pyramid(core, projections, dims, heads, depths, ratios, twins):
    total, channels, n = Sum(), 3, 56 * 56
    for s in range(4):
        d, h = dims[s], heads[s]
        total += conv(n, (16 if s == 0 else 4) if twins else (49 if s == 0 else 9), channels, d) + norm(n, d)
        if twins: total += conv(n, 9, 1, d)
        for _ in range(depths[s]):
            total += norm(n, d) + norm(n, d) + softmax(n, d, h) if s == 3 else norm(n, d) + norm(n, d) + core(n, d, h)
            for _ in range(4 if s == 3 else projections): total += linear(n, d, d)
            total += linear(n, d, ratios[s] * d) + linear(n, ratios[s] * d, d)
            if not twins: total += conv(n, 9, 1, ratios[s] * d)
        if not twins: total += norm(n, d)
        channels, n = d, n // 4
    return total + (norm(49, dims[3]) if twins else Sum()) + linear(1, dims[3], 1000)


def lra(core, projections):
    n, d, total = 4096, 64, norm(4096, 64)
    for _ in range(2):
        total += norm(n, d) + norm(n, d) + core(n, d, 2) + linear(n, d, 128) + linear(n, 128, d)
        for _ in range(projections): total += linear(n, d, d)
    return total


PYRAMIDS = {
    "PVTv2-B0": ([32, 64, 160, 256], [1, 2, 5, 8], [2, 2, 2, 2], [8, 8, 4, 4], False),
    "PVTv2-B1": ([64, 128, 320, 512], [1, 2, 5, 8], [2, 2, 2, 2], [8, 8, 4, 4], False),
    "PVTv2-B2": ([64, 128, 320, 512], [1, 2, 5, 8], [3, 4, 6, 3], [8, 8, 4, 4], False),
    "PVTv2-B3": ([64, 128, 320, 512], [1, 2, 5, 8], [3, 4, 18, 3], [8, 8, 4, 4], False),
    "PVTv2-B4": ([64, 128, 320, 512], [1, 2, 5, 8], [3, 8, 27, 3], [8, 8, 4, 4], False),
    "Twins-SVT-S": ([64, 128, 256, 512], [2, 4, 8, 16], [2, 2, 10, 4], [4, 4, 4, 4], True)}

# All readings of each row's method: core and number of projections.
READINGS = {
    "MSA": [(softmax, 4)], "Transformer": [(softmax, 4)], "EcoFormer": [(ecoformer(), 3)],
    "KLSH-EcoFormer": [(ecoformer(), 3)], "FP-EcoFormer": [(performer, 4)],
    "Bi-EcoFormer": [(binary, 3)], "LSH-EcoFormer": [(lsh, 3)],
    "Performer": [(performer, 4), (released(256), 4), (released(110), 4)],
    "Linformer": [(linformer(256, True), 4), (linformer(256), 4)],
    "Reformer": [(reformer(2), 3), (reformer(2, False, True), 3), (reformer(2, False, True), 4)],
    "Reformer 8x64": [(reformer(8), 3)], "Reformer 2x64": [(reformer(2), 3)],
    **{f"m={m}": [(ecoformer(m), 3)] for m in (10, 15, 20, 25)},
    **{f"Linformer k={k}": [(linformer(k), 4)] for k in (64, 95, 128)}}


def deit(model, classes, adder_layers, adder_scores, ends=0, identity=False, layers=12, channels=3):
    d, n = {"B": 768, "S": 384, "T": 192}[model], 197
    total = Sum(196 * 256 * channels * d) + Sum(d * classes)
    for layer in range(layers):
        inner = ends <= layer < layers - ends
        projected, pairs = 12 * n * d * d, n * n * d
        total += Sum(0, 2 * projected) if adder_layers and inner else Sum(projected)
        total += Sum(n * d if identity else 0, 2 * pairs) if adder_scores and inner else Sum(pairs)
        total += Sum(pairs)
    return total


def readings(row):
    """Every total the row may stand for; none where it is derived from others."""
    model, method, table = row["model"], row["method"], row["table"]
    if row["paper"] == "Adder" and table in ("Table1", "Table2") and method in ("MNN", "ANN"):
        ends, classes = (0, 10) if table == "Table1" else (1, 1000)
        ann = method == "ANN"
        return [deit(model[-1], classes, ann, ann, ends, identity) for identity in (False, True)]
    if table == "Table4" and model == "DeiT-T":
        return [deit("T", 10, "LT=A" in method, "SA=A" in method)]
    if row["paper"] == "EcoFormer" and model in PYRAMIDS and method in READINGS and "internal" not in table:
        return [pyramid(core, p, *PYRAMIDS[model]) for core, p in READINGS[method]]
    if model == "LRA-Text" and method in READINGS:
        return [lra(core, p) for core, p in READINGS[method]]
    return []


def main():
    path = pathlib.Path(__file__).with_name("published_values.csv")
    checked = 0
    for row in csv.DictReader(path.open()):
        totals = readings(row)
        if not totals: continue
        value = float(row["computed_value"])
        assert any(abs(t.of(row["quantity"]) - value) <= 5.1e-6 * value for t in totals), row
        checked += 1
    print(checked, "values follow")


if __name__ == "__main__":
    main()
