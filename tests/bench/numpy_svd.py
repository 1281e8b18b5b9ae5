"""Answers every line on stdin with the seconds, on the wall and of processor time, that
numpy.linalg.svd(compute_uv=False) takes in float32 for all maps of a raw file. Arguments: file, maps, N."""
import sys
import time

import numpy as np

maps = np.fromfile(sys.argv[1], dtype=np.float32).reshape(int(sys.argv[2]), int(sys.argv[3]), -1)
for _ in sys.stdin:
    start, processor = time.perf_counter(), time.process_time()
    np.linalg.svd(maps, compute_uv=False)
    print(time.perf_counter() - start, time.process_time() - processor, flush=True)
