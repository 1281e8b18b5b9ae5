"""Answers every line on stdin with the seconds, on the wall and of processor time, that DAFT's Algorithm 1
takes. Arguments: T, d, n, threads."""
import os
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = sys.argv[4]  # PyTorch's own setting does not reach OpenBLAS

import torch

tokens, width, factors, threads = map(int, sys.argv[1:])
torch.set_num_threads(threads)
torch.manual_seed(1)
q, k, v = (torch.randn(1, tokens, width) for _ in range(3))
pe0, pe1 = (0.1 * torch.randn(tokens, factors) for _ in range(2))


def daft_attn(q, k, v, pe0, pe1):
    q = q.sigmoid()
    k = k.exp()
    kv = k * v
    w = pe0.mm(pe1.T).exp()
    numerator = torch.einsum("lt,btd->bld", w, kv)
    denominator = torch.einsum("lt,btd->bld", w, k)
    return q * numerator / denominator


with torch.no_grad():
    for _ in sys.stdin:
        start, processor = time.perf_counter(), time.process_time()
        daft_attn(q, k, v, pe0, pe1)
        print(time.perf_counter() - start, time.process_time() - processor, flush=True)
