"""L1 distances and the sums of their gradients for adder_width.py, as Triton kernels.

The differences of all pairs of rows are never stored. `python3 adder_width_gpu.py` compares the kernels
with PyTorch's own operations.
"""

import torch
import triton
import triton.language as tl

ROWS, COLUMNS = 64, 64


@triton.jit
def _distances(a, b, out, rows, columns, channels, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    # a [n, channels, rows], b [n, channels, columns], out [n, rows, columns]
    n = tl.program_id(2).to(tl.int64)
    t = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    o = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    a += n * channels * rows
    b += n * channels * columns
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for _ in range(channels):
        one = tl.load(a + t, mask=t < rows, other=0.0)
        two = tl.load(b + o, mask=o < columns, other=0.0)
        total += tl.abs(one[:, None] - two[None, :])
        a += rows
        b += columns
    at = out + n * rows * columns + t[:, None].to(tl.int64) * columns + o[None, :]
    tl.store(at, total, mask=(t[:, None] < rows) & (o[None, :] < columns))


@triton.jit
def _sums(a, b, g, out, rows, columns, channels, CLAMPED: tl.constexpr, ROWS: tl.constexpr,
          CHANNELS: tl.constexpr):
    # a [n, rows, channels], b [n, columns, channels], g [n, columns, rows], out as a
    n = tl.program_id(2).to(tl.int64)
    t = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.program_id(1) * CHANNELS + tl.arange(0, CHANNELS)
    inside = (t[:, None] < rows) & (c[None, :] < channels)
    place = n * rows * channels + t[:, None].to(tl.int64) * channels + c[None, :]
    first = tl.load(a + place, mask=inside, other=0.0)
    b += n * columns * channels
    g += n * columns * rows
    total = tl.zeros((ROWS, CHANNELS), tl.float32)
    for _ in range(columns):
        second = tl.load(b + c, mask=c < channels, other=0.0)
        weight = tl.load(g + t, mask=t < rows, other=0.0)
        difference = first - second[None, :]
        if CLAMPED:
            total += weight[:, None] * tl.minimum(tl.maximum(difference, -1.0), 1.0)
        else:
            weights = tl.broadcast_to(weight[:, None], (ROWS, CHANNELS))
            negative = tl.where(difference < 0, -weights, 0.0)
            total += tl.where(difference > 0, weights, negative)
        b += channels
        g += rows
    tl.store(out + place, total, mask=inside)


def distances(a, b):
    n, rows, channels = a.shape
    columns = b.shape[1]
    out = torch.empty(n, rows, columns, device=a.device)
    grid = (triton.cdiv(rows, ROWS), triton.cdiv(columns, COLUMNS), n)
    _distances[grid](a.transpose(1, 2).contiguous(), b.transpose(1, 2).contiguous(), out, rows,
                     columns, channels, ROWS, COLUMNS)
    return out


def _sums_of(a, b, g, clamp):
    n, rows, channels = a.shape
    columns = b.shape[1]
    out = torch.empty(n, rows, channels, device=a.device)
    block = min(64, max(16, triton.next_power_of_2(channels)))
    grid = (triton.cdiv(rows, ROWS), triton.cdiv(channels, block), n)
    _sums[grid](a.contiguous(), b.contiguous(), g.transpose(1, 2).contiguous(), out, rows, columns,
                channels, clamp, ROWS, block)
    return out


def signs(a, b, g):
    return _sums_of(a, b, g, False)


def clamped(a, b, g):
    return _sums_of(a, b, g, True)


def main():
    torch.manual_seed(1)
    for n, rows, columns, channels in ((3, 50, 50, 8), (2, 197, 197, 64), (3, 300, 256, 64), (1, 70, 10, 200)):
        a = torch.randn(n, rows, channels, device="cuda")
        b = torch.randn(n, columns, channels, device="cuda")
        b[0, 0] = a[0, 0]
        g = torch.randn(n, rows, columns, device="cuda")
        difference = a.unsqueeze(2) - b.unsqueeze(1)
        pairs = (
            (distances(a, b), difference.abs().sum(-1)),
            (signs(a, b, g), (g.unsqueeze(-1) * difference.sign()).sum(2)),
            (clamped(a, b, g), (g.unsqueeze(-1) * difference.clamp(-1, 1)).sum(2)),
            (signs(b, a, g.transpose(1, 2)), -(g.unsqueeze(-1) * difference.sign()).sum(1)),
        )
        for mine, theirs in pairs:
            worst = ((mine - theirs).abs().max() / theirs.abs().max()).item()
            print(n, rows, columns, channels, f"{worst:.1e}")
            assert worst < 1e-5


if __name__ == "__main__":
    main()
