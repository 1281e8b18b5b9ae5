"""A training step in PyTorch, in float32 on all cores, of a vision transformer on 28 x 28 pixels (width 48, six layers, three
heads) or of a causal language model (width 128, four layers, four heads): forward, backward, clipping, AdamW. Answers every line
on stdin with the seconds, on the wall and of processor time, of one step; and by how many bytes its memory rose so far at most.
Arguments: softmax, adder or language; the side of a patch, or the context; the batch."""
import math
import os
import resource
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

kind, extent, batch = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
LANGUAGE = kind == "language"
WIDTH, LAYERS, HEADS = (128, 4, 4) if LANGUAGE else (48, 6, 3)
CLASSES = 65 if LANGUAGE else 10


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        eps = 1e-5 if LANGUAGE else 1e-6
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, eps), nn.LayerNorm(WIDTH, eps)
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.fc1, self.fc2 = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        if LANGUAGE:
            self.register_buffer("hidden", torch.ones(extent, extent).triu(1).bool())

    def forward(self, x):
        q, k, v = self.qkv(self.norm1(x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        d = q.shape[-1]
        if kind == "adder":
            scores = torch.cdist(q, k, p=1) * (-1 / math.sqrt(2 * d * (1 - 2 / math.pi)))
        else:
            scores = q @ k.transpose(-1, -2) / math.sqrt(d)
        if LANGUAGE:
            scores = scores.masked_fill(self.hidden, -math.inf)
        x = x + self.proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
        h = self.fc1(self.norm2(x))
        return x + self.fc2(F.gelu(h, approximate="tanh") if LANGUAGE else F.gelu(h))


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        tokens = extent if LANGUAGE else 1 + (28 // extent) ** 2
        self.positions = nn.Parameter(0.02 * torch.randn(tokens, WIDTH))
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH, 1e-5 if LANGUAGE else 1e-6)
        if LANGUAGE:
            self.table = nn.Parameter(0.02 * torch.randn(CLASSES, WIDTH))
        else:
            self.patches = nn.Conv2d(1, WIDTH, extent, extent)
            self.token = nn.Parameter(torch.zeros(1, 1, WIDTH))
            self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        if LANGUAGE:
            x = self.norm(self.blocks(self.table[x] + self.positions))
            return (x @ self.table.T).flatten(0, 1)
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], 1) + self.positions
        return self.head(self.norm(self.blocks(x))[:, 0])


def most_memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


torch.set_num_threads(len(os.sched_getaffinity(0)))
torch.manual_seed(0)
network = Network()
matrices = [p for n, p in network.named_parameters() if p.dim() > 1]
others = [p for n, p in network.named_parameters() if p.dim() < 2]
optimiser = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.05}, {"params": others, "weight_decay": 0}], lr=1e-3)
if LANGUAGE:
    inputs, targets = torch.randint(CLASSES, (batch, extent)), torch.randint(CLASSES, (batch * extent,))
else:
    inputs, targets = torch.randn(batch, 1, 28, 28), torch.randint(CLASSES, (batch,))
before = most_memory()


def step():
    loss = F.cross_entropy(network(inputs), targets)
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimiser.step()


for _ in sys.stdin:
    start, processor = time.perf_counter(), time.process_time()
    step()
    print(time.perf_counter() - start, time.process_time() - processor, most_memory() - before, flush=True)
